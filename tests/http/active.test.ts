/** A flaky test that has not failed on its own for four weeks is calm: still flaky, and no alarm. */
import { describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/domain/time.ts';
import type { TestDetails } from '../../src/insights/details.ts';
import type { RepositoryList } from '../../src/insights/repositories.ts';
import type { TestSearchAnswer } from '../../src/insights/search.ts';
import { TEST_NOW } from '../support/clock.ts';
import { at, beside, type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const failed: Pick<TestExecution, 'status' | 'failures'> = { status: 'failed', failures: [{ message: 'no' }] };
const LINUX = { os: 'linux' };
const WINDOWS = { os: 'windows' };

/** Failed on their own 40 days ago, and `shaky` 10 days ago, too; since then, an outage failed everything once. */
async function fill(fixture: InsightsFixture): Promise<void> {
  const day = (days: number, ...executions: TestExecution[]) => {
    const when = at(24 * days);
    const others = beside(24 * days).map((one) => (days === 5 ? { ...one, ...failed } : one));
    return fixture.run([...executions.map((one) => ({ at: when, ...one })), ...others]);
  };
  const flaky = (name: string): TestExecution => ({ name, isFlaky: true, failures: [{ message: 'slow' }] });
  await fixture.ingest(
    ...[60, 55, 50, 45, 40].map((days) => day(days, flaky('calm'), flaky('shaky'), { name: 'fine' })),
    ...[39, 30, 20].map((days) => day(days, { name: 'calm' }, { name: 'shaky' }, { name: 'fine' })),
    day(10, { name: 'calm' }, flaky('shaky'), { name: 'breaks' }, { name: 'fine' }),
    day(5, { name: 'calm', ...failed }, { name: 'shaky', ...failed }, { name: 'fine', ...failed }),
    day(4, { name: 'calm' }, { name: 'shaky' }, { name: 'breaks', ...failed }, { name: 'fine' }),
    day(3, { name: 'calm' }, { name: 'shaky' }, { name: 'breaks', ...failed }, { name: 'fine' }),
    // The same test in the legs of a matrix: calm in one, active in the other.
    ...[60, 50, 45, 40, 20, 10].flatMap((days) =>
      [LINUX, WINDOWS].map((axes) => {
        const isFlaky = days >= 40 || (axes === WINDOWS && days === 10);
        const name = 'in a matrix';
        const execution = isFlaky ? { ...flaky(name), at: at(24 * days) } : { name, at: at(24 * days) };
        return fixture.run([execution, ...beside(24 * days)], { axes, job_name: 'matrix' });
      }),
    ),
  );
}

/** Broken, and then only skipped: for three weeks, or for three days. */
async function fillSkipped(fixture: InsightsFixture): Promise<void> {
  const runs = (name: string, days: readonly number[], result: Partial<TestExecution>) =>
    days.map((day) => fixture.run([{ name, at: at(24 * day), ...result }, ...beside(24 * day)]));
  const skipped = { status: 'skipped' } as const;
  await fixture.ingest(
    ...['for weeks', 'for days', 'runs again'].flatMap((name) => [
      ...runs(name, [30, 29], {}),
      ...runs(name, [28, 27, 26], failed),
    ]),
    ...runs('for weeks', [25, 20, 5, 1], skipped),
    ...runs('for days', [25, 20, 14], skipped),
    ...runs('runs again', [25, 20, 5], skipped),
    ...runs('runs again', [1], {}),
    ...runs('never ran', [28, 2], skipped),
  );
}

const insights = setUpInsights(async (fixture) => {
  await fill(fixture);
  await fillSkipped(fixture);
});

const OF_ACTIVITY = new Set(['breaks', 'calm', 'fine', 'in a matrix', 'shaky']);
const found = async (query: Record<string, string>): Promise<[string, string, boolean][]> => {
  const { tests } = await insights.app.get<TestSearchAnswer>(
    insights.fixture.search({ sort: 'test_name', per_page: '100', ...query }),
  );
  return tests
    .filter(({ test_name }) => OF_ACTIVITY.has(test_name))
    .map(({ test_name, metrics }) => [test_name, metrics.health_status, metrics.is_active]);
};
const counts = async () => {
  const { repositories } = await insights.app.get<RepositoryList>('/v1/repositories');
  const one = repositories.find(({ repository }) => repository === insights.fixture.repository.name);
  return [one?.flaky_tests, one?.active_flaky_tests, one?.broken_tests];
};

describe('a calm flaky test', () => {
  test('is found as flaky, and told from those that failed on their own', async () => {
    const flaky: [string, string, boolean][] = [
      ['calm', 'flaky', false],
      ['in a matrix', 'flaky', true],
      ['shaky', 'flaky', true],
    ];
    expect(await found({ health_status: 'flaky' })).toEqual(flaky);
    expect(await found({ health_status: 'flaky', is_active: 'true' })).toEqual(flaky.slice(1));
    expect(await found({ health_status: 'flaky', is_active: 'false' })).toEqual(flaky.slice(0, 1));
    expect(await found({ is_active: 'true' })).toEqual([['breaks', 'broken', true], ...flaky.slice(1)]);
    expect(await found({ is_active: 'false' })).toEqual([...flaky.slice(0, 1), ['fine', 'healthy', false]]);
    expect(await found({ test_name: 'calm', is_active: 'true' })).toEqual([]);
    expect(await found({ test_name: 'calm' })).toEqual([['calm', 'flaky', false]]);
  });

  test('is told so by its details and by each leg, and counted apart', async () => {
    const details = (name: string) => insights.app.get<TestDetails>(insights.fixture.test(name));
    expect(await details('calm')).toMatchObject({ health_status: 'flaky', is_active: false });
    expect(await details('shaky')).toMatchObject({ health_status: 'flaky', is_active: true });
    expect(await details('fine')).toMatchObject({ health_status: 'healthy', is_active: false });
    const { is_active, legs } = await details('in a matrix');
    expect(is_active).toBe(true);
    const activity = legs.map((leg): [string | undefined, boolean] => [leg.axes.os, leg.is_active]);
    expect(Object.fromEntries(activity)).toEqual({ linux: false, windows: true });
    expect(await counts()).toEqual([3, 2, 3]);
  });

  test('becomes calm as time passes, though nothing runs', async () => {
    const { clock } = insights.fixture.stores;
    clock.set(TEST_NOW + 20 * DAY_MS);
    expect(await found({ health_status: 'flaky', is_active: 'true' })).toEqual([]);
    expect((await found({ health_status: 'flaky' })).map(([, , isActive]) => isActive)).toEqual([false, false, false]);
    expect(await counts()).toEqual([3, 0, 3]);
    clock.set(TEST_NOW);
    expect(await counts()).toEqual([3, 2, 3]);
  });
});

test('a test that is only skipped for two weeks says since when, beside its last health', async () => {
  const details = (name: string) => insights.app.get<TestDetails>(insights.fixture.test(name));
  const since = iso(at(24 * 26));
  expect(await details('for weeks')).toMatchObject({
    ...{ health_status: 'broken', last_conclusion: 'skipped', skipped_since: since },
    legs: [{ skipped_since: since }],
  });
  expect(await details('for days')).toMatchObject({ last_conclusion: 'skipped', skipped_since: null });
  expect(await details('runs again')).toMatchObject({ last_conclusion: 'passed', skipped_since: null });
  expect(await details('never ran')).toMatchObject({ health_status: 'healthy', skipped_since: iso(at(24 * 28)) });
});
