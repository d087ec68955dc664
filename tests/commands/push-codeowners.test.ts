/** What `push` sends of CODEOWNERS, from which jobs, and that nothing about it fails a job. */
import { afterAll, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../support/folder.ts';

const CLI = resolve(import.meta.dir, '../../src/cli.ts');
const folder = makeFolder('push-codeowners');

let sent: { path: string; body: Record<string, unknown> }[] = [];
let answer = (): Response => Response.json({ is_changed: true, patterns: 1, problems: [] });
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    if (request.method === 'PUT') {
      sent.push({ path: new URL(request.url).pathname, body: (await request.json()) as Record<string, unknown> });
      return answer();
    }
    return Response.json(
      { id: 'i', status: 'stored', accepted: 1, duplicate: 0, rejected: 0, rejections: [], warnings: [] },
      { status: request.method === 'POST' ? 202 : 200 },
    );
  },
});

beforeEach(() => {
  sent = [];
  answer = () => Response.json({ is_changed: true, patterns: 1, problems: [] });
});
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

/** A working copy with these files, and a report. */
function checkout(name: string, files: Record<string, string>): string {
  const root = join(folder, name);
  for (const [path, content] of Object.entries({ ...files, 'web/report.xml': '<testsuite name="s"/>' })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  Bun.spawnSync(['git', 'init', '-q', root]);
  Bun.spawnSync(['git', '-C', root, 'add', '-A']);
  return root;
}

async function push(root: string, args: string[] = ['--branch', 'main']) {
  const flags = ['--repo', 'acme/shop', '--pipeline', 'CI', '--job', 'unit', '--run-id', '1', '--commit', 'abc'];
  const child = Bun.spawn([process.execPath, CLI, 'push', 'junit', 'report.xml', ...flags, ...args], {
    cwd: join(root, 'web'),
    env: { PATH: process.env.PATH, CI_INSIGHTS_URL: server.url.origin, CI_INSIGHTS_TOKEN: 'cii_secret' },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  // Both go on at the same time.
  return { out, err: err.split('\n').sort().join('\n').trim(), code };
}

/** Of the report. */
const DONE = '[1/1] report.xml: stored, 1 execution';

const GITHUB = {
  '.github/CODEOWNERS': '* @acme/all\n',
  CODEOWNERS: '* @second\n',
  'src/a.test.ts': '',
  'src/a.ts': '',
};

const hasGit = Bun.which('git') !== null;
if (!hasGit) console.error('skipped: the list of files, because git is not installed');

test.skipIf(!hasGit)('a job of the default branch sends the file and the files that may hold tests', async () => {
  const { code, err } = await push(checkout('github', GITHUB));
  expect(sent).toEqual([
    {
      path: '/v1/ci/acme/repositories/shop/codeowners',
      body: {
        host: 'github',
        path: '.github/CODEOWNERS',
        content: '* @acme/all\n',
        files: 'src/a.test.ts',
        branch: 'main',
        base_ref: null,
        pull_request: null,
      },
    },
  ]);
  expect([code, err]).toEqual([0, DONE]);
});

test('a repository of GitLab has its own places', async () => {
  await push(checkout('gitlab', { '.gitlab-ci.yml': '', '.gitlab/CODEOWNERS': '[A] @a\n*\n' }));
  expect(sent[0]?.body).toMatchObject({ host: 'gitlab', path: '.gitlab/CODEOWNERS' });
});

test('other jobs send nothing, nor do repositories without the file', async () => {
  const root = checkout('others', GITHUB);
  for (const args of [
    ['--branch', 'feature'],
    ['--branch', 'main', '--default-branch', 'develop'],
    ['--branch', 'main', '--pull-request', '7'],
    ['--branch', 'main', '--base-branch', 'main'],
    ['--branch', 'gh-readonly-queue/main/pr-7', '--default-branch', 'main'],
    [],
  ])
    expect((await push(root, args)).code).toBe(0);
  await push(checkout('none', {}));
  expect(sent).toEqual([]);
  await push(root, ['--branch', 'develop', '--default-branch', 'develop']);
  expect(sent).toHaveLength(1);
});

test('a refusal or a file that is too long is a notice, and so are lines that are not read', async () => {
  const root = checkout('refused', GITHUB);
  answer = () => Response.json({ title: 'Forbidden', detail: 'Not this branch.', errors: [] }, { status: 403 });
  expect(await push(root)).toMatchObject({ code: 0, err: `CODEOWNERS was not sent: Not this branch. (403).\n${DONE}` });
  answer = () => Response.json({ problems: [{ line: 3, reason: 'x is no owner' }] });
  expect((await push(root)).err).toContain(
    '.github/CODEOWNERS: a line is not read as written, the first is line 3 (x is no owner).\n',
  );
  const { code, err } = await push(checkout('long', { CODEOWNERS: '#'.repeat(512 * 1024 + 1) }));
  expect([code, err]).toEqual([0, `CODEOWNERS was not sent: CODEOWNERS is longer than 524288 bytes.\n${DONE}`]);
});
