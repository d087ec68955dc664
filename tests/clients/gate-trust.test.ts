/** `gate`: the secrets that it keeps from the tests, the runs that it does not excuse, the quarantines that it asks for. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RUNTIMES } from './support/client.ts';
import { type Gate, type GateJob, gateJobs } from './support/gate-job.ts';
import { type ClientService, freshRepository, sharedService } from './support/service.ts';
import { FLAKY, fail, NEW, pass, QUARANTINED, reportOf, shopWithHistory } from './support/shop.ts';

let service: ClientService;
let repository: string;
let folder: string;
let gate: Gate;
beforeAll(async () => {
  service = await sharedService();
  repository = await shopWithHistory();
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-gate-trust-'));
  gate = gateJobs(service, repository, folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pathOf = (name: string, rest: string): string => `/v1/ci/acme/repositories/${name}/${rest}`;

describe.each(RUNTIMES)('the key, on %s', (runtime) => {
  const SECRETS = {
    CI_INSIGHTS_TOKEN_FILE: '/run/key',
    ACTIONS_ID_TOKEN_REQUEST_URL: 'https://token.example',
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'asks-for-tokens',
  };
  const NAMES = ['CI_INSIGHTS_TOKEN', ...Object.keys(SECRETS)];
  const SEEN = `env | grep -oE '^(${NAMES.join('|')}|CI_INSIGHTS_URL)=' | sort | tr -d '=\\n'; exit 0`;

  test('is not in the environment of the tests, and neither is what asks for identity tokens', async () => {
    const { stdout, code } = await gate({ runtime, ending: SEEN, env: SECRETS });
    expect([code, stdout.split('\n')[1]]).toEqual([0, expect.stringMatching(/^CI_INSIGHTS_URL/)]);
    for (const name of NAMES) expect(stdout).not.toContain(name);
  });

  test('is there with --pass-token', async () => {
    const { stdout } = await gate({ runtime, ending: SEEN, env: SECRETS, args: ['--pass-token'] });
    for (const name of NAMES) expect(stdout).toContain(name);
  });
});

describe('never excused, although every failure is quarantined', () => {
  const announcing = (attributes: string): string => reportOf([QUARANTINED]).replace('tests="1"', attributes);

  test.each<[string, GateJob, number, string]>([
    [
      'a report that announces more tests than it has',
      { report: announcing('tests="200"') },
      7,
      '200 tests, but has only 1',
    ],
    [
      'one that counts more failures',
      { report: announcing('tests="1" failures="3"') },
      7,
      '3 failures, but has only 1',
    ],
    [
      'an exit code that says more than "tests failed"',
      { rows: [QUARANTINED], ending: 'exit 3' },
      3,
      '--failure-codes',
    ],
  ])('%s', async (_, job, code, said) => {
    const ran = await gate(job);
    expect([ran.code, ran.stdout]).toEqual([code, expect.stringContaining(said)]);
  });

  test('other codes, unless a flag says that they mean failed tests', async () => {
    const job = { rows: [QUARANTINED], ending: 'exit 100' };
    expect((await gate({ ...job, args: ['--failure-codes', '99,100-101'] })).code).toBe(0);
    expect((await gate(job)).code).toBe(100);
    const wrong = await gate({ ...job, args: ['--failure-codes', '1-200'] });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('1 to 125')]);
  });
});

describe('a quarantine on the base branch', () => {
  /** GitHub's description of a pull request for `main`. */
  const pullRequest = (name: string): Record<string, string> => {
    const event = join(folder, `${name}.json`);
    const pull = { number: 7, head: { ref: 'round-up', sha: `head-${name}` }, base: { ref: 'main' } };
    writeFileSync(event, JSON.stringify({ number: 7, repository: { default_branch: 'main' }, pull_request: pull }));
    return {
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_EVENT_PATH: event,
      GITHUB_REF: 'refs/pull/7/merge',
      GITHUB_REF_NAME: '7/merge',
      GITHUB_HEAD_REF: 'round-up',
      GITHUB_BASE_REF: 'main',
    };
  };

  test('counts in pull requests for it, and the run has its base', async () => {
    const name = freshRepository('base');
    await service.quarantine(name, `shop.${NEW.name}`, { branch: 'main' });
    await service.quarantine(name, `shop.${FLAKY.name}`, { branch: 'release/*' });
    const job = gateJobs(service, name, folder);
    rmSync(join(folder, 'job-1'), { recursive: true, force: true });
    const excused = await job({ rows: [NEW], args: ['--json'], env: pullRequest('one') });
    expect([excused.code, JSON.parse(excused.stdout).decision]).toEqual([0, { code: 0, reason: 'excused' }]);
    const { runs } = await service.get<{ runs: object[] }>(pathOf(name, 'runs'));
    expect(runs).toMatchObject([
      { commit_sha: 'head-one', branch: 'round-up', base_ref: 'main', pull_request: 7, is_on_default_branch: false },
    ]);
    rmSync(join(folder, 'job-2'), { recursive: true, force: true });
    expect((await job({ rows: [FLAKY], env: pullRequest('two') })).code).toBe(7);
  });
});

test('a second attempt that fails only as quarantined passes, whatever the first one failed with', async () => {
  const name = await shopWithHistory();
  const own = mkdtempSync(join(folder, 'attempts-'));
  const job = gateJobs(service, name, own);
  const known = await job({ rows: [FLAKY, pass('browses 1')] });
  const { failures } = await service.get<{ failures: { failure_id: string }[] }>(
    pathOf(name, `commits/${known.commit}/failures`),
  );
  await service.quarantine(name, `shop.${FLAKY.name}`, { failure_ids: [failures[0]?.failure_id] });
  const attempt = (number: string) => ({ GITHUB_SHA: 'again', GITHUB_RUN_ID: '4711', GITHUB_RUN_ATTEMPT: number });
  const first = await job({ rows: [fail(FLAKY.name, 'expected 3, got 4'), pass('browses 1')], env: attempt('1') });
  expect([first.code, first.stdout]).toEqual([7, expect.stringContaining('  new             shop.pays')]);
  const second = await job({ rows: [FLAKY, pass('browses 1')], env: attempt('2') });
  expect([second.code, second.stdout]).toEqual([0, expect.stringContaining('  quarantined     shop.pays')]);
});

test('a quarantine for one leg excuses its failures there, and in no other leg of the same run', async () => {
  const name = await shopWithHistory();
  const own = mkdtempSync(join(folder, 'legs-'));
  const job = gateJobs(service, name, own);
  await service.quarantine(name, `shop.${NEW.name}`, { axes: { os: ['windows'] } });
  const env = { GITHUB_SHA: 'legs', GITHUB_RUN_ID: '4712' };
  const leg = (...axes: string[]) =>
    job({ rows: [NEW, pass('browses 1')], env, args: axes.flatMap((axis) => ['--axis', axis]) });
  const linux = await leg('os=linux', 'python=3.13');
  expect([linux.code, linux.stdout]).toEqual([7, expect.stringContaining('  new             shop.adds tax')]);
  const windows = await leg('os=windows', 'python=3.13');
  expect([windows.code, windows.stdout]).toEqual([0, expect.stringContaining('  quarantined     shop.adds tax')]);
  // The other leg has failed in the same way meanwhile, and a job that does not tell its leg is excused by no narrowing.
  expect((await leg('os=linux', 'python=3.12')).code).toBe(7);
  expect((await job({ rows: [NEW], env: { GITHUB_SHA: 'untold' } })).code).toBe(7);
});

test('without a verdict, a gate goes by the quarantines of its leg alone', async () => {
  const name = await shopWithHistory();
  const own = mkdtempSync(join(folder, 'unstored-'));
  const job = gateJobs(service, name, own);
  await service.quarantine(name, `shop.${NEW.name}`, { axes: { os: ['windows'] } });
  const unread = { GITHUB_SHA: undefined, GITHUB_EVENT_NAME: 'workflow_dispatch' };
  for (const [os, code] of [
    ['linux', 7],
    ['windows', 0],
  ] as const)
    expect((await job({ rows: [NEW], env: unread, args: ['--axis', `os=${os}`] })).code).toBe(code);
});

test('no text of a report commands the runner, whichever provider runs the job', async () => {
  const hostile = '  ::stop-commands::x\n##vso[task.complete]y ##teamcity[z \u001b[2J\u202e --- +++';
  const rows = [fail(hostile.replaceAll('\n', ' ').replaceAll('\u001b', ' '), hostile)];
  const { stdout } = await gate({ rows });
  const commands = stdout.split('\n').filter((line) => /^\s*::|##/.test(line));
  expect(commands).toEqual([expect.stringMatching(/^::error file=tests\/shop\.py,title=Failed test%2C new::/)]);
  expect(commands[0]).not.toContain('##');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
  expect(stdout).not.toMatch(/[\u001b\u202e]/);
});

test('a message of 130,000 blanks is shown at once', async () => {
  // Quadratic, it took 15 s of processor.
  const { code, stdout } = await gate({ rows: [fail('adds tax', `x${' \n'.repeat(65_000)}y`)] });
  expect([code, stdout]).toEqual([7, expect.stringContaining('AssertionError: x …')]);
});
