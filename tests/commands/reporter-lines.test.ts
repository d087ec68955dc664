/** The lines of a reporter in the log of a job, among those of the tests. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { ReporterSession } from '../../src/client/reporter/session.ts';
import { junit } from '../../src/formats/junit/format.ts';
import { makeFolder } from '../support/folder.ts';

const HOSTILE = '::error::x\n##vso[task.complete]y \u001b[2J\u202e';
const ID = '01a1fc77-26cd-762f-9c1d-b99ef7ee6bdc';
let asked: URL[] = [];
let status = 202;
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) => {
    const url = new URL(request.url);
    asked.push(url);
    if (request.method === 'GET') {
      const own = url.searchParams.get('branch') === 'main' ? [{ id: ID, test_name: HOSTILE }] : [];
      return Response.json({ quarantined_tests: own });
    }
    if (status !== 202) return Response.json({ title: HOSTILE }, { status });
    return Response.json({ id: ID, status: 'queued', executions: 1, warnings: [HOSTILE] }, { status });
  },
});

const PULL = {
  CIRCLECI: '',
  GITHUB_ACTIONS: '',
  GITLAB_CI: 'true',
  CI_PROJECT_PATH: 'acme/shop',
  CI_JOB_ID: '50',
  CI_JOB_NAME: 'unit',
  CI_COMMIT_SHA: 'abc',
  CI_MERGE_REQUEST_IID: '7',
  CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'feat',
  CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
};
const before = { ...process.env };
const folder = process.cwd();
beforeEach(() => {
  asked = [];
  status = 202;
  process.chdir(makeFolder('reporter-lines'));
  Object.assign(process.env, { CI_INSIGHTS_URL: server.url.origin, CI_INSIGHTS_TOKEN: 'cii_secret', ...PULL });
});
afterEach(() => {
  process.chdir(folder);
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

async function linesOf(options: { branch?: string } = {}): Promise<string[]> {
  const session = new ReporterSession('vitest', junit, options);
  session.add('a.test.ts', '<testsuite/>', [HOSTILE]);
  const lines = await session.end();
  for (const line of lines) {
    expect(line).toStartWith('ci-insights: ');
    expect(line).not.toMatch(/##|[\p{Cc}\p{Cf}]/u);
    expect(line).not.toContain('cii_secret');
  }
  return lines;
}

test('is text, whatever tests are called and the service answers', async () => {
  const lines = await linesOf();
  expect(lines).toContainEqual(expect.stringContaining('quarantined  : :error::x'));
  expect(lines).toContainEqual(expect.stringContaining('# #vso['));
  status = 422;
  expect(await linesOf()).toContainEqual(expect.stringContaining('(422)'));
});

test('names the tests that are quarantined on the branch or its base, and the report has the base', async () => {
  expect(await linesOf()).toContain('ci-insights: 1 failed test of 1 quarantined.');
  const lists = asked.filter(({ pathname }) => pathname.endsWith('/quarantines'));
  expect(lists.map((url) => url.searchParams.get('branch')).sort()).toEqual(['feat', 'main']);
  const upload = asked.find(({ pathname }) => pathname.endsWith('/junit'));
  expect(Object.fromEntries(upload?.searchParams ?? [])).toMatchObject({ base_ref: 'main', pull_request: '7' });
});

test('warns of an option that contradicts the environment', async () => {
  expect(await linesOf({ branch: 'main' })).toContainEqual(expect.stringContaining('--branch main'));
});

test('the axes and the place in the configuration are sent with each file; wrong ones are named, and nothing is sent', async () => {
  const session = new ReporterSession('vitest', junit, { axes: { os: 'windows', node: '22' }, place: { shard: '2' } });
  session.add('a.test.ts', '<testsuite/>', []);
  await session.end();
  const [upload] = asked.filter(({ pathname }) => pathname.endsWith('/junit'));
  expect(upload?.searchParams.getAll('axis')).toEqual(['os:windows', 'node:22']);
  expect(upload?.searchParams.getAll('place')).toEqual(['shard:2']);
  // A configuration in JavaScript may hold anything.
  for (const axes of [{ 'my os': 'x' }, JSON.parse('{"node":22}')]) {
    const wrong = new ReporterSession('vitest', junit, { axes });
    expect(await wrong.end()).toEqual([expect.stringMatching(/nothing is sent. The configuration is wrong: /)]);
  }
});
