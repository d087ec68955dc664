/** Every page of the web application in a real browser: with nothing, with much, with odd names, for every reader. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { errors, type Page } from 'playwright-core';
import { prEvents } from '../../src/queue/pr-events.ts';
import {
  COLOUR_RULES,
  hasBrowser,
  isWithinWidth,
  keepPicture,
  PHONE,
  shiftsOn,
  type VisitOptions,
  violationsOn,
  visit,
  WIDE,
} from '../support/browser.ts';
import { onPage, setUpPages } from '../support/browser-setup.ts';
import { TEST_NOW } from '../support/clock.ts';
import { openDemo } from '../support/demo.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { makeFolder } from '../support/folder.ts';
import { HOSTILE, ingestHostile } from '../support/hostile-names.ts';
import { at, type InsightsFixture, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';
import { PAGES, type PageRow, type Places, placesOf } from '../support/pages.ts';
import { until } from '../support/patience.ts';
import { ServiceProcess } from '../support/service-process.ts';

const LARGE_TESTS = 100_000;
const LARGE_JOBS = 20;
/** Half of what Chromium calls good, all shifts of a page together. */
const SHIFT_MAX = 0.05;
/** Elements of a page with any number of tests. */
const ELEMENTS_MAX = 4_000;
const SLOW_MS = 400;
const NO_ID = '00000000-0000-4000-8000-000000000000';

let large: InsightsFixture;
const insights = setUpInsights(async (fixture) => {
  if (!hasBrowser) return;
  await ingestHostile(fixture);
  large = fixture.another();
  await ingestLarge(large);
});
const pages = setUpPages(insights);
beforeAll(async () => {
  if (!hasBrowser) return;
  const { stores, repository } = insights.fixture;
  const said = HOSTILE.map((name, i) => labelled(`${i}`, { trigger: name.slice(0, 200), metadata: { added: [name] } }));
  await stores.producers.of(prEvents).add(makeEventsJob(repository, said));
  for (const name of HOSTILE) await quarantine(insights.fixture, name, name.slice(0, 200));
  for (let i = 0; i < 10_000; i += 50) await quarantine(large, largeName(i), 'team-checkout');
  await large.ingest();
  // The window of the log ends before now.
  stores.clock.set(TEST_NOW + 1_000);
});

async function quarantine(fixture: InsightsFixture, name: string, words: string): Promise<void> {
  const body = JSON.stringify({ test_name: name, reason: words, owner: words, branch: words.replaceAll('*', '') });
  const headers = { 'content-type': 'application/json' };
  const response = await pages.service.requestUnchecked(`${fixture.base}/quarantines`, {
    method: 'POST',
    headers,
    body,
  });
  if (!response.ok) throw new Error(`${name} is not quarantined: ${await response.text()}`);
}

/** A run of many tests, of which one in a hundred fails. */
async function ingestLarge(fixture: InsightsFixture): Promise<void> {
  for (let job = 0; job < LARGE_JOBS; job++) {
    const executions = Array.from({ length: LARGE_TESTS / LARGE_JOBS }, (_, i): TestExecution => {
      const name = largeName(job * (LARGE_TESTS / LARGE_JOBS) + i);
      const executed = { name, at: at(1) };
      return i % 100 === 0
        ? { ...executed, status: 'failed', failures: [{ message: 'expected 1 to equal 2' }] }
        : executed;
    });
    await fixture.ingest(fixture.run(executions, { commit: 'large', job_name: `job ${job}`, run_id: 'large' }));
  }
  const pull = { branch: 'feature', base_ref: 'main', pull_request: 7 };
  await fixture.ingest(fixture.run([{ name: largeName(0) }], { commit: 'pull', ...pull }));
}
const largeName = (index: number): string => `area ${index % 97} > feature ${index % 1_009} > does thing ${index}`;

/** A service whose pages are visited. */
interface Visited {
  origin: string;
  options: VisitOptions;
  places: Places;
}

async function ofTestStores({ repository: { owner, name } }: InsightsFixture): Promise<Visited> {
  const get = (path: string) => pages.service.get(`/v1${path}`);
  return {
    origin: pages.origin,
    options: { key: pages.service.adminToken },
    places: await placesOf(owner, name, get),
  };
}

const services: { stop(): unknown }[] = [];
afterAll(async () => {
  for (const service of services) await service.stop();
});

/** Starts it like an operator who does so for the first time. */
async function openEmpty(): Promise<Visited> {
  const service = ServiceProcess.onFolder(makeFolder('empty'));
  services.push(service);
  await service.start();
  return {
    origin: service.origin,
    options: { key: service.adminToken, isNow: true },
    places: { owner: 'acme', name: 'nothing-yet', testId: NO_ID, commit: 'b2', run: NO_ID, pull: 7, cause: NO_ID },
  };
}

/** Signed in by the link that the demo prints. */
async function visitDemo(): Promise<Visited> {
  const demo = await openDemo();
  services.push(demo);
  const { origin, storageState } = demo;
  const { context } = await visit(origin, { storageState, isNow: true });
  const get = async (path: string) => (await context.request.get(`${origin}/v1${path}`)).json();
  const places = await placesOf('acme', 'shop', get);
  await context.close();
  return { origin, options: { storageState, isNow: true }, places };
}

const CONDITIONS: readonly { name: string; isEmpty?: boolean; open(): Promise<Visited> | Visited }[] = [
  { name: 'an empty service', isEmpty: true, open: openEmpty },
  { name: 'the demo', open: visitDemo },
  { name: 'hostile names', open: () => ofTestStores(insights.fixture) },
  { name: '100,000 tests', open: () => ofTestStores(large) },
];

/** Looks at a page as every reader sees it. */
async function examine(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await keepPicture(page, `${name}-${colorScheme}`);
    const violations = await violationsOn(page, colorScheme === 'dark' ? COLOUR_RULES : undefined);
    expect([name, colorScheme, violations]).toEqual([name, colorScheme, []]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(PHONE);
  await keepPicture(page, `${name}-phone`);
  expect([name, await violationsOn(page), await isWithinWidth(page)]).toEqual([name, [], true]);
  await page.setViewportSize(WIDE);
}

/** Fails with what has moved. */
async function expectStill(page: Page): Promise<void> {
  const shifts = await shiftsOn(page);
  const sum = shifts.reduce((total, { value }) => total + value, 0);
  expect(sum > SHIFT_MAX ? shifts : []).toEqual([]);
}

const ignoreTimeout = (error: unknown): void => {
  if (!(error instanceof errors.TimeoutError)) throw error;
};

const isRead = /\/v1\/(?!session$)/;

describe.skipIf(!hasBrowser).each(CONDITIONS)('with $name', ({ name: condition, isEmpty, open: openService }) => {
  let visited: Visited;
  beforeAll(async () => {
    visited = await openService();
  });
  const on = (run: Parameters<typeof onPage>[2]) => onPage(visited.origin, visited.options, run);

  test.each(PAGES as PageRow[])('the page $name is sound in both schemes and on a phone', async (row) => {
    await on(async ({ page, open }) => {
      await open(row.address(visited.places));
      await (isEmpty ? row.empty(page) : row.content(page)).waitFor();
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
      await expectStill(page);
      expect(await page.evaluate<number>('document.querySelectorAll("*").length')).toBeLessThan(ELEMENTS_MAX);
      // Whatever names, messages and addresses say, they are text.
      expect(await page.locator('a[href^="javascript"], main img, main script, main b, main i').count()).toBe(0);
      expect(await page.title()).toContain('ci-insights');
      await examine(page, `${condition.replaceAll(' ', '-')}/${row.name}`);
    });
  });
});

describe.skipIf(!hasBrowser)('when the service is slow or away', () => {
  const rows = PAGES.filter(({ hasReads }) => hasReads);

  test.each(rows)('the page $name shows that it works, and does not move when the answers come', async (row) => {
    const { places } = await ofTestStores(insights.fixture);
    await pages.on({}, async ({ page }) => {
      // The answers wait until the sign of work was seen, however long a busy machine takes to draw it.
      const isWorking = page.getByRole('status', { name: 'Loading' }).first().waitFor();
      await page.route(isRead, async (route) => {
        await isWorking;
        await Bun.sleep(SLOW_MS);
        await route.continue();
      });
      await Promise.all([isWorking, page.goto(`${pages.origin}/app${row.address(places)}`)]);
      await row.content(page).waitFor();
      await page.waitForLoadState('networkidle');
      await expectStill(page);
    });
  });

  test.each(rows)('the page $name says so, and recovers without a reload', async (row) => {
    const { places } = await ofTestStores(insights.fixture);
    await pages.on({}, async ({ page }) => {
      const problem = { type: 'about:blank', title: 'Unavailable', status: 503, detail: 'ClickHouse is away.' };
      await page.route(isRead, (route) =>
        route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
      );
      await page.goto(`${pages.origin}/app${row.address(places)}`);
      await page.getByRole('alert').getByText('ClickHouse is away.').first().waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.unroute(isRead);
      // Each part of a page asks separately, and asks again after a while: then the button has gone.
      const again = page.getByRole('button', { name: 'Try again' });
      while (await again.count()) {
        await again.first().click({ timeout: 1_000 }).catch(ignoreTimeout);
        await page.waitForLoadState('networkidle');
      }
      await row.content(page).waitFor();
    });
  });
});

describe.skipIf(!hasBrowser)('with the keyboard alone', () => {
  test.each(PAGES as PageRow[])('everything on the page $name is reached, and the focus is seen', async (row) => {
    const { places } = await ofTestStores(insights.fixture);
    await pages.on({}, async ({ page, open }) => {
      await open(row.address(places));
      await row.content(page).waitFor();
      const wanted = await page.evaluate<string[]>(`(() => {
        // From the beginning, whatever has the focus.
        document.body.tabIndex = -1;
        document.body.focus();
        document.body.removeAttribute('tabindex');
        const all = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]');
        // Arrows lead through the rest of a row.
        const isTabbed = (one) => one.tabIndex >= 0 || !one.closest('tbody');
        return [...all].filter((one) => one.checkVisibility() && !one.disabled && isTabbed(one)).map((one, i) => {
          one.dataset.place = String(i);
          return one.outerHTML.slice(0, 100);
        });
      })()`);
      const left = new Map(wanted.map((what, i) => [String(i), what]));
      for (let i = 0; i < wanted.length + 10 && left.size > 0; i++) {
        await page.keyboard.press('Tab');
        const [place, outline] = await page.evaluate<[string, string]>(
          '[document.activeElement.dataset.place, getComputedStyle(document.activeElement).outlineStyle]',
        );
        // The parts of a date are reached one after the other, and show it within.
        if (!left.has(place)) continue;
        expect([left.get(place), outline]).toEqual([left.get(place), expect.not.stringMatching(/^none$/)]);
        left.delete(place);
      }
      expect([...left.values()]).toEqual([]);
    });
  });
});

describe.skipIf(!hasBrowser)('100,000 tests', () => {
  test('scroll like ten, and are found by a part of their name', async () => {
    const { origin, options, places } = await ofTestStores(large);
    await onPage(origin, options, async ({ page, open }) => {
      await open(`/${places.owner}/${places.name}/tests?sort=test_name`);
      await page.getByText('100,000 tests').waitFor();
      const last = () => page.locator('[data-index]').last().getAttribute('data-index').then(Number);
      for (let before = await last(), i = 0; i < 5; i++) {
        await page.mouse.wheel(0, 50_000);
        await page.waitForLoadState('networkidle');
        await until(last, (shown) => shown > before);
        expect(await page.locator('[data-index]').count()).toBeLessThan(100);
        before = await last();
      }
      await page.keyboard.press('/');
      await page.keyboard.type(largeName(LARGE_TESTS - 1).slice(10));
      await page.getByRole('link', { name: largeName(LARGE_TESTS - 1) }).waitFor();
      await page.getByText('1 test', { exact: true }).waitFor();
    });
  });
});
