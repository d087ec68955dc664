/** Details, statistics, failures and executions of tests, on executions that came in as a producer would send them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { failureIdOf, testIdOf } from '../../src/domain/identity.ts';
import { pullRequests } from '../../src/postgres/schema.ts';
import { linksOf, openTestApp, type TestApp } from '../support/http.ts';
import { InsightsFixture } from '../support/insights.ts';
import { TEST_NOW } from '../support/stores.ts';

const NAME = 'Cart > totals > sums [a, b] with 10% tax';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (hoursAgo: number): number => TEST_NOW - hoursAgo * HOUR;
const iso = (moment: number): string => new Date(moment).toISOString();

/** Hooks have 5 s unless told otherwise; a machine that is busy needs more. */
const HOOK_TIMEOUT_MS = 60_000;

let app: TestApp;
let fixture: InsightsFixture;
const failure = { type: 'AssertionError', message: 'expected 3 to equal 4', stacktrace: 'at cart.ts:12' };

beforeAll(async () => {
  app = await openTestApp();
  app.stores.clock.set(TEST_NOW);
  fixture = new InsightsFixture(app.stores);
  const { run } = fixture;
  const suite = run.bind(fixture);
  const meta = { framework: 'vitest', framework_version: '3.2.4', language: 'javascript', job_url: 'https://ci/1' };
  await fixture.ingest(
    suite([{ name: NAME, at: at(50), durationSeconds: 2 }], { ...meta, commit: 'a1' }),
    suite([{ name: NAME, at: at(40), durationSeconds: 4, status: 'failed', failures: [failure] }], {
      ...meta,
      commit: 'b2',
    }),
    suite(
      [
        {
          name: NAME,
          at: at(30),
          durationSeconds: 3,
          status: 'failed',
          failures: [{ ...failure, message: 'expected 7 to equal 9' }],
        },
      ],
      { commit: 'c3' },
    ),
    suite([{ name: NAME, at: at(5), durationSeconds: 1 }], { ...meta, commit: 'd4' }),
    suite([{ name: NAME, at: at(4), durationSeconds: 9, status: 'skipped' }], {
      ...meta,
      job_name: 'e2e',
      commit: 'd4',
    }),
    // Not on the default branch: in no insight.
    suite([{ name: NAME, at: at(3), status: 'failed', failures: [failure] }], { branch: 'feature' }),
    suite([{ name: NAME, at: at(3), status: 'failed', failures: [failure] }], { base_ref: 'main', pull_request: 7 }),
    suite([{ name: 'only in a pull request', at: at(3) }], { branch: 'feature' }),
    suite([{ name: 'only skipped', at: at(3), status: 'skipped' }]),
    suite([
      { name: 'flaky', at: at(2), isFlaky: true, failures: [{ message: null, type: null }] },
      { name: 'flaky', at: at(1.5), key: 'second' },
    ]),
  );
  await app.stores.postgres.db.insert(pullRequests).values([
    {
      repositoryId: fixture.id,
      number: 12,
      id: 9_007_199_254_740_991,
      title: 'Round totals',
      authorId: null,
      authorLogin: null,
      mergeCommit: 'b2',
    },
    {
      repositoryId: fixture.id,
      number: 13,
      id: 5,
      title: 'Another',
      authorId: 1,
      authorLogin: 'ann',
      mergeCommit: 'c3',
    },
  ]);
}, HOOK_TIMEOUT_MS);
afterAll(() => fixture.close(), HOOK_TIMEOUT_MS);

describe('details', () => {
  test('hold every field, as the default branch saw the test', async () => {
    const details = await app.get(fixture.test(NAME));
    expect(details).toEqual({
      repository: fixture.repository.name,
      test_name: NAME,
      test_id: testIdOf(fixture.id, NAME),
      health_status: 'broken',
      last_conclusion: 'skipped',
      failure_ratio: 0.5,
      flakiness_ratio: 0,
      success_ratio: 0.5,
      flaky_detection_enabled: true,
      first_failure_at: iso(at(40)),
      first_failure_commit: 'b2',
      first_failure_pull: {
        id: 9_007_199_254_740_991,
        number: 12,
        title: 'Round totals',
        user: { id: 10_137, login: 'ghost' },
      },
      last_failure_at: iso(at(30)),
      last_success_at: iso(at(5)),
      test_framework: 'vitest',
      test_framework_version: '3.2.4',
      test_programming_language: 'javascript',
      test_filepath: null,
      test_function_name: null,
    });
  });

  test('owner and repository are read without case and shown in canonical case', async () => {
    const shouted = fixture.test(NAME).replace(fixture.repository.name, fixture.repository.name.toUpperCase());
    expect(await app.get(shouted)).toMatchObject({ repository: fixture.repository.name });
  });

  test('a test that was only skipped is healthy, with ratios 0', async () => {
    expect(await app.get(fixture.test('only skipped'))).toMatchObject({
      health_status: 'healthy',
      last_conclusion: 'skipped',
      failure_ratio: 0,
      flakiness_ratio: 0,
      success_ratio: 0,
      first_failure_at: null,
      first_failure_commit: null,
      first_failure_pull: null,
      last_failure_at: null,
      last_success_at: null,
    });
  });

  test('a flaky execution counts in the flakiness ratio and as a success', async () => {
    expect(await app.get(fixture.test('flaky'))).toMatchObject({
      health_status: 'flaky',
      last_conclusion: 'passed',
      success_ratio: 1,
      failure_ratio: 0,
      flakiness_ratio: 0.5,
    });
  });

  test('a test nobody knows, and one seen only in a pull request, are 404', async () => {
    for (const name of ['nobody', 'only in a pull request'])
      for (const below of [
        '',
        '/failures',
        '/executions',
        '/stats/success_count',
        '/stats/flaky_count',
        '/stats/mean_duration',
      ])
        expect([below, (await app.request(fixture.test(name, below))).status]).toEqual([below, 404]);
  });

  test('ratios look at 30 days, and only at what was conclusive', async () => {
    app.stores.clock.set(TEST_NOW + 28 * DAY + 20 * HOUR);
    const details = await app.get(fixture.test(NAME));
    app.stores.clock.set(TEST_NOW);
    // The run 50 hours ago has left the window, the two failures and the last pass have not... 40 and 30 hours ago have.
    expect(details).toMatchObject({ success_ratio: 1, failure_ratio: 0, health_status: 'broken' });
  });
});

interface Series {
  value: number;
  value_over_time: { start: string; end: string; value: number }[];
  stat: string;
}

describe('statistics', () => {
  const window = { start: iso(at(60)), end: iso(TEST_NOW) };
  const stat = (name: string, which: string, query: Record<string, string> = window) =>
    app.get<Series>(fixture.test(name, `/stats/${which}`, query));

  test('counts add up to the value, bucket by bucket', async () => {
    for (const [which, value] of [
      ['success_count', 2],
      ['failure_count', 2],
      ['flaky_count', 0],
    ] as const) {
      const series = await stat(NAME, which);
      expect([series.stat, series.value]).toEqual([which, value]);
      expect(series.value_over_time.reduce((sum, bucket) => sum + bucket.value, 0)).toBe(value);
    }
    expect(await stat('flaky', 'flaky_count')).toMatchObject({ value: 1 });
    expect(await stat('flaky', 'success_count')).toMatchObject({ value: 2 });
  });

  test('the mean duration is in seconds over passed and failed, not a mean of means', async () => {
    const series = await stat(NAME, 'mean_duration');
    expect(series.value).toBeCloseTo((2 + 4 + 3 + 1) / 4, 9);
    expect(series.value_over_time.map(({ value }) => value).filter((value) => value > 0)).toEqual([2, 4, 3, 1]);
    expect(await stat('only skipped', 'mean_duration')).toMatchObject({ value: 0 });
  });

  test('buckets are whole, aligned to the epoch, without gaps, and cover the window', async () => {
    const { value_over_time: buckets } = await stat(NAME, 'success_count');
    const width = 4 * HOUR;
    expect(Date.parse(buckets[0]?.start ?? '')).toBe(Math.floor(at(60) / width) * width);
    expect(Date.parse(buckets.at(-1)?.end ?? '')).toBeGreaterThanOrEqual(TEST_NOW);
    for (const [i, bucket] of buckets.entries()) {
      expect(Date.parse(bucket.end) - Date.parse(bucket.start)).toBe(width);
      if (i > 0) expect(bucket.start).toBe(buckets[i - 1]?.end as string);
    }
  });

  test('the start of a window belongs to it, its end does not', async () => {
    expect(await stat(NAME, 'success_count', { start: iso(at(50)), end: iso(at(5)) })).toMatchObject({ value: 1 });
    expect(await stat(NAME, 'success_count', { start: iso(at(50) + 1), end: iso(at(5) + 1) })).toMatchObject({
      value: 1,
    });
    expect(await stat(NAME, 'success_count', { start: iso(at(50)), end: iso(at(5) + 1) })).toMatchObject({ value: 2 });
  });

  test('without a window it is the last day; with only a start the day after it', async () => {
    expect((await stat(NAME, 'success_count', {})).value).toBe(1);
    expect((await stat(NAME, 'success_count', { start: iso(at(50)) })).value).toBe(1);
    expect((await stat(NAME, 'failure_count', { end: iso(at(20)) })).value).toBe(2);
    const { value_over_time: buckets } = await stat(NAME, 'success_count', {});
    expect(buckets).toHaveLength(24);
  });

  test('a + that arrived as a space is read as +', async () => {
    const path = fixture.test(NAME, '/stats/success_count');
    const local = (moment: number) => `${iso(moment + HOUR).slice(0, 19)}+01:00`;
    expect(await app.get<Series>(`${path}?start=${local(at(50))}&end=${local(at(5) + 1_000)}`)).toMatchObject({
      value: 2,
    });
  });
});

interface Failures {
  failures: { id: string; failure_count: number; exception_message: string }[];
}

describe('failures', () => {
  test('are grouped by what they have in common, with the newest message and both times', async () => {
    const { failures } = await app.get<Failures>(fixture.test(NAME, '/failures'));
    expect(failures).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{14}5/),
        exception_type: 'AssertionError',
        exception_message: 'expected 7 to equal 9',
        failure_count: 2,
        first_failure_at: iso(at(40)),
        last_failure_at: iso(at(30)),
      },
    ] as never);
  });

  test('one of them shows its newest events first', async () => {
    const { failures } = await app.get<Failures>(fixture.test(NAME, '/failures'));
    const one = await app.get<{ latest_events: Record<string, unknown>[] }>(
      fixture.test(NAME, `/failures/${failures[0]?.id}`),
    );
    expect(one).toMatchObject({ ...failures[0] });
    expect(one.latest_events).toEqual([
      {
        id: expect.any(String),
        failed_at: iso(at(30)),
        exception_stacktrace: 'at cart.ts:12',
        test_filepath: null,
        test_programming_language: null,
        job_url: null,
      },
      {
        id: expect.any(String),
        failed_at: iso(at(40)),
        exception_stacktrace: 'at cart.ts:12',
        test_filepath: null,
        test_programming_language: 'javascript',
        job_url: 'https://ci/1',
      },
    ]);
  });

  test('a failure that reports no exception says so', async () => {
    const { failures } = await app.get<Failures>(fixture.test('flaky', '/failures'));
    expect(failures).toMatchObject([
      { exception_type: 'unknown', exception_message: '(none reported)', failure_count: 1 },
    ]);
  });

  test('a test without failures has an empty list; an unknown failure is 404, also one of another test', async () => {
    expect(await app.get(fixture.test('only skipped', '/failures'))).toEqual({ failures: [] });
    const { failures } = await app.get<Failures>(fixture.test(NAME, '/failures'));
    expect((await app.request(fixture.test('flaky', `/failures/${failures[0]?.id}`))).status).toBe(404);
    const unknown = failureIdOf(testIdOf(fixture.id, NAME), 1, 'nothing', 'like it');
    expect((await app.request(fixture.test(NAME, `/failures/${unknown}`))).status).toBe(404);
  });
});

interface Executions {
  size: number;
  per_page: number;
  executions: { job_name: string; pipeline_name: string; executions_count: number }[];
}

describe('executions', () => {
  test('count per pipeline and job in the window, skipped ones too', async () => {
    const query = { start: iso(at(60)), end: iso(TEST_NOW) };
    const identity = { test_id: testIdOf(fixture.id, NAME), test_name: NAME, pipeline_name: 'CI' };
    expect(await app.get<Executions>(fixture.test(NAME, '/executions', query))).toEqual({
      size: 2,
      per_page: 10,
      executions: [
        { ...identity, job_name: 'unit', executions_count: 4 },
        { ...identity, job_name: 'e2e', executions_count: 1 },
      ] as Executions['executions'],
    });
    const byJob = await app.get<Executions>(fixture.test(NAME, '/executions', { ...query, sort: 'job_name' }));
    expect(byJob.executions.map(({ job_name }) => job_name)).toEqual(['e2e', 'unit']);
    const counted = await app.get<Executions>(fixture.test(NAME, '/executions', { ...query, direction: 'asc' }));
    expect(counted.executions.map(({ job_name }) => job_name)).toEqual(['e2e', 'unit']);
  });

  test('a window without any is an empty list, in any year', async () => {
    for (const query of [
      { start: '2001-01-01T00:00:00Z' },
      { start: '0001-01-01T00:00:00Z', end: '2001-01-01T00:00:00Z' },
      { start: '9998-01-01T00:00:00Z', end: '9999-12-31T23:59:59Z' },
    ] as Record<string, string>[])
      expect(await app.get<Executions>(fixture.test(NAME, '/executions', query))).toEqual({
        size: 0,
        per_page: 10,
        executions: [],
      });
    const all = { start: '0001-01-01T00:00:00Z', end: '9999-12-31T23:59:59Z' };
    expect((await app.get<Executions>(fixture.test(NAME, '/executions', all))).size).toBe(2);
  });

  test('the window that defaulted to now does not move between pages', async () => {
    const first = await app.request(fixture.test(NAME, '/executions', { per_page: '1' }));
    app.stores.clock.set(TEST_NOW + 30 * DAY);
    const { next = '', last = '' } = linksOf(first);
    const page = await app.get<Executions>(next);
    const end = await app.get<Executions>(last);
    app.stores.clock.set(TEST_NOW);
    expect(page).toMatchObject({ size: 1, per_page: 1, executions: [{ job_name: 'unit' }] });
    expect(end).toEqual(page);
  });
});
