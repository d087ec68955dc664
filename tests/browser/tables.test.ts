/** Tables in a real browser: their order, their columns, their rows, their keys and their file. */
import { describe, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { hasBrowser, keepPicture, PHONE, READERS, shiftsOn, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, setUpInsights } from '../support/insights.ts';

/** A spreadsheet would compute it. */
const FORMULA = '=HYPERLINK("https://evil.example","cart")';
const NAMES = ['bread', 'apples', FORMULA, 'dates'];

const insights = setUpInsights(async (fixture) => {
  await fixture.ingest(
    ...[1, 2, 3, 4].map((hours) =>
      fixture.run(
        NAMES.map((name, i) => ({
          name,
          at: at(hours),
          durationSeconds: i,
          ...(i < hours && { status: 'failed' as const, failures: [{ type: 'Error', message: name }] }),
        })),
      ),
    ),
  );
});
const pages = setUpPages(insights);
const WIDTHS = { phone: PHONE, narrow: { width: 320, height: 700 } };

const names = (page: Page) =>
  page.locator('tbody [data-index] a').evaluateAll((all) => all.map((one) => one.ariaLabel));
const head = (page: Page, name: string) => page.getByRole('columnheader', { name, exact: true });
const sort = (page: Page, name: string) => head(page, name).getByRole('button').click();

describe.skipIf(!hasBrowser)('a table', () => {
  test.each(READERS)(
    'is sorted by its heads, where the service sorts, and the address has the order: %j',
    async (reader) => {
      await pages.on(reader, async ({ page, open }) => {
        await open(`${pages.base}/tests`);
        await sort(page, 'Test');
        await page.waitForURL(/sort=test_name/);
        await page.locator('[aria-sort=ascending]').waitFor();
        await page.locator('tbody[aria-busy=true]').waitFor({ state: 'detached' });
        expect(await names(page)).toEqual([...NAMES].sort());
        await sort(page, 'Test');
        await page.waitForURL(/direction=desc/);
        await page.locator('[aria-sort=descending]').waitFor();
        await page.locator('tbody tr:first-child a[aria-label=dates]').waitFor();
        expect(await names(page)).toEqual([...NAMES].sort().reverse());
        await page.reload();
        await page.locator('[aria-sort=descending]').waitFor();
        expect(await names(page)).toEqual([...NAMES].sort().reverse());
        await sort(page, 'Failed in 30 days');
        await page.locator('tbody tr:first-child a[aria-label=bread]').waitFor();
        await sort(page, 'Health');
        await page.waitForURL((url) => !url.search.includes('sort'));
        await page.locator('tbody[aria-busy=true]').waitFor({ state: 'detached' });
        expect(await violationsOn(page)).toEqual([]);
      });
    },
  );

  test('of tests has their median duration, the longest first by its head', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/tests`);
      await sort(page, 'Median');
      await page.waitForURL(/sort=median_seconds/);
      await page.locator('[aria-sort=descending]').waitFor();
      await page.locator('tbody tr:first-child').getByText('3 s', { exact: true }).waitFor();
      expect(await names(page)).toEqual(['dates', FORMULA, 'apples', 'bread']);
      expect(await violationsOn(page)).toEqual([]);
    });
  });

  test('is sorted here where all of it is here, both ways', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/lanes?by=hour`);
      const hours = () => page.locator('tbody tr td:first-child').allTextContents();
      await sort(page, 'Hour (UTC)');
      const up = await hours();
      expect(up).toEqual([...up].sort());
      await sort(page, 'Hour (UTC)');
      await page.waitForURL(/direction=desc/);
      expect(await hours()).toEqual([...up].reverse());
    });
  });

  test('has the columns that one chooses, and the address keeps them', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/tests`);
      await page.getByRole('button', { name: 'Columns' }).press('Enter');
      await page.getByRole('menuitemcheckbox', { name: 'Executions' }).press('Enter');
      await page.getByRole('menuitemcheckbox', { name: 'Last failure' }).press('Enter');
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, 'table-columns');
      await page.keyboard.press('Escape');
      await head(page, 'Executions').waitFor();
      await head(page, 'Last failure').waitFor({ state: 'detached' });
      // The menu gives the focus back a frame after it has gone.
      await page.locator('button:focus', { hasText: 'Columns' }).waitFor();
      await page.reload();
      await head(page, 'Executions').waitFor();
      expect(await head(page, 'Last failure').count()).toBe(0);
      await page.getByRole('button', { name: 'Columns' }).press('Enter');
      await page.getByRole('menuitemcheckbox', { name: 'Executions' }).press('Enter');
      await page.getByRole('menuitemcheckbox', { name: 'Last failure' }).press('Enter');
      await page.waitForURL((url) => !url.searchParams.has('columns'));
    });
  });

  test('gives a file of what it shows, in which no text is a formula', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/tests?sort=test_name&columns=test_name,failed_executions_count`);
      await page.getByRole('button', { name: 'Columns' }).press('Enter');
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: 'Download CSV' }).press('Enter'),
      ]);
      const { owner, name } = insights.fixture.repository;
      expect(file.suggestedFilename()).toMatch(new RegExp(`^${owner}-${name}-tests-\\d{4}-\\d\\d-\\d\\d\\.csv$`));
      const text = await readFile(await file.path(), 'utf8');
      expect(text).toBe(
        [
          '\uFEFFTest,Failed in 30 days',
          `"'${FORMULA.replaceAll('"', '""')}",2`,
          'apples,3',
          'bread,4',
          'dates,1',
          '',
        ].join('\r\n'),
      );
    });
  });

  test('is walked with keys: j from anywhere, rows up and down, what a row holds left and right', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/tests?sort=test_name`);
      const focused = () => page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent');
      await page.keyboard.press('j');
      expect(await focused()).toBe(FORMULA);
      await page.keyboard.press('j');
      await page.locator('a[aria-label=apples]:focus').waitFor();
      await page.keyboard.press('ArrowRight');
      expect(await focused()).toBe('CI');
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowUp');
      await page.locator('tbody tr:first-child a[aria-label]:focus').waitFor();
    });
  });

  test.each([WIDTHS.phone, WIDTHS.narrow])('fits a narrow screen, with high or low rows: %j', async (viewport) => {
    await pages.on({ viewport }, async ({ page, open }) => {
      await open(`${pages.base}/tests`);
      const height = () => page.locator('tbody [data-index="0"]').evaluate((row) => row.getBoundingClientRect().height);
      const roomy = await height();
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await page.getByRole('button', { name: 'Display' }).press('Enter');
      await page.getByRole('menuitemradio', { name: 'Dense' }).press('Enter');
      await page.getByRole('menu').waitFor({ state: 'detached' });
      expect(await height()).toBeLessThan(roomy);
      await page.reload();
      await page.locator('tbody [data-index="0"]').waitFor();
      expect(await height()).toBeLessThan(roomy);
      expect(await violationsOn(page)).toEqual([]);
      expect(await shiftsOn(page)).toEqual([]);
    });
  });

  test('says more by hover, by focus and by touch: a tooltip that readers hear', async () => {
    await pages.on({ hasTouch: true }, async ({ page, open }) => {
      await open(`${pages.base}/tests?sort=test_name`);
      const hinted = page.getByRole('button', { name: '3 75%' });
      const hint = page.getByRole('tooltip').getByText('3 of 4 executions failed in the last 30 days');
      await hinted.hover();
      await hint.waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await hint.waitFor({ state: 'detached' });
      await hinted.tap();
      await hint.waitFor();
      await page.mouse.move(0, 0);
      await hint.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'apples' }).focus();
      for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
      await hint.waitFor();
      const id = await hinted.getAttribute('aria-describedby');
      expect(await page.locator(`[id="${id}"]`).textContent()).toBe('3 of 4 executions failed in the last 30 days');
    });
  });

  test('says names in full where they are cut, and moments in UTC, by the keyboard and by touch', async () => {
    await pages.on({ hasTouch: true, viewport: { width: 320, height: 700 } }, async ({ page, open }) => {
      await open(`${pages.base}/tests?sort=test_name`);
      const tooltip = page.getByRole('tooltip');
      const whole = page.getByRole('link', { name: 'apples' });
      const cut = page.getByRole('link', { name: FORMULA });
      await cut.focus();
      await page.keyboard.press('ArrowDown');
      await page.locator('a[aria-label=apples]:focus').waitFor();
      expect(await whole.locator('[data-hint]').count()).toBe(1);
      expect(await tooltip.count()).toBe(0);
      await page.keyboard.press('ArrowUp');
      await tooltip.getByText(FORMULA).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await open(`${pages.base}/runs`);
      const moment = page.locator('tbody time').first();
      await moment.tap();
      await tooltip.getByText('UTC').waitFor();
      await page.keyboard.press('Escape');
      await tooltip.waitFor({ state: 'detached' });
      expect(await page.locator('main [title]').count()).toBe(0);
    });
  });
});
