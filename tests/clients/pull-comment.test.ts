/** `gate --comment` as CI jobs run it, against a real service, and hosts that answer as GitHub and GitLab do. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOST_TOKEN, PullHost } from '../support/pull-host.ts';
import { RUNTIMES } from './support/client.ts';
import { type Gate, gateJobs } from './support/gate-job.ts';
import { type ClientService, sharedService } from './support/service.ts';
import { FLAKY, fail, NEW, pass, QUARANTINED, type Row, shopWithHistory } from './support/shop.ts';

let service: ClientService;
let repository: string;
let folder: string;
let gate: Gate;
let host: PullHost;
let commits = 0;
beforeAll(async () => {
  service = await sharedService();
  repository = await shopWithHistory();
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-comment-'));
  gate = gateJobs(service, repository, folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  host = new PullHost();
});
afterEach(() => host.stop());

/** A commit of pull request 7, as its jobs see it. */
function push(): Record<string, string> {
  const commit = `${++commits}`.padStart(40, 'c');
  host.head = commit;
  const event = join(folder, `${commit}.json`);
  const pull = { number: 7, head: { ref: 'feature/tax', sha: commit }, base: { ref: 'main' } };
  writeFileSync(event, JSON.stringify({ pull_request: pull, repository: { default_branch: 'main' } }));
  return { ...host.github, GITHUB_EVENT_NAME: 'pull_request', GITHUB_EVENT_PATH: event };
}
/** The same of a merge request. */
const onGitLab = (): Record<string, string> => ({
  ...{ GITHUB_ACTIONS: '', GITHUB_REPOSITORY: '', GITLAB_CI: 'true', CI_PROJECT_PATH: `acme/${repository}` },
  ...{ CI_JOB_ID: '9001', CI_JOB_NAME: 'unit', CI_PIPELINE_NAME: 'CI', CI_DEFAULT_BRANCH: 'main' },
  ...{ CI_MERGE_REQUEST_IID: '7', CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'feature/tax', CI_COMMIT_SHA: host.head },
  ...{ CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main', CI_MERGE_REQUEST_PROJECT_ID: '3' },
  ...{ CI_API_V4_URL: `${host.origin}/api/v4`, GITLAB_TOKEN: HOST_TOKEN },
});
const job = async (rows: readonly Row[], env: Record<string, string>, more: object = {}) => {
  const ending = rows.some(({ failure }) => failure !== undefined) ? 'exit 7' : 'exit 0';
  const ran = await gate({ rows, ending, args: ['--comment'], env, ...more });
  expect(ran.printed).not.toContain(HOST_TOKEN);
  return ran;
};
const text = () => host.own().map(({ body }) => body.split('\n').slice(1).join('\n'));
const SOMETHING = pass('browses 1');

test.each(RUNTIMES)('on %s, jobs of a pull request keep one comment about its newest commit', async (runtime) => {
  const first = push();
  expect((await job([pass(NEW.name), SOMETHING], first, { runtime })).code).toBe(0);
  expect((await job([QUARANTINED, SOMETHING], first, { runtime })).code).toBe(0);
  expect(host.changes).toEqual([]);
  const failed = await job([NEW, SOMETHING], { ...first, GITHUB_JOB: 'e2e' }, { runtime });
  expect([failed.code, failed.printed]).toEqual([7, expect.stringContaining('A comment on pull request 7')]);
  await job([FLAKY, SOMETHING], { ...first, GITHUB_JOB: 'slow' }, { runtime });
  const [comment = ''] = text();
  expect(text()).toHaveLength(1);
  // What other jobs of the commit found is in it, too.
  expect(comment).toStartWith('### Probably your change: 3 failures, 1 new');
  for (const name of [NEW.name, FLAKY.name, QUARANTINED.name]) expect(comment).toContain(`shop.${name}`);
  expect(comment).toContain(`(${service.origin}/app/acme/${repository}/commits/${host.head})`);
  expect(comment).toMatch(/\*What to do\*: /);
  const second = push();
  await job([pass(NEW.name), SOMETHING], second, { runtime });
  expect(text()).toEqual([expect.stringContaining('All clear')]);
});

test('a comment that cannot be written is a notice, and the exit code stands', async () => {
  const pull = push();
  const forbidden = { message: 'Resource not accessible by integration' };
  host.trouble = ({ method, url }) =>
    method === 'POST' && !url.endsWith('graphql') ? Response.json(forbidden, { status: 403 }) : undefined;
  const refused = await job([NEW, SOMETHING], pull);
  expect([refused.code, refused.printed]).toEqual([7, expect.stringContaining('pull-requests: write')]);
  const without = await job([NEW, SOMETHING], { ...pull, GITHUB_TOKEN: '' });
  expect([without.code, without.printed]).toEqual([7, expect.stringContaining('GITHUB_TOKEN is not set')]);
  const away = await job([pass('a')], { ...pull, GITHUB_API_URL: 'http://127.0.0.1:9' });
  expect([away.code, away.printed]).toEqual([0, expect.stringContaining('GitHub cannot be reached')]);
  const crashed = await job([SOMETHING], push(), { ending: 'exit 139' });
  expect([crashed.code, host.own()]).toEqual([139, []]);
});

test('a comment that a person deletes does not come back for this commit', async () => {
  const pull = push();
  await job([NEW, SOMETHING], pull);
  host.deleteAs('ada', host.own()[0]?.id ?? 0);
  const ran = await job([FLAKY, SOMETHING], { ...pull, GITHUB_JOB: 'slow' });
  expect([ran.code, ran.printed]).toEqual([7, expect.stringContaining('someone has deleted it')]);
  expect(host.own()).toEqual([]);
  await job([NEW, SOMETHING], push());
  expect(host.own()).toHaveLength(1);
});

test('nor does it on a host that keeps no record of deletions: the service knows where it was', async () => {
  push();
  const commented = async () =>
    (await service.get<{ commented_commit: string }>(`/v1/ci/acme/repositories/${repository}/pulls/7`))
      .commented_commit;
  await job([NEW, SOMETHING], onGitLab());
  expect([host.own().length, await commented()]).toEqual([1, host.head]);
  host.comments = [];
  const ran = await job([FLAKY, SOMETHING], { ...onGitLab(), CI_JOB_ID: '9002', CI_JOB_NAME: 'slow' });
  expect([ran.code, ran.printed]).toEqual([7, expect.stringContaining('someone has deleted it')]);
  expect(host.own()).toEqual([]);
  push();
  await job([NEW, SOMETHING], { ...onGitLab(), CI_JOB_ID: '9003' });
  expect([host.own().length, await commented()]).toEqual([1, host.head]);
});

test('its own token is kept from the command, and a job without a pull request writes nothing', async () => {
  const env = { ...push(), GITHUB_TOKEN: '', CI_INSIGHTS_COMMENT_TOKEN: HOST_TOKEN };
  const ending = 'echo "token: [$CI_INSIGHTS_COMMENT_TOKEN]"; exit 7';
  expect((await job([NEW], env, { ending })).stdout).toContain('token: []');
  expect(text()).toHaveLength(1);
  const { changes } = host;
  changes.length = 0;
  await job([NEW], { ...env, GITHUB_EVENT_NAME: 'push', GITHUB_EVENT_PATH: '' });
  expect(changes).toEqual([]);
});

test('a name that is Markdown, HTML or a mention is text, on a merge request of GitLab', async () => {
  push();
  const row = fail('adds [tax](https://evil.example) <img src=x> @acme/team `x`', '@all ![](https://evil.example)');
  expect((await job([row, SOMETHING], onGitLab())).code).toBe(7);
  const [comment = ''] = text();
  const html = Bun.markdown.html(comment, { autolinks: true });
  expect(html).toContain('<img src=x> @acme/team `x`'.replace(/[<>]/g, (sign) => (sign === '<' ? '&lt;' : '&gt;')));
  expect(html).not.toMatch(/<img|href="https:\/\/evil/);
  expect(host.changes).toEqual(['POST /api/v4/projects/3/merge_requests/7/notes']);
});
