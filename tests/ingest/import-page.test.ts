/** Imports that are started over HTTP, from servers that answer as GitHub and GitLab do, into real stores. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/domain/time.ts';
import type { RepositoryImportState } from '../../src/imports/routes.ts';
import { FakeGithub } from '../support/github-actions.ts';
import { FakeGitlab } from '../support/gitlab-ci.ts';
import { setUpIngest } from '../support/ingest.ts';
import { pastOf } from '../support/past.ts';
import { until } from '../support/patience.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';
import { uniqueRepository } from '../support/stores.ts';

const ingest = setUpIngest();
const repository = uniqueRepository();
const path = `${repository.owner}/${repository.name}`;
const ADDRESS = `/v1/ci/${repository.owner}/repositories/${repository.name}/import`;
/** The command counts days by the clock of the machine. */
const NOW = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const SINCE = new Date(NOW - 10 * DAY_MS).toISOString();
const NESTED = `${repository.owner}/web/${repository.name}`;
const OF_GITLAB = `/v1/ci/gitlab--${repository.owner}/repositories/web.${repository.name}`;
let github: FakeGithub;
let gitlab: FakeGitlab;
let app: ServiceApp;
beforeAll(async () => {
  github = new FakeGithub(path, pastOf({ seed: 7, until: NOW - DAY_MS, days: 5 }));
  gitlab = new FakeGitlab(NESTED, pastOf({ seed: 8, until: NOW - DAY_MS, days: 3 }));
  app = await openServiceApp({ apiUrls: { github: github.url, gitlab: gitlab.url } });
  ingest.stores.clock.set(NOW + DAY_MS);
  ingest.driver.watch(repository);
});
afterAll(async () => {
  await app.stop();
  await Promise.all([github.stop(), gitlab.stop()]);
});

const start = (body: Record<string, unknown> = {}, token?: string) =>
  app.request(ADDRESS, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ host: 'github', token: 'gh-token', since: SINCE, ...body }),
    ...(token !== undefined && { token }),
  });
const state = (address = ADDRESS) => app.get<RepositoryImportState>(address);

const untilImport = (isThere: (found: RepositoryImportState['import']) => boolean, address = ADDRESS) =>
  until(async () => {
    await ingest.driver.settle();
    return (await state(address)).import;
  }, isThere);

test('nothing was imported at first, and the answer says from where it can be', async () => {
  expect(await state()).toEqual({
    import: null,
    hosts: [
      { name: 'github', kind: 'github', source: path, token_needs: expect.any(String) },
      { name: 'gitlab', kind: 'gitlab', source: path, token_needs: expect.any(String) },
    ],
  });
  const { hosts } = await state(`${OF_GITLAB}/import`);
  // Its own host is first, and knows it by its owner there.
  expect(hosts.map(({ name, source }) => [name, source])).toEqual([
    ['gitlab', `${repository.owner}/web.${repository.name}`],
    ['github', `gitlab--${repository.owner}/web.${repository.name}`],
  ]);
});

test('only who administers the repository starts one, of a host that is configured, from a time in the past', async () => {
  const upload = await app.makeKey({ owner: repository.owner, scope: 'upload' });
  expect((await start({}, upload)).status).toBe(403);
  for (const wrong of [{ host: 'elsewhere' }, { since: '2999-01-01T00:00:00Z' }, { token: '' }, { source: 'shop' }])
    expect([wrong, (await start(wrong)).status]).toEqual([wrong, 422]);
  expect((await app.request(ADDRESS, { method: 'DELETE' })).status).toBe(404);
});

test('a token that the host refuses is told with what to do, and is in no answer', async () => {
  expect((await start({ token: 'a-wrong-token' })).status).toBe(202);
  const failed = await untilImport((found) => found?.status === 'failed');
  expect(failed?.failure).toContain('401');
  expect(JSON.stringify(await state())).not.toContain('a-wrong-token');
});

test('one that is cut off says so, continues with the token, and ends with a receipt of what was taken', async () => {
  github.trouble.push({
    part: '/actions/runs',
    answer: () => new Response('', { status: 503, headers: { 'retry-after': '30' } }),
  });
  expect((await start()).status).toBe(202);
  expect((await start()).status).toBe(409);
  const waiting = await untilImport((found) => found?.progress.waiting_for != null);
  expect(waiting?.status).toBe('running');
  const cancelled = await app.request(ADDRESS, { method: 'DELETE' });
  expect([cancelled.status, (await state()).import?.status]).toEqual([200, 'cancelled']);
  github.trouble.length = 0;
  expect((await start({ since: null })).status).toBe(202);
  const done = await untilImport((found) => found?.status !== 'running');
  expect(done).toMatchObject({ id: waiting?.id, status: 'finished', failure: null });
  expect(done?.receipt?.reports.stored).toBeGreaterThan(20);
  expect(done?.progress.share).toBeLessThanOrEqual(1);
  const { tests } = await app.get<{ tests: unknown[] }>(`${ADDRESS.replace('/import', '')}/search/tests?per_page=100`);
  expect(tests.length).toBeGreaterThan(20);
  const audit = JSON.stringify(await app.get('/v1/audit?per_page=100'));
  expect(audit).toContain('import.start');
  expect(audit).not.toContain('gh-token');
});

test('one whose process is gone is interrupted after a while, and may be started again', async () => {
  await app.stores.postgres.pool.query(
    "update ci_insights.imports set status = 'running', seen_at = $1 where path = $2",
    [new Date(app.stores.clock.now()), path.toLowerCase()],
  );
  expect([(await state()).import?.status, (await start()).status]).toEqual(['running', 409]);
  app.stores.clock.set(app.stores.clock.now() + 21_000);
  expect((await state()).import?.status).toBe('interrupted');
  const { import: before } = await state();
  expect((await start({ since: null })).status).toBe(202);
  const again = await untilImport((found) => found?.status === 'finished');
  expect(again?.id).toBe(before?.id);
});

test('the credential of an import is for its repository, and ends with it', async () => {
  for (const token of ['cim_', `cim_${'a'.repeat(43)}`]) {
    const answer = await app.request(ADDRESS, { token });
    expect(answer.status).toBe(403);
  }
});

test('GitLab is imported by the same operations, from a project in a group within a group', async () => {
  ingest.driver.watch({ owner: `gitlab--${repository.owner}`, name: `web.${repository.name}` });
  const answer = await app.request(`${OF_GITLAB}/import`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ host: 'gitlab', source: NESTED, token: 'glpat-of-the-test', since: SINCE }),
  });
  expect(answer.status).toBe(202);
  const done = await untilImport((found) => found?.status !== 'running', `${OF_GITLAB}/import`);
  expect(done).toMatchObject({ status: 'finished', host: 'gitlab', source: NESTED, failure: null });
  expect(done?.receipt?.executions.accepted).toBeGreaterThan(100);
});
