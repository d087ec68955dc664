/** How far the setting-up of a repository is: each step is told once it has happened, and not before. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { parseCiRules } from '../../src/domain/ci-rules.ts';
import type { Setup } from '../../src/insights/setup.ts';
import { junitReport, Uploads } from '../support/gateway.ts';
import { openTestApp } from '../support/http.ts';
import { until } from '../support/patience.ts';

let uploads: Uploads;
beforeAll(async () => {
  uploads = await Uploads.open();
});
afterAll(() => uploads.close());

const NOTHING = { pull_request: null, default_branch: null, other_branch: null, gate: null, identity_tokens: [] };
const XML = junitReport([{ name: 'sums' }]);

const setupOf = (base: string): Promise<Setup> => uploads.app.get<Setup>(`${base}/setup`);

/** What is noted outside of a request shows soon. */
const untilSetUp = (base: string, isThere: (setup: Setup) => boolean): Promise<Setup> =>
  until(() => setupOf(base), isThere);

test('a repository of which nothing has arrived has no step behind it', async () => {
  const { base, name } = uploads.repository();
  const elsewhere = await uploads.app.makeKey({ owner: 'elsewhere', scope: 'upload' });
  const viewing = await uploads.app.makeKey({ owner: 'acme', repositories: [name], scope: 'view' });
  for (const token of [elsewhere, viewing]) await uploads.app.request(`${base}/setup`, { token });
  expect((await uploads.app.request(`${base}/setup`, { token: elsewhere })).status).toBe(403);
  // Keys of other tests may be for every repository.
  const { key: _, ...others } = await setupOf(base);
  expect(others).toEqual(NOTHING);
});

test('a key that may send reports counts once it is used, for its repositories only', async () => {
  const { base, owner, name } = uploads.repository();
  const other = uploads.repository();
  // Keys of other tests may be for every repository.
  const { key: ofOthers } = await setupOf(other.base);
  const token = await uploads.app.makeKey({ owner, repositories: [name.toUpperCase()], scope: 'upload' });
  await uploads.app.request(`${base}/setup`, { token });
  const used = await untilSetUp(base, ({ key }) => key !== null);
  expect(used.key).toEqual({ at: expect.any(String), is_identity_token: false });
  expect((await setupOf(other.base)).key).toEqual(ofOthers);
});

test('reports of pull requests, of the default branch and of others are told apart, each by its newest run', async () => {
  const { base } = uploads.repository();
  await uploads.store(base, XML, { run_id: '1', branch: 'main', commit: 'c1' });
  const main = {
    ...{ at: expect.any(String), pipeline_name: 'CI', job_name: 'unit', branch: 'main', commit_sha: 'c1' },
    pull_request: null,
  };
  expect(await setupOf(base)).toMatchObject({ default_branch: main, pull_request: null, other_branch: null });
  await uploads.store(base, XML, {
    run_id: '2',
    branch: 'feature/tax',
    base_ref: 'main',
    pull_request: '7',
    commit: 'p1',
  });
  await uploads.store(base, XML, { run_id: '3', branch: 'wip', commit: 'w1', job_name: 'e2e' });
  expect(await setupOf(base)).toMatchObject({
    default_branch: main,
    pull_request: { pull_request: 7, branch: 'feature/tax', commit_sha: 'p1' },
    other_branch: { pull_request: null, branch: 'wip', job_name: 'e2e' },
    gate: null,
  });
});

test('imported results are not sent by CI, and what it sends later counts for itself', async () => {
  const { base } = uploads.repository();
  const past = { arrived_at: new Date(uploads.app.stores.clock.now() - 60_000).toISOString() };
  const pull = { branch: 'feature/tax', base_ref: 'main', pull_request: '7' };
  await uploads.store(base, XML, { ...past, run_id: '1', branch: 'main', commit: 'c1' });
  await uploads.store(base, XML, { ...past, ...pull, run_id: '2', commit: 'p1' });
  await uploads.store(base, XML, { ...past, run_id: '3', branch: 'wip', commit: 'w1' });
  expect(await uploads.app.get(`${base}/runs`)).toMatchObject({ runs: { length: 3 } });
  expect(await setupOf(base)).toMatchObject({ default_branch: null, pull_request: null, other_branch: null });
  await uploads.store(base, XML, { ...pull, run_id: '4', commit: 'p2' });
  expect(await setupOf(base)).toMatchObject({
    ...{ default_branch: null, other_branch: null },
    pull_request: { pull_request: 7, commit_sha: 'p2' },
  });
});

test('the gate has run once it sent reports of a repository that is known', async () => {
  const { base } = uploads.repository();
  const send = (agent: string, run: string) =>
    uploads.app.request(`${base}/junit?pipeline_name=CI&job_name=unit&branch=main&run_id=${run}`, {
      method: 'POST',
      headers: { 'content-type': 'application/xml', 'user-agent': agent },
      body: XML,
    });
  await uploads.store(base, XML, { run_id: '1' });
  for (const agent of ['ci-insights/1.0.0', 'curl/8 gate', 'ci-insights/1.0.0 gatekeeper'])
    expect((await send(agent, '2')).status).toBe(202);
  await uploads.driver.settle();
  expect((await setupOf(base)).gate).toBeNull();
  expect((await send('ci-insights/1.0.0 gate', '3')).status).toBe(202);
  expect((await untilSetUp(base, ({ gate }) => gate !== null)).gate).toEqual({ at: expect.any(String) });
});

test('the kinds of CI whose jobs need no key are those that a rule lets in for this repository', async () => {
  const issuers = [
    { name: 'github', kind: 'github', url: 'https://token.actions.githubusercontent.com' },
    { name: 'own', kind: 'gitlab', url: 'https://gitlab.acme.example' },
  ] as const;
  const rules = parseCiRules('github:acme upload *; own:platform upload acme/shop') ?? [];
  const app = await openTestApp({ ciTokens: { issuers, rules, audiences: [] } });
  const kindsOf = async (path: string) =>
    (await app.get<Setup>(`/v1/ci/${path.replace('/', '/repositories/')}/setup`)).identity_tokens;
  expect(await kindsOf('acme/shop')).toEqual(['github', 'gitlab']);
  expect(await kindsOf('acme/other')).toEqual(['github']);
  expect(await kindsOf('elsewhere/shop')).toEqual([]);
});
