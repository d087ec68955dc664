/** The comment and the check that the service keeps itself, on a host that answers as GitHub does. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { PullKeeper } from '../../src/comments/pull-keeper.ts';
import type { CommentsConfig } from '../../src/comments-config.ts';
import type { HostSite } from '../../src/hosts/site.ts';
import { readChangedFiles } from '../../src/postgres/changed-files.ts';
import { readCodeowners, writeCodeowners } from '../../src/postgres/owners.ts';
import { failingPulls } from '../../src/postgres/pull-comments.ts';
import { RepositoryStore } from '../../src/postgres/repositories.ts';
import { pullComments } from '../../src/postgres/schema.ts';
import { type PrEventsJob, prEvents } from '../../src/queue/pr-events.ts';
import { Commenter } from '../../workers/commenter.ts';
import { ChecksHost } from '../support/check-host.ts';
import { TEST_NOW } from '../support/clock.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { HOST_TOKEN, PullHost } from '../support/pull-host.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';
import { githubSite } from '../support/webhooks.ts';

const DAY_MS = 86_400_000;
let stores: TestStores;
let driver: IngestDriver;
let host: PullHost;
let commits = 0;
const nextCommit = (): string => `${++commits}`.padStart(40, 'e');
beforeAll(async () => {
  stores = await openTestStores();
  // It notes pull requests; the commenters here write.
  driver = new IngestDriver(stores, { commentedSince: () => TEST_NOW - DAY_MS });
});
afterAll(() => driver.stop());
beforeEach(async () => {
  host = new PullHost();
  await stores.postgres.db.delete(pullComments);
});
afterEach(() => host.stop());

const siteAt = (origin: string, change: Partial<HostSite> = {}): HostSite => ({
  ...githubSite(),
  url: 'https://github.com',
  apiUrl: `${origin}/api/v3`,
  isAsked: false,
  credential: { token: HOST_TOKEN },
  ...change,
});
const configOf = (change: Partial<CommentsConfig> = {}): CommentsConfig => ({
  comments: ['*'],
  checks: [],
  hosts: [siteAt(host.origin)],
  publicUrl: 'https://ci.acme.example',
  ...change,
});
const commenterOn = (repositories: RepositoryStore, config: CommentsConfig) => {
  const { db } = stores.postgres;
  const keeper = new PullKeeper({ ...stores, repositories, db }, config);
  return new Commenter({ db, repositories, keeper, log: stores.log });
};
const commenter = (config: CommentsConfig = configOf()) => commenterOn(stores.repositories, config);

type Result = { name: string; message?: string };
/** Results of pull request 7, on a commit that is its newest. */
async function ran(repository: ReturnType<typeof uniqueRepository>, results: Result[], at = TEST_NOW) {
  const commit = nextCommit();
  host.head = commit;
  const executions = results.map(({ name, message }) => ({
    name,
    status: message === undefined ? ('passed' as const) : ('failed' as const),
    failures: message === undefined ? [] : [{ type: 'AssertionError', message }],
  }));
  const run = { branch: 'feature', pull_request: 7, base_ref: 'main', commit, run_id: `${commits}` };
  await driver.ingest(makeJob({ repository, executions, run, source: commit, receivedAt: at }));
  return commit;
}
const makeDue = () => stores.postgres.db.update(pullComments).set({ dueAt: sql`now() - interval '1 second'` });
const rows = () => stores.postgres.db.select().from(pullComments);
const FAILED = [{ name: 'adds tax', message: 'expected 110, got 111' }, { name: 'pays' }];
const PASSED = [{ name: 'adds tax' }, { name: 'pays' }];

test('a pull request gets one comment when something fails, and it says when nothing does any more', async () => {
  const repository = uniqueRepository();
  await ran(repository, PASSED);
  await makeDue();
  await commenter().run();
  expect(host.changes).toEqual([]);
  const commit = await ran(repository, FAILED);
  expect(await rows()).toMatchObject([{ number: 7, commitSha: commit, dueAt: expect.any(Date) }]);
  await makeDue();
  await commenter().run();
  const page = `https://ci.acme.example/app/${repository.owner}/${repository.name}/commits/${commit}`;
  expect(host.own().map(({ body }) => body)).toEqual([expect.stringContaining(`](${page})`)]);
  expect(host.own()[0]?.body).toContain('`adds tax`');
  expect(await rows()).toMatchObject([{ outcome: 'written', dueAt: null, failures: 0 }]);
  await ran(repository, PASSED);
  await makeDue();
  await commenter().run();
  expect(host.own().map(({ body }) => body)).toEqual([expect.stringContaining('All clear')]);
  await driver.verify();
});

test('the files of the change come from the host, where no job has sent them', async () => {
  host.files = [{ path: 'src/cart.ts' }, { path: 'src/tax.ts', before: 'src/vat.ts' }];
  const repository = uniqueRepository();
  const filesOf = async (commit: string) => {
    const id = (await stores.repositories.find(repository.owner, repository.name))?.id ?? '';
    return (await readChangedFiles(stores.postgres.db, id, [commit])).get(commit);
  };
  const passed = await ran(repository, PASSED);
  await makeDue();
  await commenter().run();
  expect(await filesOf(passed)).toBeUndefined();
  const failed = await ran(repository, FAILED);
  await makeDue();
  await commenter().run();
  const told = { paths: ['src/cart.ts', 'src/tax.ts', 'src/vat.ts'], isConfined: true };
  expect(await filesOf(failed)).toEqual(told);
  host.files = [];
  await makeDue();
  await commenter().run();
  expect(await filesOf(failed)).toEqual(told);
  host.trouble = (_, { pathname }) => (pathname.endsWith('/files') ? new Response('', { status: 404 }) : undefined);
  const refused = await ran(repository, FAILED);
  await makeDue();
  await commenter().run();
  expect(await filesOf(refused)).toBeUndefined();
  expect(await rows()).toMatchObject([{ commitSha: refused, failures: 0, dueAt: null }]);
});

test('CODEOWNERS comes from the host, where no job has sent one', async () => {
  const { db } = stores.postgres;
  const repository = uniqueRepository();
  const content = `* @acme/everyone-with-a-long-name\n${'# é\n'.repeat(40)}src/cart/ @acme/cart\n`;
  host.codeowners = { path: 'docs/CODEOWNERS', content };
  const keep = async (results: Result[]) => {
    await ran(repository, results);
    await makeDue();
    await commenter().run();
    const id = (await stores.repositories.find(repository.owner, repository.name))?.id ?? '';
    return { id, file: await readCodeowners(db, id) };
  };
  const { id, file } = await keep(PASSED);
  expect(file).toMatchObject({ host: 'github', path: 'docs/CODEOWNERS', content, changedBy: 'repository host' });
  host.codeowners = undefined;
  expect((await keep(PASSED)).file).toMatchObject({ content });
  const sent = { host: 'github' as const, path: 'CODEOWNERS', content: '* @acme/own\n', files: [] };
  await writeCodeowners(db, id, sent, { name: 'ci', now: TEST_NOW });
  host.codeowners = { path: '.github/CODEOWNERS', content };
  expect((await keep(PASSED)).file).toMatchObject({ content: sent.content, changedBy: 'ci' });
});

test('what the host does not show is no reason to leave the comment out', async () => {
  const forbidden = { message: 'Resource not accessible by integration' };
  host.trouble = (_, { pathname }) =>
    /contents|files/.test(pathname) ? Response.json(forbidden, { status: 403 }) : undefined;
  await ran(uniqueRepository(), FAILED);
  await makeDue();
  await commenter().run();
  expect(host.own()).toHaveLength(1);
});

describe('a webhook alone', () => {
  /** Results of a branch, whose jobs know no pull request; and what the host says about number 7. */
  const pushed = async (repository: ReturnType<typeof uniqueRepository>, commit = nextCommit()) => {
    const executions = [{ name: 'adds tax', status: 'failed' as const, failures: [{ type: 'E', message: 'no' }] }];
    const run_id = `run ${++runs}`;
    const run = { branch: 'feature', commit, run_id };
    await driver.ingest(makeJob({ repository, executions, run, source: run_id, receivedAt: TEST_NOW }));
    host.head = commit;
    return commit;
  };
  let runs = 0;
  let deliveries = 0;
  const tell = async (
    repository: ReturnType<typeof uniqueRepository>,
    head: string,
    {
      at = TEST_NOW,
      merge = null,
      events = [],
    }: Partial<{ at: number; merge: string | null; events: PrEventsJob['events'] }> = {},
  ) => {
    const updated_at = new Date(at).toISOString();
    const pull = { number: 7, id: 7, title: 'Tax', author: null, base_ref: 'main', head_ref: 'feature' };
    const job = {
      ...{ v: 1 as const, default_branch: null, page_url: null, page_kind: 'github' as const, renamed_from: null },
      repository,
      pull_requests: [{ ...pull, head_commit: head, merge_commit: merge, updated_at }],
      ...{ events, deleted_branches: [] },
    };
    await stores.producers.of(prEvents).add(job, `told-${repository.name}-${++deliveries}`);
    await driver.settle();
  };

  test('brings the comment to a pull request whose results came before it, once', async () => {
    const repository = uniqueRepository();
    const commit = await pushed(repository);
    expect(await rows()).toEqual([]);
    await tell(repository, commit);
    expect(await rows()).toMatchObject([{ number: 7, commitSha: commit, revision: 1, dueAt: expect.any(Date) }]);
    await makeDue();
    await commenter().run();
    expect(host.own().map(({ body }) => body)).toEqual([expect.stringContaining('`adds tax`')]);
    // A label, an edit: the commit is the same.
    await tell(repository, commit, { at: TEST_NOW + 1 });
    expect(await rows()).toMatchObject([{ revision: 1, dueAt: null, outcome: 'written' }]);
    // It is pushed back to a commit that has results.
    const other = await pushed(repository);
    await tell(repository, other, { at: TEST_NOW + 2 });
    await makeDue();
    await commenter().run();
    expect(host.own().map(({ body }) => body)).toEqual([expect.stringContaining(other.slice(0, 12))]);
  });

  test('is enough for results that come after it, from jobs that know no pull request', async () => {
    const repository = uniqueRepository();
    const commit = nextCommit();
    // It is named days before its jobs run.
    await tell(repository, commit, { at: TEST_NOW - 2 * DAY_MS });
    expect(await rows()).toEqual([]);
    await pushed(repository, commit);
    expect(await rows()).toMatchObject([{ number: 7, commitSha: commit, dueAt: expect.any(Date) }]);
    await makeDue();
    await commenter().run();
    expect(host.own().map(({ body }) => body)).toEqual([expect.stringContaining('`adds tax`')]);
    expect(await rows()).toMatchObject([{ outcome: 'written', dueAt: null }]);
    // More of them wake it again, but not once it has another commit.
    await pushed(repository, commit);
    expect(await rows()).toMatchObject([{ dueAt: expect.any(Date) }]);
    const other = nextCommit();
    await tell(repository, other, { at: TEST_NOW + 1 });
    await makeDue();
    await commenter().run();
    await pushed(repository, commit);
    expect(await rows()).toMatchObject([{ commitSha: other, outcome: 'no_results', dueAt: null }]);
  });

  test('wakes nothing for results of the newest commit of a pull request that was merged', async () => {
    const repository = uniqueRepository();
    const commit = nextCommit();
    await tell(repository, commit, { merge: nextCommit() });
    await pushed(repository, commit);
    expect(await rows()).toEqual([]);
  });

  test('asks the host nothing about a commit without results', async () => {
    const repository = uniqueRepository();
    await tell(repository, '9'.repeat(40));
    await makeDue();
    let asked = 0;
    host.trouble = () => {
      asked++;
      return undefined;
    };
    await commenter().run();
    expect([asked, await rows()]).toMatchObject([0, [{ outcome: 'no_results', dueAt: null }]]);
  });

  test('says nothing of pull requests that end, or were changed long ago', async () => {
    const repository = uniqueRepository();
    const commit = await pushed(repository);
    const close = { ...{ key: 'close', type: 'action.close', trigger: '@ada' }, base_ref: 'main', metadata: {} };
    await tell(repository, commit, { events: [{ ...close, pull_request: 7 }] });
    await tell(repository, commit, { at: TEST_NOW - 2 * DAY_MS });
    expect(await rows()).toEqual([]);
  });
});

test('where a host keeps no record, a comment that was there and is gone is not written again for its commit', async () => {
  const repository = uniqueRepository();
  const config = configOf({ hosts: [siteAt(host.origin, { kind: 'gitea', apiUrl: `${host.origin}/api/v1` })] });
  const keep = async () => {
    await makeDue();
    await commenter(config).run();
    return (await rows())[0]?.outcome;
  };
  await ran(repository, FAILED);
  expect(await keep()).toBe('written');
  expect(await keep()).toBe('unchanged');
  host.comments = [];
  expect(await keep()).toBe('deleted');
  expect(await keep()).toBe('deleted');
  await ran(repository, FAILED);
  expect(await keep()).toBe('written');
});

test('replicas that find the same pull request due write one comment', async () => {
  for (let round = 0; round < 3; round++) {
    await ran(uniqueRepository(), FAILED);
    await makeDue();
    host.comments = [];
    host.changes.length = 0;
    await Promise.all(Array.from({ length: 4 }, () => commenter().run()));
    expect(host.changes).toEqual([expect.stringMatching(/^POST /)]);
  }
});

test('results that arrive while a comment is written are written next', async () => {
  const repository = uniqueRepository();
  const commit = await ran(repository, FAILED);
  await makeDue();
  let isFirst = true;
  host.trouble = async () => {
    if (!isFirst) return undefined;
    isFirst = false;
    host.trouble = () => undefined;
    const executions = [{ name: 'ships', status: 'failed' as const, failures: [{ type: 'E', message: 'no' }] }];
    const run = { branch: 'feature', pull_request: 7, base_ref: 'main', commit, run_id: 'late', job_name: 'e2e' };
    await driver.ingest(makeJob({ repository, executions, run, source: 'late', receivedAt: TEST_NOW }));
    return undefined;
  };
  await commenter().run();
  expect(await rows()).toMatchObject([{ dueAt: expect.any(Date) }]);
  await makeDue();
  await commenter().run();
  expect(host.own().map(({ body }) => body)).toEqual([expect.stringContaining('`ships`')]);
  expect(await rows()).toMatchObject([{ dueAt: null }]);
});

test('what is not listed, old or elsewhere is not written', async () => {
  const repository = uniqueRepository();
  await ran(repository, FAILED, TEST_NOW - 2 * DAY_MS);
  expect(await rows()).toEqual([]);
  await ran(repository, FAILED);
  await makeDue();
  await commenter(configOf({ comments: ['other-owner', `${repository.owner}/other`] })).run();
  expect(await rows()).toMatchObject([{ outcome: 'not_kept', dueAt: null }]);
  await makeDue();
  await stores.postgres.pool.query(
    "update ci_insights.repositories set host_kind = 'github', host_url = $1 where name = $2",
    [`https://git.acme.example/${repository.owner}/${repository.name}`, repository.name],
  );
  // Settings are in memory for a second.
  const repositories = new RepositoryStore(stores.postgres.db, stores.clock);
  await commenterOn(repositories, configOf()).run();
  expect(await rows()).toMatchObject([{ outcome: 'elsewhere', dueAt: null }]);
  expect(host.changes).toEqual([]);
});

describe('when the host', () => {
  test.each([
    ['is away', () => new Response('bad gateway', { status: 502 }), 'GitHub refused (502)'],
    ['refuses the token', () => Response.json({ message: 'Bad credentials' }, { status: 401 }), 'Bad credentials'],
    ['hides the pull request', () => Response.json({ message: 'Not Found' }, { status: 404 }), 'Not Found'],
    ['finds it wrong', () => Response.json({ message: 'Validation Failed' }, { status: 422 }), 'Validation Failed'],
  ])('%s, nothing is lost: it is written once the host takes it', async (_, answer, reason) => {
    await ran(uniqueRepository(), FAILED);
    await makeDue();
    host.trouble = (request) => (request.method === 'POST' && !request.url.endsWith('graphql') ? answer() : undefined);
    await commenter().run();
    const [row] = await rows();
    expect(row).toMatchObject({ failures: 1, failure: expect.stringContaining(reason) });
    expect(row?.dueAt?.getTime()).toBeGreaterThan(Date.now() + 10_000);
    expect(await failingPulls(stores.postgres.db)).toEqual({ count: 1, reason: row?.failure ?? '' });
    expect(JSON.stringify(row)).not.toContain(HOST_TOKEN);
    host.trouble = () => undefined;
    await makeDue();
    await commenter().run();
    expect(host.own()).toHaveLength(1);
    expect(await rows()).toMatchObject([{ failures: 0, failure: null, dueAt: null }]);
    expect(await failingPulls(stores.postgres.db)).toEqual({ count: 0, reason: null });
  });

  test('limits requests, all wait as long as it says', async () => {
    for (let i = 0; i < 6; i++) await ran(uniqueRepository(), FAILED);
    await makeDue();
    let asked = 0;
    host.trouble = () => {
      asked++;
      return Response.json({ message: 'secondary rate limit' }, { status: 403, headers: { 'retry-after': '1800' } });
    };
    const one = commenter();
    await one.run();
    await one.run();
    // Four at once may have asked. The others wait without asking.
    expect(asked).toBeWithin(1, 5);
    const waiting = (await rows()).filter(({ failures }) => failures > 0);
    expect(waiting).toHaveLength(6);
    for (const { dueAt } of waiting) expect(dueAt?.getTime()).toBeGreaterThan(Date.now() + 1_700_000);
  });
});

test('an App writes with a token for the repository, and a wrong key is refused without showing it', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  host.app = { id: 'Iv1.abc', publicKey, now: () => TEST_NOW };
  const withApp = (appId: string) =>
    commenter(configOf({ hosts: [siteAt(host.origin, { credential: { appId, privateKey: pem } })] }));
  await ran(uniqueRepository(), FAILED);
  await makeDue();
  await withApp('other').run();
  const [row] = await rows();
  expect(row?.failure).toContain('HOST_APPS');
  expect(row?.failure).not.toContain('PRIVATE');
  await makeDue();
  await withApp('Iv1.abc').run();
  expect(host.own()).toHaveLength(1);
});

test('checks are kept of commits, also of those on which nothing fails', async () => {
  const checks = new ChecksHost();
  try {
    const hosts = [siteAt(checks.origin)];
    const repository = uniqueRepository();
    for (const [results, conclusion] of [
      [PASSED, 'success'],
      [FAILED, 'failure'],
    ] as const) {
      const commit = await ran(repository, [...results]);
      await makeDue();
      await commenter(configOf({ comments: [], checks: [repository.owner], hosts })).run();
      expect(checks.checks.at(-1)).toMatchObject({ head_sha: commit, conclusion });
    }
    expect(checks.checks).toHaveLength(2);
  } finally {
    await checks.stop();
  }
});
