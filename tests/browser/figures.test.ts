/** One figure is the same wherever it stands: lists, details, statistics, explanations, failure groups, client and page. */
import { describe, expect, test } from 'bun:test';
import { windowUpTo } from '../../src/domain/ratio-window.ts';
import { formatShare } from '../../web/ui/format.ts';
import { hasBrowser, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { TEST_NOW } from '../support/clock.ts';
import { at, beside, type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const insights = setUpInsights(fill);
const pages = setUpPages(insights);

const DAY = 24;
const FAILURES = [{ type: 'AssertionError', message: 'expected 3 to equal 4' }];
const failed: Partial<TestExecution> = { status: 'failed', failures: FAILURES };
const retried: Partial<TestExecution> = { status: 'passed', isFlaky: true, failures: FAILURES };
const passed: Partial<TestExecution> = { status: 'passed' };

/** In two CI jobs, with retries, at the edges of the window, and some that have not run for days. */
const HISTORIES: Record<string, readonly (readonly [hoursAgo: number, job: string, result: Partial<TestExecution>])[]> =
  {
    'wobbles in two jobs': [
      ...[40, 36, 33, 31, 30].flatMap((days) => [[days * DAY, 'unit', failed] as const]),
      ...[29, 28, 20, 12, 9, 5, 3].flatMap((days) => [
        [days * DAY, 'unit', days % 2 === 1 ? failed : passed] as const,
        [days * DAY - 1, 'unit', passed] as const,
        [days * DAY - 2, 'e2e', days % 3 === 0 ? failed : passed] as const,
      ]),
      [40, 'e2e', failed],
      [30, 'e2e', passed],
      [13, 'unit', retried],
      [2, 'unit', passed],
    ],
    'has not run for ten days': [
      ...[38, 36, 34, 25, 20].flatMap((days) => [[days * DAY, 'unit', failed] as const]),
      ...[37, 35, 33, 24, 22, 15, 10].flatMap((days) => [[days * DAY, 'unit', passed] as const]),
    ],
    'failed long ago': [
      [41 * DAY, 'unit', failed],
      [40 * DAY, 'unit', failed],
      [39 * DAY, 'unit', passed],
      [3, 'unit', passed],
    ],
    'passes only after retries': [
      [50, 'unit', passed],
      [26, 'unit', retried],
      [4, 'unit', passed],
    ],
    breaks: [
      [60, 'unit', passed],
      [9, 'unit', failed],
      [8, 'unit', failed],
      [7, 'unit', failed],
      [6, 'unit', failed],
    ],
    // Before the other by its name, and after it by its failures.
    'also breaks': [
      [60, 'unit', passed],
      [9, 'unit', failed],
      [8, 'unit', failed],
      [7, 'unit', failed],
    ],
    passes: [
      [60, 'unit', passed],
      [9, 'e2e', passed],
    ],
  };
const NAMES = Object.keys(HISTORIES);

async function fill(fixture: InsightsFixture): Promise<void> {
  await fixture.ingest(
    ...Object.entries(HISTORIES).flatMap(([name, history]) =>
      history.map(([hours, job, result]) =>
        fixture.run([{ name, at: at(hours), ...result }, ...beside(hours)], { job_name: job }),
      ),
    ),
  );
}

interface Row {
  test_id: string;
  test_name: string;
  job_name: string;
  metrics: {
    health_status: string;
    failed_executions_impact: string | null;
    executions: number;
    failed_executions: number;
    failed_executions_by_day: number[];
    last_failure_at: string | null;
  };
}
interface Details {
  failure_ratio: number;
  flakiness_ratio: number;
  success_ratio: number;
  first_failure_at: string | null;
  last_failure_at: string | null;
}
interface Group {
  failure_count: number;
  first_failure_at: string;
  last_failure_at: string;
}
interface Reason {
  executions_count: number;
  flaky_count: number;
  failures: { execution: { finished_at: string } }[];
}

const WINDOW = { start: iso(windowUpTo(TEST_NOW).start), end: iso(windowUpTo(TEST_NOW).end) };
const EVER = { start: iso(at(60 * DAY)), end: iso(TEST_NOW + 3_600_000) };
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
const newest = (moments: readonly (string | null)[]): string | null =>
  moments
    .filter((one) => one !== null)
    .sort()
    .at(-1) ?? null;

const rowsOf = async (query: Record<string, string>): Promise<Row[]> =>
  (await insights.app.get<{ tests: Row[] }>(insights.fixture.search({ per_page: '100', ...query }))).tests;
const details = (name: string) => insights.app.get<Details>(insights.fixture.test(name));

describe('the figures of a test', () => {
  test.each(NAMES)('%s: no two of them differ', async (name) => {
    const { app, fixture } = insights;
    const rows = await rowsOf({ test_name: name });
    const count = async (stat: string, window = WINDOW): Promise<number> =>
      (await app.get<{ value: number }>(fixture.test(name, `/stats/${stat}`, window))).value;
    const { failures: groups } = await app.get<{ failures: Group[] }>(fixture.test(name, '/failures'));
    const { identities } = await app.get<{ identities: Reason[] }>(fixture.test(name, '/explanation'));
    const about = await details(name);
    const executions = sum(rows.map(({ metrics }) => metrics.executions));
    const failures = sum(rows.map(({ metrics }) => metrics.failed_executions));

    expect(await count('success_count')).toBe(executions - failures);
    expect(await count('failure_count')).toBe(failures);
    expect(about.failure_ratio).toBeCloseTo(failures / executions, 10);
    expect(about.success_ratio + about.failure_ratio).toBeCloseTo(1, 10);
    expect(about.flakiness_ratio).toBeCloseTo((await count('flaky_count')) / executions, 10);

    const ever = [await count('success_count', EVER), await count('failure_count', EVER)];
    expect(sum(identities.map((one) => one.executions_count))).toBe(sum(ever));
    expect(sum(identities.map((one) => one.flaky_count))).toBe(await count('flaky_count', EVER));

    const last = about.last_failure_at;
    expect(newest(rows.map(({ metrics }) => metrics.last_failure_at))).toBe(last);
    expect(newest(groups.map((group) => group.last_failure_at))).toBe(last);
    expect(newest(identities.flatMap((one) => one.failures.map(({ execution }) => execution.finished_at)))).toBe(last);
    expect(groups.map((group) => group.first_failure_at).sort()[0] ?? null).toBe(about.first_failure_at);
    const days = rows.flatMap(({ metrics }) => metrics.failed_executions_by_day);
    const fortnight = { start: iso(windowUpTo(TEST_NOW, 14).start), end: WINDOW.end };
    expect(sum(days)).toBe(await count('failure_count', fortnight));
  });

  test('are those by which lists are in order and are filtered', async () => {
    const RANKS = { healthy: 0, flaky: 1, broken: 2, low: 1, medium: 2, high: 3 } as Record<string, number>;
    const orders: Record<string, (row: Row) => readonly number[]> = {
      // Healthy ones are in the order of their names.
      health_status: ({ metrics: { health_status: health, failed_executions: failed } }) => [
        RANKS[health] ?? 0,
        health === 'healthy' ? 0 : failed,
      ],
      failed_executions_count: ({ metrics }) => [metrics.failed_executions],
      failed_executions_ratio: ({ metrics }) => [metrics.failed_executions / Math.max(1, metrics.executions)],
      failed_executions_impact: ({ metrics }) => [RANKS[metrics.failed_executions_impact ?? ''] ?? 0],
      last_failure_at: ({ metrics }) => [Date.parse(metrics.last_failure_at ?? iso(0))],
    };
    const all = await rowsOf({});
    for (const [sort, numbersOf] of Object.entries(orders)) {
      const rows = await rowsOf({ sort });
      expect(rows.length).toBe(all.length);
      const numbers = rows.map(numbersOf);
      const descending = numbers.toSorted((a, b) => (b[0] ?? 0) - (a[0] ?? 0) || (b[1] ?? 0) - (a[1] ?? 0));
      expect([sort, numbers]).toEqual([sort, descending]);
    }
    for (const impact of ['low', 'medium', 'high'])
      expect((await rowsOf({ failed_executions_impact: impact })).length).toBe(
        all.filter(({ metrics }) => metrics.failed_executions_impact === impact).length,
      );
  });

  test('change when a day ends, all of them, though nothing runs', async () => {
    const { clock } = insights.fixture.stores;
    const name = 'has not run for ten days';
    clock.set(TEST_NOW + 12 * DAY * 3_600_000);
    const [row] = await rowsOf({ test_name: name });
    const { failure_ratio: share } = await details(name);
    const order = (await rowsOf({ sort: 'failed_executions_count' })).map(({ metrics }) => metrics.failed_executions);
    clock.set(TEST_NOW);
    expect(row?.metrics).toMatchObject({ executions: 2, failed_executions: 0 });
    expect(share).toBe(0);
    expect(order).toEqual(order.toSorted((a, b) => b - a));
  });
});

describe.skipIf(!hasBrowser).each(READERS)('on the page, read in $locale and $timezoneId', (reader) => {
  test('the figures of a test are those of the API', async () => {
    await pages.on(reader, async ({ page, open }) => {
      for (const name of ['wobbles in two jobs', 'has not run for ten days']) {
        const rows = await rowsOf({ test_name: name });
        const about = await details(name);
        const executions = sum(rows.map(({ metrics }) => metrics.executions));
        const failures = sum(rows.map(({ metrics }) => metrics.failed_executions));
        await open(`${pages.base}/tests?q=${encodeURIComponent(name)}`);
        for (const { metrics } of rows)
          await page
            .getByRole('row')
            .locator(`[data-hint^="${metrics.failed_executions} of ${metrics.executions} execution"]`)
            .first()
            .waitFor();
        await page.getByRole('link', { name }).first().press('Enter');
        await page.getByRole('heading', { name }).waitFor();
        const results = page.getByRole('region', { name: 'Results' });
        const total = (term: string) =>
          results.locator('div', { has: page.getByText(term, { exact: true }) }).locator('dd');
        await results.getByText('Days and times are UTC.').waitFor();
        expect(await total('Passed').first().textContent()).toBe(String(executions - failures));
        expect(await total('Failed').first().textContent()).toBe(String(failures));
        const flaky = Math.round(about.flakiness_ratio * executions);
        expect(await total('Of these, flaky').first().textContent()).toBe(String(flaky));
        await page
          .getByText(
            flaky > 0 ? `${formatShare(flaky / executions)} of its executions were flaky` : 'in the last 30 days',
          )
          .first()
          .waitFor();
        const last = page.locator('dl div', { has: page.getByText('Last failure', { exact: true }) }).locator('time');
        expect(await last.getAttribute('datetime')).toBe(about.last_failure_at);
        const group = page.getByRole('region', { name: 'Failures' }).locator('time').first();
        expect(await group.getAttribute('datetime')).toBe(about.last_failure_at);
      }
    });
  });

  test('no text of a reason lies over another, and a phone shows whose runs there are', async () => {
    await pages.on(reader, async ({ page, open }) => {
      await open(`${pages.base}/tests?q=${encodeURIComponent('wobbles')}`);
      await page.getByRole('link', { name: 'wobbles' }).first().press('Enter');
      await page.getByRole('button', { name: /^Why is it/ }).press('Enter');
      await page.getByText('healthy → flaky').first().waitFor();
      expect(await page.evaluate<string[]>(OVERLAPS)).toEqual([]);
      expect(await violationsOn(page)).toEqual([]);
    });
    await pages.on({ ...reader, viewport: { width: 390, height: 844 } }, async ({ page, open }) => {
      await open(`${pages.base}/runs`);
      expect(await page.evaluate<string[]>(CUT)).toEqual([]);
      expect(await violationsOn(page)).toEqual([]);
    });
  });
});

/** Texts of one line of a reason that lie over each other. */
const OVERLAPS = `[...document.querySelectorAll('section[aria-label=Reason] li')].flatMap((line) => {
  const ranges = [...line.children].map((child) => {
    const range = document.createRange();
    range.selectNodeContents(child);
    return { text: child.textContent, box: range.getBoundingClientRect() };
  }).filter(({ text }) => text !== '');
  return ranges.slice(1).flatMap(({ text, box }, i) => {
    const before = ranges[i].box;
    return box.left < before.right && box.top < before.bottom && before.top < box.bottom ? [text] : [];
  });
})`;
/** Texts of runs that are cut off. */
const CUT = `[...document.querySelectorAll('main li, main li span')]
  .filter((one) => one.getClientRects().length > 0 && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
  .map((one) => one.textContent)`;
