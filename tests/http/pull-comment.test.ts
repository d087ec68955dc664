/** On which commit the comment of a pull request was there, as jobs say that write it themselves. */
import { beforeAll, expect, test } from 'bun:test';
import { boundsOfKey } from '../../src/domain/report-bounds.ts';
import { pullComments } from '../../src/postgres/schema.ts';
import { at, setUpInsights } from '../support/insights.ts';

const insights = await setUpInsights();
const PULL = { branch: 'feature', base_ref: 'main', pull_request: 7, commit: 'own' };
beforeAll(() => insights.fixture.ingest(insights.fixture.run([{ name: 'adds tax', at: at(1) }], PULL)));

const say = (number: number, body: object, token?: string, base = insights.fixture.base) =>
  insights.app.request(`${base}/pulls/${number}/comment`, {
    ...{ method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    ...(token !== undefined && { token }),
  });
const commented = async () =>
  (await insights.app.get<{ commented_commit: string | null }>(`${insights.fixture.base}/pulls/7`)).commented_commit;

test('the pull request has the commit that was named last, and nothing becomes due', async () => {
  expect(await commented()).toBeNull();
  for (const commit_sha of ['own', 'own', 'next']) {
    const said = await say(7, { commit_sha });
    expect([said.status, await said.json(), await commented()]).toEqual([
      200,
      { commented_commit: commit_sha },
      commit_sha,
    ]);
  }
  const rows = await insights.app.stores.postgres.db.select().from(pullComments);
  expect(rows.map(({ number, dueAt }) => ({ number, dueAt }))).toEqual([{ number: 7, dueAt: null }]);
});

test('a job speaks of its pull request, commit and branch', async () => {
  const { app } = insights;
  await say(7, { commit_sha: 'own' });
  const release = await app.makeKey({ scope: 'upload', bounds: boundsOfKey(false, ['release/*']) });
  const signed = await app.makeKey({
    ...{ scope: 'upload' as const },
    bounds: { pull_requests_only: true, branches: null, is_confined: true, run: { commit: 'other', pull_request: 8 } },
  });
  const view = await app.makeKey({ scope: 'view' });
  const refused = [
    await say(7, { commit_sha: 'other' }, release),
    await say(7, { commit_sha: 'other' }, signed),
    await say(8, { commit_sha: 'own' }, signed),
    await say(7, { commit_sha: 'other' }, view),
  ];
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  expect(await commented()).toBe('own');
  expect((await say(8, { commit_sha: 'other' }, signed)).status).toBe(200);
  expect((await say(7, { commit_sha: 'next', branch: 'release/1' }, release)).status).toBe(200);
  expect(await commented()).toBe('next');
});

test('nothing is noted of a repository that is not known', async () => {
  const said = await say(7, { commit_sha: 'own' }, undefined, '/v1/ci/acme/repositories/nothing-has-arrived');
  expect([said.status, await said.text()]).toEqual([404, expect.stringContaining('pull request 7')]);
});
