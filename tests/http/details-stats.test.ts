/** Details and statistics of tests that were ingested as a producer would send them. */
import { describe, expect, test } from 'bun:test';
import { testIdOf } from '../../src/domain/identity.ts';
import { TEST_NOW } from '../support/clock.ts';
import { at, ingestHistory, iso, NAME, setUpInsights } from '../support/insights.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const insights = setUpInsights(ingestHistory);

describe('details', () => {
  test('hold every field, as seen on the default branch', async () => {
    const details = await insights.app.get(insights.fixture.test(NAME));
    expect(details).toEqual({
      repository: insights.fixture.repository.name,
      test_name: NAME,
      test_id: testIdOf(insights.fixture.id, NAME),
      health_status: 'flaky',
      is_active: true,
      health_confidence: 'medium',
      health_probability: 0.899,
      has_enough_runs: true,
      last_conclusion: 'skipped',
      skipped_since: null,
      failure_ratio: 0.5,
      flakiness_ratio: 0.5,
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
      reproduce: null,
      owners: [],
      legs: [
        {
          ...{
            pipeline_name: 'CI',
            job_name: 'unit',
            axes: {},
            health_status: 'flaky',
            is_active: true,
            skipped_since: null,
          },
          ...{ executions: 4, failed_executions: 2, last_failure_at: iso(at(30)), last_success_at: iso(at(5)) },
          // Two passed, in 2 s and in 1 s.
          ...{ median_seconds: 2, p95_seconds: 2, grown_since: null },
        },
        {
          ...{
            pipeline_name: 'CI',
            job_name: 'e2e',
            axes: {},
            health_status: 'healthy',
            is_active: false,
            skipped_since: null,
          },
          ...{ executions: 0, failed_executions: 0, last_failure_at: null, last_success_at: null },
          ...{ median_seconds: null, p95_seconds: null, grown_since: null },
        },
      ],
    });
  });

  test('owner and repository are case-insensitive and shown in canonical case', async () => {
    const shouted = insights.fixture
      .test(NAME)
      .replace(insights.fixture.repository.name, insights.fixture.repository.name.toUpperCase());
    expect(await insights.app.get(shouted)).toMatchObject({ repository: insights.fixture.repository.name });
  });

  test('a test that was only skipped is healthy, with ratios of 0', async () => {
    expect(await insights.app.get(insights.fixture.test('only skipped'))).toMatchObject({
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

  test('a flaky execution counts towards flakiness and as a success', async () => {
    expect(await insights.app.get(insights.fixture.test('flaky'))).toMatchObject({
      last_conclusion: 'passed',
      success_ratio: 1,
      failure_ratio: 0,
      flakiness_ratio: 0.5,
    });
  });

  test('an unknown test, and one seen only in a pull request, are 404', async () => {
    for (const name of ['nobody', 'only in a pull request'])
      for (const below of [
        '',
        '/failures',
        '/executions',
        '/stats/success_count',
        '/stats/flaky_count',
        '/stats/mean_duration',
      ])
        expect([below, (await insights.app.request(insights.fixture.test(name, below))).status]).toEqual([below, 404]);
  });

  test('ratios cover 30 days, and only passed and failed executions', async () => {
    insights.app.stores.clock.set(TEST_NOW + 28 * DAY + 20 * HOUR);
    const details = await insights.app.get(insights.fixture.test(NAME));
    insights.app.stores.clock.set(TEST_NOW);
    // The run of 50 hours ago has left the window.
    expect(details).toMatchObject({ success_ratio: 1, failure_ratio: 0, health_status: 'flaky' });
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
    insights.app.get<Series>(insights.fixture.test(name, `/stats/${which}`, query));

  test('counts add up to the value, bucket by bucket', async () => {
    for (const [which, value] of [
      ['success_count', 2],
      ['failure_count', 2],
      ['flaky_count', 2],
    ] as const) {
      const series = await stat(NAME, which);
      expect([series.stat, series.value]).toEqual([which, value]);
      expect(series.value_over_time.reduce((sum, bucket) => sum + bucket.value, 0)).toBe(value);
    }
    expect(await stat('flaky', 'flaky_count')).toMatchObject({ value: 1 });
    expect(await stat('flaky', 'success_count')).toMatchObject({ value: 2 });
  });

  test('the mean duration is in seconds over passed and failed executions, not a mean of means', async () => {
    const series = await stat(NAME, 'mean_duration');
    expect(series.value).toBeCloseTo((2 + 4 + 3 + 1) / 4, 9);
    expect(series.value_over_time.map(({ value }) => value).filter((value) => value > 0)).toEqual([2, 4, 3, 1]);
    expect(await stat('only skipped', 'mean_duration')).toMatchObject({ value: 0 });
  });

  test('buckets are whole, aligned to the epoch and without gaps, and cover the window', async () => {
    const { value_over_time: buckets } = await stat(NAME, 'success_count');
    const width = 4 * HOUR;
    expect(Date.parse(buckets[0]?.start ?? '')).toBe(Math.floor(at(60) / width) * width);
    expect(Date.parse(buckets.at(-1)?.end ?? '')).toBeGreaterThanOrEqual(TEST_NOW);
    for (const [i, bucket] of buckets.entries()) {
      expect(Date.parse(bucket.end) - Date.parse(bucket.start)).toBe(width);
      if (i > 0) expect(bucket.start).toBe(buckets[i - 1]?.end as string);
    }
  });

  test('the start of a window is inclusive, its end exclusive', async () => {
    expect(await stat(NAME, 'success_count', { start: iso(at(50)), end: iso(at(5)) })).toMatchObject({ value: 1 });
    expect(await stat(NAME, 'success_count', { start: iso(at(50) + 1), end: iso(at(5) + 1) })).toMatchObject({
      value: 1,
    });
    expect(await stat(NAME, 'success_count', { start: iso(at(50)), end: iso(at(5) + 1) })).toMatchObject({ value: 2 });
  });

  test('the default window is the last day, or with only a start the day after it', async () => {
    expect((await stat(NAME, 'success_count', {})).value).toBe(1);
    expect((await stat(NAME, 'success_count', { start: iso(at(50)) })).value).toBe(1);
    expect((await stat(NAME, 'failure_count', { end: iso(at(20)) })).value).toBe(2);
    const { value_over_time: buckets } = await stat(NAME, 'success_count', {});
    expect(buckets).toHaveLength(24);
  });

  test('a + that arrives as a space is read as +', async () => {
    const path = insights.fixture.test(NAME, '/stats/success_count');
    const local = (moment: number) => `${iso(moment + HOUR).slice(0, 19)}+01:00`;
    expect(await insights.app.get<Series>(`${path}?start=${local(at(50))}&end=${local(at(5) + 1_000)}`)).toMatchObject({
      value: 2,
    });
  });
});
