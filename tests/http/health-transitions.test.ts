/** When tests became flaky, broken or healthy, as runs arrive, in order and late. */
import { expect, test } from 'bun:test';
import { pullRequests } from '../../src/postgres/schema.ts';
import { TEST_NOW } from '../support/clock.ts';
import { at, beside, type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

interface Transitions {
  transitions: { at: string; health_status: string; exception_type: string | null; pull_request: unknown }[];
  first_activity_at: string | null;
}

const failed = (hoursAgo: number, type: string): TestExecution[] => [
  { name: 'sums', status: 'failed', at: at(hoursAgo), failures: [{ type, message: 'no' }] },
  ...beside(hoursAgo),
];
const passed = (hoursAgo: number): TestExecution[] => [{ name: 'sums', at: at(hoursAgo) }, ...beside(hoursAgo)];

const insights = setUpInsights(async (fixture: InsightsFixture) => {
  const run = fixture.run.bind(fixture);
  await fixture.ingest(...Array.from({ length: 9 }, (_, i) => run(passed(100 - i))));
  await fixture.ingest(run(failed(90, 'TypeError'), { commit: 'broke' }));
  await fixture.ingest(run(failed(85, 'TypeError'), { commit: 'broke' }));
  await fixture.ingest(run(passed(80)), run(passed(79)));
  await fixture.ingest(run(failed(50, 'TimeoutError'), { commit: 'f1' }));
  await fixture.ingest(run(passed(49), { commit: 'f1' }));
  await fixture.stores.postgres.db.insert(pullRequests).values([
    {
      repositoryId: fixture.id,
      number: 12,
      id: 7,
      title: 'Round',
      authorId: 1,
      authorLogin: 'ann',
      mergeCommit: 'broke',
    },
  ]);
});
const read = (query: Record<string, string> = { start: iso(at(24 * 40)), end: iso(TEST_NOW) }) =>
  insights.app.get<Transitions>(insights.fixture.test('sums', '/health-transitions', query));

const EXPECTED = [
  {
    at: iso(at(85)),
    health_status: 'broken',
    exception_type: 'TypeError',
    pull_request: { id: 7, number: 12, title: 'Round', user: { id: 1, login: 'ann' } },
  },
  { at: iso(at(80)), health_status: 'healthy', exception_type: null, pull_request: null },
  { at: iso(at(50)), health_status: 'flaky', exception_type: 'TimeoutError', pull_request: null },
];

test('are oldest first, with the exception and the pull request of the failure that began it', async () => {
  expect(await read()).toEqual({ transitions: EXPECTED, first_activity_at: iso(at(100)) });
});

test('are those of the window, which is a day by default', async () => {
  expect((await read({})).transitions).toEqual([]);
  expect((await read({ start: iso(at(90)), end: iso(at(50)) })).transitions).toEqual(EXPECTED.slice(0, 2));
});

test('a run that arrives late rewrites what followed it', async () => {
  await insights.fixture.ingest(insights.fixture.run(passed(84)), insights.fixture.run(passed(83)));
  const { transitions } = await read();
  expect(transitions.map(({ health_status, at: when }) => [health_status, when])).toEqual([
    ['broken', iso(at(85))],
    ['healthy', iso(at(84))],
    ['flaky', iso(at(50))],
  ]);
});

test('name the first of the failures in a row by which a flaky test became broken', async () => {
  const run = (executions: TestExecution[], commit: string) =>
    insights.fixture.run(
      executions.map((one) => (one.name === 'sums' ? { ...one, name: 'lasts' } : one)),
      { commit },
    );
  await insights.fixture.ingest(
    run(passed(32), 'l'),
    run(failed(31, 'SocketError'), 'l0'),
    run(passed(30.5), 'l0'),
    run(failed(30, 'SocketError'), 'l1'),
    run(passed(29), 'l1'),
    ...Array.from({ length: 12 }, (_, i) => run(passed(28 - i / 2), `l2 ${i}`)),
    run(failed(20, 'RangeError'), 'l3'),
  );
  await insights.fixture.ingest(
    run(failed(19, 'SyntaxError'), 'l3'),
    run(failed(18, 'TypeError'), 'l4'),
    ...Array.from({ length: 6 }, (_, i) => run(failed(17 - i, 'EvalError'), `l5 ${i}`)),
  );
  await insights.fixture.stores.postgres.db.insert(pullRequests).values(
    ['l3', 'l5 0'].map((mergeCommit, i) => ({
      repositoryId: insights.fixture.id,
      number: 20 + i,
      id: 20 + i,
      title: 'Last',
      authorId: 1,
      authorLogin: 'ann',
      mergeCommit,
    })),
  );
  const { transitions } = await insights.app.get<Transitions>(
    insights.fixture.test('lasts', '/health-transitions', { start: iso(at(24 * 40)), end: iso(TEST_NOW) }),
  );
  expect(transitions).toMatchObject([
    { health_status: 'flaky', exception_type: 'SocketError', pull_request: null },
    { health_status: 'broken', exception_type: 'RangeError', pull_request: { number: 20 } },
  ]);
});

test('of an unknown test are 404', async () => {
  expect((await insights.app.request(insights.fixture.test('never ran', '/health-transitions'))).status).toBe(404);
});
