/** Statistics of a repository: what its days showed, as runs arrive, in order and late. */
import { expect, test } from 'bun:test';
import { TEST_NOW } from '../support/clock.ts';
import { beside, type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';
import type { TestExecution, TestJob } from '../support/jobs.ts';

interface Series {
  stat: string;
  value: number;
  value_over_time: { start: string; end: string; value: number }[];
}

const DAY_MS = 86_400_000;
const MIDNIGHT = Math.floor(TEST_NOW / DAY_MS) * DAY_MS;
/** Noon of the day so many days ago. */
const daysAgo = (days: number): number => MIDNIGHT - days * DAY_MS + (days === 0 ? 1 : DAY_MS / 2);
const passed = (name: string, days: number): TestExecution => ({ name, at: daysAgo(days) });
const failed = (name: string, days: number, type = 'Error'): TestExecution => ({
  ...passed(name, days),
  status: 'failed',
  failures: [{ type, message: 'no' }],
});

const run = (fixture: InsightsFixture, execution: TestExecution, settings: TestJob['run'] = {}) =>
  fixture.run([execution, ...beside((TEST_NOW - (execution.at ?? TEST_NOW)) / 3_600_000)], settings);
const later = (execution: TestExecution, by: number): TestExecution => ({
  ...execution,
  at: (execution.at ?? 0) + by,
});

const insights = setUpInsights(async (fixture) => {
  const of = (...executions: TestExecution[]) => executions.map((one) => run(fixture, one));
  await fixture.ingest(...of(passed('old', 19), passed('steady', 13), passed('steady', 1)));
  await fixture.ingest(run(fixture, passed('steady', 1), { job_name: 'e2e' }));
  // Broken on day 6, recovered on day 4, and flaky on day 0.
  const known = Array.from({ length: 9 }, (_, i) => i - 9);
  await fixture.ingest(...of(...known.map((by) => later(passed('turns', 7), by))));
  await fixture.ingest(...[0, 1].map((by) => run(fixture, later(failed('turns', 6), by), { commit: 'broke' })));
  await fixture.ingest(...of(passed('turns', 4), later(passed('turns', 4), 1)));
  await fixture.ingest(...of(failed('turns', 0, 'OtherError')));
  // Flaky on day 3.
  const inJob = (execution: TestExecution, commit: string) => run(fixture, execution, { commit, job_name: 'e2e' });
  await fixture.ingest(...known.map((by) => inJob(later(passed('shakes', 3), by), `calm ${by}`)));
  for (const [commit, by] of [
    ['one', 0],
    ['other', 2],
  ] as const)
    await fixture.ingest(
      inJob(later(failed('shakes', 3), by), commit),
      inJob(later(passed('shakes', 3), by + 1), commit),
    );
  await fixture.ingest(
    run(fixture, { name: 'only skipped', at: daysAgo(2), status: 'skipped' }),
    run(fixture, failed('steady', 2), { branch: 'feature' }),
  );
});

const read = (stat: string, query: Record<string, string> = {}) =>
  insights.app.get<Series>(
    `${insights.fixture.base}/tests/stats/${stat}?${new URLSearchParams([...Object.entries(query), ['test_name_exclude', 'beside *']])}`,
  );
const valuesOf = async (stat: string, query: Record<string, string> = {}): Promise<number[]> =>
  (await read(stat, query)).value_over_time.map(({ value }) => value);

test('are a series of 14 days in UTC, the current one included', async () => {
  const { stat, value_over_time: days } = await read('total_tests');
  expect(stat).toBe('total_tests');
  expect(days.map(({ start, end }) => [start, end])).toEqual(
    Array.from({ length: 14 }, (_, i) => [iso(MIDNIGHT - (13 - i) * DAY_MS), iso(MIDNIGHT - (12 - i) * DAY_MS)]),
  );
});

//                 13 days ago                             today
const EXPECTED = {
  total_tests: [2, 2, 2, 2, 2, 2, 3, 3, 2, 2, 3, 3, 3, 3],
  healthy_tests: [2, 2, 2, 2, 2, 2, 3, 2, 1, 2, 2, 2, 2, 1],
  flaky_tests: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2],
  broken_tests: [0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0],
  failed_executions: [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 2, 0, 0, 1],
};

test('tests count in the health they had on each day, from their first run until two weeks after the last', async () => {
  for (const [stat, values] of Object.entries(EXPECTED)) expect([stat, await valuesOf(stat)]).toEqual([stat, values]);
});

test('the value is that of today, and of all days for failed executions', async () => {
  const values = await Promise.all(Object.keys(EXPECTED).map(async (stat) => (await read(stat)).value));
  expect(values).toEqual([3, 1, 2, 0, 5]);
});

test('filters and exclusions select tests as the search does', async () => {
  const total = async (query: Record<string, string>) => (await read('total_tests', query)).value;
  expect(await total({ test_name: 's*' })).toBe(2);
  expect(await total({ test_name: 'turns' })).toBe(1);
  expect(await total({ test_name_exclude: 's*' })).toBe(1);
  expect(await total({ job_name: 'e2e' })).toBe(2);
  expect(await total({ job_name_exclude: 'e2e' })).toBe(2);
  expect(await total({ pipeline_name: 'never' })).toBe(0);
  expect(await total({ failed_executions_impact: 'low' })).toBe(2);
  expect(await total({ failed_executions_impact_exclude: 'low' })).toBe(1);
  expect(await total({ health_confidence: 'low' })).toBe(1);
  expect(await total({ health_confidence_exclude: 'low' })).toBe(2);
});

test('a run that arrives late changes the days that it belongs to', async () => {
  await insights.fixture.ingest(insights.fixture.run([passed('early', 12), passed('turns', 9)]));
  // A selection that no one has asked for yet: answers are kept for ten seconds.
  expect(await valuesOf('total_tests', { test_name: '*' })).toEqual([2, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 4, 4]);
});

test('without filters, are those that a count of every test gives', async () => {
  const { base } = insights.fixture;
  for (const stat of Object.keys(EXPECTED)) {
    const kept = await insights.app.get<Series>(`${base}/tests/stats/${stat}`);
    // A filter that leaves nothing out.
    expect(kept).toEqual(await insights.app.get<Series>(`${base}/tests/stats/${stat}?job_name_exclude=never`));
    expect(Math.max(...kept.value_over_time.map(({ value }) => value))).toBeGreaterThan(0);
  }
});

test('of a repository without uploads are zero, and of an unknown name are 422', async () => {
  const { owner } = insights.fixture.repository;
  const nothing = await insights.app.get<Series>(`/v1/ci/${owner}/repositories/unheard-of/tests/stats/total_tests`);
  expect([nothing.value, nothing.value_over_time.length]).toEqual([0, 14]);
  const unknown = await insights.app.request(`${insights.fixture.base}/tests/stats/mean_duration`);
  expect(unknown.status).toBe(422);
  expect(await unknown.json()).toMatchObject({ errors: [{ loc: ['path', 'stat'] }] });
});
