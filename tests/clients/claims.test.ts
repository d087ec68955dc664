/** `why` about a commit, with the downloaded client against a real service: did the change cause what failed? */
import { beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Runtime, runClient } from './support/client.ts';
import { sharedService } from './support/service.ts';
import { BROKEN, FLAKY, MANY, NEW, pass, reportOf, shopWithHistory } from './support/shop.ts';

const folder = mkdtempSync(join(tmpdir(), 'ci-insights-claims-'));
const report = join(folder, 'unit.xml');
let repository: string;
const env = async () => {
  const service = await sharedService();
  return { CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.token };
};

beforeAll(async () => {
  repository = await shopWithHistory();
  writeFileSync(report, reportOf([NEW, FLAKY, BROKEN, ...MANY.map(pass)]));
  const names = ['--pipeline', 'CI', '--job', 'unit', '--branch', 'feature', '--pull-request', '7'];
  for (const attempt of ['1', '2', '3']) {
    const run = ['--commit', 'pr1', '--run-id', '9', '--run-attempt', attempt];
    const args = ['push', 'junit', report, ...names, ...run, '--repo', `acme/${repository}`];
    expect((await runClient('node', args, { env: await env() })).code).toBe(0);
  }
});

async function why(
  args: string[],
  { runtime = 'node', ...given }: { runtime?: Runtime; input?: string; cwd?: string } = {},
) {
  const all = ['why', ...args, '--repo', `acme/${repository}`];
  const ran = await runClient(runtime, all, { env: await env(), ...given });
  return { ...ran, lines: ran.stdout.trimEnd().split('\n') };
}

const git = (...args: string[]): string => {
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  const { stdout, success } = Bun.spawnSync(['git', ...author, ...args], { cwd: folder });
  expect(success).toBe(true);
  return stdout.toString().trim();
};

const NEW_NAME = `shop.${NEW.name}`;

test('says of each failure whether it is the change, with what speaks for and against it, by its exit code, too', async () => {
  for (const runtime of ['node', 'bun'] as const) {
    const { code, lines } = await why(['--commit', 'pr1'], { runtime });
    expect([code, lines[0]]).toEqual([
      3,
      expect.stringMatching(/^Commit pr1: 3 failed tests in 3 runs, compared with main\b/),
    ]);
    expect(lines).toContainEqual(expect.stringMatching(/^The change \(\d+%\): shop\.adds tax in unit$/));
    expect(lines).toContainEqual(
      expect.stringMatching(/^ {2}\+ It failed in all of 3 runs of this commit\. \([\d.]+ times as likely\)$/),
    );
  }
});

test('asks about a pull request, tests, reports and logs, and prints what the service answered as JSON', async () => {
  const { code, stdout } = await why(['--pull-request', '7', NEW_NAME, '--json']);
  expect([code, JSON.parse(stdout)]).toEqual([
    3,
    expect.objectContaining({ commit: 'pr1', total: 1, claims: [expect.objectContaining({ verdict: 'change' })] }),
  ]);
  expect((await why(['--commit', 'pr1', '--report', report, '--limit', '1'])).lines.at(-1)).toContain('2 more failed');
  const log = await why(['--commit', 'pr1', '--log', '-'], { input: 'FAILED shop.py::ships - no such file' });
  expect(log.stdout).toContain('shop.ships');
  expect(log.stdout).not.toContain('shop.adds tax');
});

test('counts the files that the change touches, from a file or from git', async () => {
  const paths = join(folder, 'changed.txt');
  writeFileSync(paths, 'src/shop.ts\nREADME.md\n');
  const listed = await why(['--commit', 'pr1', '--changed-files', paths]);
  expect(listed.stdout).toContain('The change touches src/shop.ts, near the test.');
  git('init', '--quiet', '--initial-branch', 'main');
  git('commit', '--quiet', '--allow-empty', '-m', 'base');
  const base = git('rev-parse', 'HEAD');
  git('add', 'unit.xml');
  git('commit', '--quiet', '-m', 'change');
  const found = await why(['--commit', 'pr1', '--base-commit', base, '--changed-files', 'git'], { cwd: folder });
  expect(found.stdout).toContain('The change touches nothing near the test.');
  const unknown = await why(['--commit', 'pr1', '--changed-files', 'git'], { cwd: folder });
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('pass --base-commit')]);
});

test('knows the files that push has sent, from a file, the standard input or git', async () => {
  const push = async (commit: string, files: string, { more = [] as string[], input = '' } = {}) => {
    const run = ['--pipeline', 'CI', '--job', 'unit', '--branch', 'feature', '--pull-request', '8', '--run-id', commit];
    const args = [...run, '--commit', commit, '--changed-files', files, ...more, '--repo', `acme/${repository}`];
    return runClient('node', ['push', report, ...args], { env: await env(), cwd: folder, input });
  };
  writeFileSync(join(folder, 'sent.txt'), 'src/shop.ts\n');
  const near = 'The change touches src/shop.ts, near the test.';
  expect((await push('sent1', 'sent.txt')).code).toBe(0);
  expect((await why(['--commit', 'sent1'])).stdout).toContain(near);
  expect((await push('sent2', '-', { input: 'README.md\nsrc/shop.ts\n' })).code).toBe(0);
  expect((await why(['--commit', 'sent2'])).stdout).toContain(near);
  git('checkout', '--quiet', '-b', 'feature');
  git('add', 'sent.txt');
  git('commit', '--quiet', '-m', 'more');
  expect((await push('sent3', 'git', { more: ['--base-branch', 'main'] })).code).toBe(0);
  const { stdout } = await why(['--commit', 'sent3', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ compared_with: { changed_files: 1 } });
  for (const [more, sentence] of [
    [[], 'this is not a job of a pull request'],
    [['--base-branch', 'gone'], 'git does not know where gone and this commit meet'],
  ] as const) {
    const unknown = await push('sent4', 'git', { more: [...more] });
    expect([unknown.code, unknown.stderr]).toEqual([0, expect.stringContaining(sentence)]);
  }
  const missing = await push('sent5', 'nowhere.txt');
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('There is no file nowhere.txt')]);
  expect((await why(['--commit', 'sent5'])).stdout).toContain('Nothing has arrived');
});

test('ends with 4 where it is not enough to say, and with 1 where it cannot ask', async () => {
  expect(await why(['--commit', 'nowhere'])).toMatchObject({
    ...{ code: 4, stdout: 'Nothing has arrived of commit nowhere.\n' },
  });
  const both = await why(['--commit', 'pr1', '--pull-request', '7']);
  expect([both.code, both.stderr]).toEqual([1, expect.stringContaining('not both')]);
  const neither = await why([]);
  expect([neither.code, neither.stderr]).toEqual([1, expect.stringContaining('pass --commit or --pull-request')]);
  const missing = await why(['--commit', 'pr1', '--report', join(folder, 'nothing.xml')]);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('There is no file')]);
});
