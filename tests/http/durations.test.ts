/** How long tests take, and which grew. */
import { describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/domain/time.ts';
import { TEST_NOW } from '../support/clock.ts';
import { linksOf } from '../support/http.ts';
import { type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';

interface Duration {
  test_name: string;
  job_name: string;
  axes: Record<string, string>;
  executions_count: number;
  median_seconds: number;
  p95_seconds: number;
  total_seconds: number;
  total_share: number;
  growth: {
    since: string;
    before_seconds: number;
    after_seconds: number;
    last_commit_before: string;
    first_commit_after: string;
  } | null;
}
interface Durations {
  size: number;
  total: number;
  grown: number;
  total_seconds: number;
  is_complete: boolean;
  durations: Duration[];
}

const DAYS = 20;
const GREW_DAYS_AGO = 7;
const dayStart = Math.floor(TEST_NOW / DAY_MS) * DAY_MS;

/** On two legs and each day a run; one test takes twice as long on Windows since a week, and there the whole leg is slow. */
async function fill(fixture: InsightsFixture): Promise<void> {
  const runs = Array.from({ length: DAYS }, (_, ago) => ago).flatMap((ago) =>
    ['linux', 'windows'].map((os) => {
      const at = dayStart - ago * DAY_MS + 3_600_000;
      const isLate = ago < GREW_DAYS_AGO;
      const slow = 1 + (ago % 5) / 100;
      const legSlow = os === 'linux' && isLate ? 1.6 : 1;
      const seconds = (usual: number) => usual * slow * legSlow;
      return fixture.run(
        [
          ...Array.from({ length: 6 }, (__, i) => ({ name: `test ${i}`, at, durationSeconds: seconds(1 + i / 10) })),
          { name: 'grows', at, durationSeconds: seconds(os === 'windows' && isLate ? 2 : 1) },
          { name: 'tiny', at, durationSeconds: seconds(isLate ? 0.02 : 0.01) },
          { name: 'skipped', at, status: 'skipped' as const, durationSeconds: 90 },
          { name: 'fails', at, status: 'failed' as const, durationSeconds: 3, failures: [{ message: 'no' }] },
        ],
        { axes: { os }, commit: `c${DAYS - ago}` },
      );
    }),
  );
  const before = fixture.run([{ name: 'long ago', at: dayStart - 40 * DAY_MS, durationSeconds: 100 }]);
  const elsewhere = fixture.run([{ name: 'grows', at: dayStart, durationSeconds: 500 }], { branch: 'topic' });
  await fixture.ingest(before, ...runs, elsewhere);
}

const insights = setUpInsights(fill);
const read = (query = '') => insights.app.get<Durations>(`${insights.fixture.base}/durations?per_page=100&${query}`);

describe('durations', () => {
  test('are those of what passed on the default branch, and shares of what passed or failed', async () => {
    const { durations, total, total_seconds: all, is_complete } = await read();
    expect([total, is_complete]).toEqual([durations.length, true]);
    expect([...new Set(durations.map(({ test_name }) => test_name))].sort()).toEqual(
      ['grows', 'tiny', ...Array.from({ length: 6 }, (_, i) => `test ${i}`)].sort(),
    );
    const sum = durations.reduce((seconds, one) => seconds + one.total_seconds, 0);
    expect(all).toBeCloseTo(sum, 6);
    for (const one of durations) {
      expect(one.executions_count).toBe(DAYS);
      expect(one.p95_seconds).toBeGreaterThanOrEqual(one.median_seconds);
      expect(one.total_share).toBeCloseTo(one.total_seconds / all, 9);
    }
    expect(durations.map((one) => one.total_seconds)).toEqual(
      durations.map((one) => one.total_seconds).sort((one, other) => other - one),
    );
    const [slowest] = (await read('sort=median')).durations;
    expect(slowest?.median_seconds).toBe(Math.max(...durations.map(({ median_seconds }) => median_seconds)));
  });

  test('name the test that grew in its leg, since which day and between which commits, and no leg that is slow', async () => {
    const { durations, grown } = await read('sort=growth');
    expect(durations.map(({ test_name, axes }) => [test_name, axes.os])).toEqual([['grows', 'windows']]);
    expect(grown).toBe(1);
    const [first] = durations;
    expect(first?.growth).toMatchObject({
      since: iso(dayStart - (GREW_DAYS_AGO - 1) * DAY_MS),
      last_commit_before: `c${DAYS - GREW_DAYS_AGO}`,
      first_commit_after: `c${DAYS - GREW_DAYS_AGO + 1}`,
    });
    expect((first?.growth?.after_seconds ?? 0) / (first?.growth?.before_seconds ?? 1)).toBeCloseTo(2, 1);
  });

  test('come in pages', async () => {
    const all = (await read('sort=p95')).durations;
    const found: Duration[] = [];
    let next: string | undefined = `${insights.fixture.base}/durations?sort=p95&per_page=5`;
    for (let i = 0; next !== undefined && i < 10; i++) {
      const response = await insights.app.request(next);
      if (response.status !== 200) throw new Error(await response.text());
      found.push(...((await response.json()) as Durations).durations);
      next = linksOf(response).next;
    }
    expect(found).toEqual(all);
  });

  test('are in searches and details: in order, with those that grew', async () => {
    const { fixture, app } = insights;
    const search = (query: Record<string, string>) =>
      app.get<{ tests: { test_name: string; metrics: { median_seconds: number | null } }[] }>(
        fixture.search({ test_name: '*', per_page: '100', ...query }),
      );
    expect((await search({ is_grown: 'true' })).tests.map(({ test_name }) => test_name)).toEqual(['grows']);
    expect((await search({ is_grown: 'false' })).tests.map(({ test_name }) => test_name)).not.toContain('grows');
    const sorted = (await search({ sort: 'median_seconds' })).tests;
    const medians = sorted.map(({ metrics }) => metrics.median_seconds ?? -1);
    expect(medians).toEqual(medians.toSorted((one, other) => other - one));
    // What was only skipped, failed or ran long ago has none, and is in the order of names.
    expect(sorted.slice(-3).map(({ test_name }) => test_name)).toEqual(['fails', 'long ago', 'skipped']);
    const { legs } = await app.get<{ legs: { axes: Record<string, string>; grown_since: string | null }[] }>(
      fixture.test('grows'),
    );
    expect(legs.map(({ axes, grown_since }) => [axes.os, grown_since]).sort()).toEqual([
      ['linux', null],
      ['windows', iso(dayStart - (GREW_DAYS_AGO - 1) * DAY_MS)],
    ]);
  });

  test('are none of a repository without runs', async () => {
    expect(await insights.app.get<Durations>('/v1/ci/no/repositories/such/durations')).toMatchObject({
      size: 0,
      total: 0,
    });
  });
});
