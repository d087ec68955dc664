/** What red runs cost: the week that docs/cost.md counts by hand, as the service counts it. */

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { DAY_MS, MINUTE_MS } from '../../src/domain/time.ts';
import { ingestCostlyWeek, WEEK } from '../support/costly-week.ts';
import { linksOf } from '../support/http.ts';
import { iso, setUpInsights } from '../support/insights.ts';

interface Figures {
  red_runs: number;
  reruns: number;
  rerun_minutes: number;
  waiting_hours: number;
  queue_departures: number;
  pull_requests: number;
  money: number | null;
}
interface TestCost extends Figures {
  test_name: string;
  red_runs_alone: number;
  failed_runs: number;
}
interface OwnerCost extends Figures {
  owner: string | null;
  red_runs_alone: number;
}
interface CauseCost extends Figures {
  cause_id: string | null;
  exception_message: string | null;
  red_runs_alone: number;
  failed_runs: number;
}
type PartCost = Omit<TestCost, 'test_name'>;
interface FoundTests {
  total: number;
  tests: { test_name: string; cost: PartCost | null }[];
}
interface Costs {
  causes: CauseCost[];
  total_tests: number;
  total: Figures;
  tests: TestCost[];
  owners: OwnerCost[];
}
interface Day {
  start: string;
  runs: number;
  red_runs: number;
  by_reason: Record<string, number>;
  outside: number;
  rerun_minutes: number;
  waiting_minutes: number;
  minutes_lost: number;
}
interface RedRuns {
  total: Day & { pull_requests: number; queue_departures: Record<string, number> };
  days: Day[];
}

const insights = setUpInsights(ingestCostlyWeek);
const window = `start=${iso(WEEK.start)}&end=${iso(WEEK.end)}`;
const costs = (query = '') => insights.app.get<Costs>(`${insights.fixture.base}/cost?${window}&${query}`);
const redRuns = (query = '') =>
  insights.app.get<RedRuns>(`${insights.fixture.base}/red-runs/by-day?${window}&${query}`);

async function set(settings: Record<string, unknown>): Promise<void> {
  const response = await insights.app.request(`${insights.fixture.base}/settings`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(settings),
  });
  expect(response.status).toBe(200);
}

/** The rows of the table below a heading of docs/cost.md. */
function tableOf(heading: string): string[][] {
  const text = readFileSync(new URL('../../docs/cost.md', import.meta.url), 'utf8');
  const [, part = ''] = text.split(`### ${heading}\n`);
  return (part.split('\n#')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('|---'))
    .slice(1)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}
const rounded = (value: number): string => String(Math.round(value * 1_000) / 1_000);

describe('the week of docs/cost.md', () => {
  test('has as many red runs of each reason, and lost as many minutes, as are counted by hand', async () => {
    const { total, days } = await redRuns();
    const counted = Object.fromEntries(tableOf('The week').map(([name = '', value = '']) => [name, value]));
    const figures: Record<string, string> = {
      runs: rounded(total.runs),
      'red runs': rounded(total.red_runs),
      ...Object.fromEntries(Object.entries(total.by_reason).map(([reason, count]) => [reason, rounded(count)])),
      outside: rounded(total.outside),
      'rerun minutes': rounded(total.rerun_minutes),
      'waiting minutes': rounded(total.waiting_minutes),
      'minutes lost': rounded(total.minutes_lost),
      'pull requests': rounded(total.pull_requests),
      'innocent departures': rounded(total.queue_departures.innocent ?? -1),
      'departures by its own failure': rounded(total.queue_departures.own ?? -1),
    };
    expect(figures).toEqual(counted);
    expect(days.map(({ start }) => start)).toEqual(Array.from({ length: 7 }, (_, i) => iso(WEEK.start + i * DAY_MS)));
    for (const name of ['runs', 'red_runs', 'outside', 'rerun_minutes', 'waiting_minutes', 'minutes_lost'] as const)
      expect(days.reduce((sum, day) => sum + day[name], 0)).toBeCloseTo(total[name], 9);
    for (const day of days) expect(Object.values(day.by_reason).reduce((sum, one) => sum + one, 0)).toBe(day.red_runs);
  });

  test('costs each test what is counted by hand, and all of them the total', async () => {
    const { tests, total, total_tests } = await costs();
    const row = (name: string, one: Figures & Partial<TestCost>) => [
      name,
      rounded(one.red_runs),
      one.red_runs_alone === undefined ? '' : rounded(one.red_runs_alone),
      rounded(one.reruns),
      rounded(one.rerun_minutes),
      rounded(one.waiting_hours * 60),
      rounded(one.queue_departures),
      rounded(one.pull_requests),
    ];
    const counted = tableOf('By test');
    expect([...tests.map((one) => row(one.test_name, one)).sort(), row('all', total)]).toEqual([
      ...counted.slice(0, -1).sort(),
      ...counted.slice(-1),
    ]);
    expect(total_tests).toBe(3);
    expect([total.money, tests[0]?.money]).toEqual([null, null]);
  });

  test('costs each owner what its tests cost, shared with those who own a test too, and all of them the total', async () => {
    const rules = [
      { test_name: 'cart', owners: ['@acme/cart'] },
      { test_name: 'mail', owners: ['@acme/mail', '@acme/cart'] },
    ];
    await set({ test_owners: rules });
    await insights.fixture.settle();
    const { owners, tests, total, total_tests } = await costs('by=owner&sort=waiting_hours');
    expect([tests, total_tests]).toEqual([[], 3]);
    expect(
      owners.map((one) => [one.owner, rounded(one.red_runs), one.red_runs_alone, rounded(60 * one.waiting_hours)]),
    ).toEqual([
      ['@acme/cart', '2.25', 1, '70'],
      ['@acme/mail', '0.75', 0, '20'],
      [null, '6', 6, '0'],
    ]);
    for (const figure of ['red_runs', 'reruns', 'rerun_minutes', 'waiting_hours', 'queue_departures'] as const)
      expect(owners.reduce((sum, one) => sum + one[figure], 0)).toBeCloseTo(total[figure], 9);
    const first = await insights.app.request(`${insights.fixture.base}/cost?${window}&by=owner&per_page=1`);
    const next = await insights.app.get<Costs>(linksOf(first).next ?? '');
    expect(next.owners.map(({ owner }) => owner)).toEqual(['@acme/cart']);
    await set({ test_owners: [] });
    await insights.fixture.settle();
  });

  test('costs each cause what its failures cost, on whatever branch, and what has no cause the rest', async () => {
    const { causes, tests, owners, total } = await costs('by=cause');
    expect([tests, owners]).toEqual([[], []]);
    // `cart` and `mail` never failed on the default branch.
    expect(
      causes.map((one) => [
        one.exception_message,
        one.red_runs,
        one.red_runs_alone,
        one.failed_runs,
        one.pull_requests,
      ]),
    ).toEqual([
      ['pays failed', 6, 6, 6, 1],
      [null, 3, 3, 3, 2],
    ]);
    expect(causes[1]?.cause_id).toBeNull();
    for (const figure of ['red_runs', 'reruns', 'rerun_minutes', 'waiting_hours', 'queue_departures'] as const)
      expect(causes.reduce((sum, one) => sum + one[figure], 0)).toBeCloseTo(total[figure], 9);
    const first = await insights.app.request(`${insights.fixture.base}/cost?${window}&by=cause&per_page=1`);
    const next = await insights.app.get<Costs>(linksOf(first).next ?? '');
    expect(next.causes.map(({ cause_id: id }) => id)).toEqual([null]);
    const { causes: listed } = await insights.app.get<{ causes: { cause_id: string; cost: CauseCost }[] }>(
      `${insights.fixture.base}/causes?${window}&sort=cost`,
    );
    expect(listed.map(({ cause_id: id, cost }) => [id, cost.red_runs, cost.queue_departures])).toEqual([
      [causes[0]?.cause_id ?? '', 6, 1],
    ]);
    const details = await insights.app.get<{ cost: CauseCost }>(
      `${insights.fixture.base}/causes/${causes[0]?.cause_id}`,
    );
    expect(details.cost.red_runs).toBe(6);
  });

  test('orders a search of tests by what each costs, in the figures of the list of costs', async () => {
    const { tests, total } = await insights.app.get<Costs>(`${insights.fixture.base}/cost`);
    const search = (query: Record<string, string | string[]> = {}) =>
      insights.fixture.search({ sort: 'cost', per_page: '100', ...query });
    const found = await insights.app.get<FoundTests>(search());
    const names = found.tests.map(({ test_name }) => test_name);
    const costly = found.tests.filter(({ cost }) => cost !== null && cost.failed_runs > 0);
    expect(names.slice(0, 3)).toEqual(['pays', 'cart', 'mail']);
    expect(costly).toHaveLength(tests.length);
    for (const { test_name, cost } of costly)
      expect(tests.find((one) => one.test_name === test_name)).toMatchObject({ ...cost });
    // What costs nothing comes after it, by name, and has the same figures: none.
    expect(names.slice(3)).toEqual([...names.slice(3)].sort());
    expect(names).toHaveLength(found.total);
    expect(found.tests.at(-1)?.cost?.red_runs).toBe(0);
    for (const figure of ['red_runs', 'reruns', 'rerun_minutes', 'waiting_hours', 'queue_departures'] as const)
      expect(found.tests.reduce((sum, { cost }) => sum + (cost?.[figure] ?? 0), 0)).toBeCloseTo(total[figure], 9);
    const upward = await insights.app.get<FoundTests>(search({ direction: 'asc' }));
    expect(upward.tests.map(({ test_name }) => test_name)).toEqual([...names.slice(3), 'cart', 'mail', 'pays']);
    // By whole names it is sorted in memory, by patterns in the store.
    for (const test_name of [
      ['mail', 'pays', 'steady 1', 'cart'],
      ['?ail', 'p?ys', 'ste*y 1', 'ca?t'],
    ]) {
      const some = await insights.app.get<FoundTests>(search({ test_name, pipeline_name: 'CI' }));
      expect(some.tests.map((one) => one.test_name)).toEqual(['pays', 'cart', 'mail', 'steady 1']);
      expect(some.tests.slice(0, 3)).toEqual(found.tests.slice(0, 3));
    }
    const other = await insights.app.get<FoundTests>(insights.fixture.search());
    expect(other.tests.every(({ cost }) => cost === null)).toBe(true);
  });

  test('keeps the order of a search by cost from page to page, whatever failed since', async () => {
    const { clock } = insights.fixture.stores;
    const first = await insights.app.request(insights.fixture.search({ sort: 'cost', per_page: '2' }));
    const names = ((await first.json()) as FoundTests).tests.map(({ test_name }) => test_name);
    clock.set(clock.now() + 5 * MINUTE_MS);
    const next = await insights.app.request(linksOf(first).next ?? '');
    names.push(...((await next.json()) as FoundTests).tests.map(({ test_name }) => test_name));
    expect(names.slice(0, 3)).toEqual(['pays', 'cart', 'mail']);
    expect(new Set(names).size).toBe(4);
    const back = await insights.app.get<FoundTests>(linksOf(next).prev ?? '');
    expect(back.tests.map(({ test_name }) => test_name)).toEqual(names.slice(0, 2));
  });

  test('costs the change that was wrong what it cost, if that is asked', async () => {
    const { tests, total } = await costs('reason=change');
    expect(tests.map(({ test_name, red_runs, waiting_hours }) => [test_name, red_runs, waiting_hours])).toEqual([
      ['totals', 2, 2],
    ]);
    expect(total.queue_departures).toBe(0);
  });

  test('is sorted by any figure, in pages', async () => {
    const first = await insights.app.request(`${insights.fixture.base}/cost?${window}&sort=waiting_hours&per_page=2`);
    const names = ((await first.json()) as Costs).tests.map(({ test_name }) => test_name);
    expect(names).toEqual(['cart', 'mail']);
    const next = await insights.app.get<Costs>(linksOf(first).next ?? '');
    expect(next.tests.map(({ test_name }) => test_name)).toEqual(['pays']);
    expect(next.total.red_runs).toBe(9);
    // With shares in the key.
    const one = await insights.app.request(`${insights.fixture.base}/cost?${window}&sort=red_runs&per_page=1`);
    const two = await insights.app.request(linksOf(one).next ?? '');
    const three = await insights.app.get<Costs>(linksOf(two).next ?? '');
    expect(three.tests).toHaveLength(1);
    expect(three.tests[0]?.test_name).not.toBe('pays');
    const { tests } = await costs('sort=queue_departures');
    expect(tests[0]?.test_name).toBe('pays');
  });

  test('of one branch has its runs only', async () => {
    const { total } = await redRuns('branch=main');
    expect([total.runs, total.red_runs, total.waiting_minutes]).toEqual([5, 5, 0]);
  });

  test('is money by the prices of the repository', async () => {
    await set({ ci_minute_price: 0.01, waiting_hour_price: 60 });
    const { total, tests } = await costs();
    expect(total.money).toBeCloseTo(30 * 0.01 + 1.5 * 60, 9);
    expect(tests.reduce((sum, { money }) => sum + (money ?? 0), 0)).toBeCloseTo(total.money ?? -1, 9);
  });

  test('is empty for a repository without runs, and a window that is too long is refused', async () => {
    expect((await insights.app.get<Costs>('/v1/ci/no/repositories/such/cost')).tests).toEqual([]);
    expect((await insights.app.get<RedRuns>('/v1/ci/no/repositories/such/red-runs/by-day')).total.red_runs).toBe(0);
    const long = 'start=2026-01-01T00:00:00Z&end=2026-08-01T00:00:00Z';
    for (const list of ['cost', 'red-runs/by-day'])
      expect((await insights.app.request(`${insights.fixture.base}/${list}?${long}`)).status).toBe(422);
  });
});
