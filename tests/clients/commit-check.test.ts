/** `gate --check` as CI jobs run it, against a real service, and hosts that answer as GitHub and GitLab do. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChecksHost } from '../support/check-host.ts';
import { HOST_TOKEN } from '../support/pull-host.ts';
import { RUNTIMES } from './support/client.ts';
import { type Gate, gateJobs } from './support/gate-job.ts';
import { type ClientService, sharedService } from './support/service.ts';
import { FLAKY, fail, NEW, pass, QUARANTINED, type Row, shopWithHistory } from './support/shop.ts';

let service: ClientService;
let repository: string;
let folder: string;
let gate: Gate;
let host: ChecksHost;
let commits = 0;
beforeAll(async () => {
  service = await sharedService();
  repository = await shopWithHistory();
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-check-'));
  mkdirSync(join(folder, 'tests'));
  writeFileSync(join(folder, 'tests/shop.py'), '');
  gate = gateJobs(service, repository, folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  host = new ChecksHost();
});
afterEach(() => host.stop());

const push = (): Record<string, string> => ({
  GITHUB_SHA: `${++commits}`.padStart(40, 'd'),
  GITHUB_WORKSPACE: folder,
  GITHUB_API_URL: `${host.origin}/api/v3`,
  GITHUB_TOKEN: HOST_TOKEN,
});
const job = async (rows: readonly Row[], env: Record<string, string>, more: object = {}) => {
  const ending = rows.some(({ failure }) => failure !== undefined) ? 'exit 7' : 'exit 0';
  const ran = await gate({ rows, ending, args: ['--check'], env, ...more });
  expect(ran.printed).not.toContain(HOST_TOKEN);
  return ran;
};
const SOMETHING = pass('browses 1');

test.each(RUNTIMES)('on %s, jobs of a commit keep one check, which passes for what is excused', async (runtime) => {
  const commit = push();
  const failed = await job([NEW, SOMETHING], commit, { runtime });
  expect([failed.code, failed.printed]).toEqual([7, expect.stringContaining('is up to date')]);
  await job([QUARANTINED, SOMETHING], { ...commit, GITHUB_JOB: 'e2e' }, { runtime });
  expect(host.checks).toMatchObject([
    { name: 'ci-insights', head_sha: commit.GITHUB_SHA, conclusion: 'failure', output: {} },
  ]);
  const [check] = host.checks;
  expect(check?.output.title).toBe('Probably your change: 2 failures, 1 new, 1 quarantined; the gate fails.');
  expect(check?.output.summary).toContain(`shop.${NEW.name}`);
  expect(check?.annotations).toMatchObject([
    { path: 'tests/shop.py', start_line: 7, annotation_level: 'failure', title: 'Failed test, new' },
    { path: 'tests/shop.py', start_line: 7, annotation_level: 'warning', title: 'Failed test, quarantined' },
  ]);
  await job([pass(NEW.name), SOMETHING], push(), { runtime });
  expect(host.checks.at(-1)).toMatchObject({ conclusion: 'success', annotations: [] });
});

test('what the jobs excuse decides, and the excuse is in the title', async () => {
  const args = ['--check', '--excuse', 'flaky'];
  const ran = await job([FLAKY, SOMETHING], push(), { args });
  expect(ran.code).toBe(0);
  expect(host.checks).toMatchObject([{ conclusion: 'success' }]);
  expect(host.checks[0]?.output.title).toEndWith('the gate passes.');
});

test('a check that cannot be written is a notice, and the exit code stands; a crash writes none', async () => {
  const forbidden = { message: 'You must authenticate via a GitHub App.' };
  host.trouble = ({ method, url }) =>
    method === 'POST' && !url.endsWith('graphql') ? Response.json(forbidden, { status: 403 }) : undefined;
  const refused = await job([NEW, SOMETHING], push());
  expect([refused.code, refused.printed]).toEqual([7, expect.stringContaining('checks: write')]);
  host.trouble = () => undefined;
  expect((await job([SOMETHING], push(), { ending: 'exit 139' })).code).toBe(139);
  const short = await job([NEW, SOMETHING], { ...push(), GITHUB_SHA: 'abc' });
  expect([short.code, short.printed]).toEqual([7, expect.stringContaining('whole id of the commit')]);
  expect(host.checks).toEqual([]);
});

test('on GitLab the status of the pipeline says it, and a name that is Markdown is text', async () => {
  const row = fail('adds [tax](https://evil.example) @acme/team', 'no');
  const commit = push().GITHUB_SHA ?? '';
  const env = {
    ...{ GITHUB_ACTIONS: '', GITHUB_REPOSITORY: '', GITLAB_CI: 'true', CI_PROJECT_PATH: `acme/${repository}` },
    ...{ CI_JOB_ID: '9001', CI_JOB_NAME: 'unit', CI_PIPELINE_NAME: 'CI', CI_DEFAULT_BRANCH: 'main' },
    ...{ CI_COMMIT_SHA: commit, CI_COMMIT_BRANCH: 'feature/tax', CI_PROJECT_ID: '3', CI_PIPELINE_ID: '77' },
    ...{ CI_API_V4_URL: `${host.origin}/api/v4`, GITLAB_TOKEN: HOST_TOKEN },
  };
  expect((await job([row, SOMETHING], env)).code).toBe(7);
  expect(host.statuses).toMatchObject([{ sha: commit, state: 'failed', name: 'ci-insights', pipeline_id: '77' }]);
  expect(host.statuses[0]?.target_url).toEndWith(`/app/acme/${repository}/commits/${commit}`);
});
