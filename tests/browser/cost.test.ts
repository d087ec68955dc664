/** The page of costs shows the week of docs/cost.md, in a real browser, for readers of two locales. */
import { describe, expect, test } from 'bun:test';
import { hasBrowser, isWithinWidth, keepPicture, PHONE, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { ingestCostlyWeek } from '../support/costly-week.ts';
import { setUpInsights } from '../support/insights.ts';

const insights = setUpInsights(ingestCostlyWeek);
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('the page of costs', () => {
  test.each(READERS)('has red runs by reason, and what each test costs, for $locale', async (reader) => {
    await pages.on(reader, async ({ page, open }) => {
      await open(`${pages.base}/cost`);
      const red = page.getByRole('region', { name: 'Red runs', exact: true });
      await red.getByText('6 by a broken test').waitFor();
      await red.getByText('3 by a flaky test').waitFor();
      await red
        .getByText(/Lost: 40 min of CI in reruns, and 3\.5 h in which authors waited, on 5 pull requests/)
        .waitFor();
      await red
        .getByText(/2 pull requests left the merge queue unmerged: 1 by no failure of the change, 1 by one/)
        .waitFor();
      const rows = page.getByRole('row');
      expect(await rows.nth(1).textContent()).toContain('pays');
      await page.getByRole('button', { name: 'Waiting' }).click();
      await page.getByRole('columnheader', { name: 'Waiting' }).and(page.locator('[aria-sort=descending]')).waitFor();
      await page.getByRole('row').nth(1).getByText('50 min').waitFor();
      expect(await rows.nth(1).getByRole('cell').allTextContents()).toEqual([
        'cartno owner',
        '1.5',
        '1',
        '2',
        '15 min',
        '50 min',
        '0',
      ]);
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, `cost-${reader.locale}`);
      await page.getByLabel('Shared out among').selectOption('owner');
      await page
        .getByRole('table', { name: 'Cost by owner' })
        .getByRole('row', { name: /No owner/ })
        .waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByLabel('Shared out among').selectOption('cause');
      await page
        .getByRole('table', { name: 'Cost by cause' })
        .getByRole('row', { name: /No cause/ })
        .waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('link', { name: /pays failed/ }).click();
      await page.getByRole('region', { name: 'Cost' }).getByText('6 of 6 that it hit').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.goBack();
      await page.getByLabel('Shared out among').selectOption('test');
      await page.getByLabel('Reason').selectOption('change');
      await page.getByRole('row', { name: /totals/ }).waitFor();
      expect(new URL(page.url()).searchParams.get('reason')).toBe('change');
    });
    await pages.on({ ...reader, viewport: PHONE, colorScheme: 'dark' }, async ({ page, open }) => {
      await open(`${pages.base}/cost`);
      await page.getByRole('row', { name: /pays/ }).waitFor();
      expect(await isWithinWidth(page)).toBe(true);
      await keepPicture(page, `cost-phone-${reader.locale}`);
    });
  });

  test('has the figures by which the tests page sorts', async () => {
    await pages.on({}, async ({ page, open }) => {
      await page.setViewportSize({ width: 1600, height: 900 });
      await open(`${pages.base}/tests`);
      await page.getByRole('button', { name: 'Columns' }).press('Enter');
      await page.getByRole('menuitemcheckbox', { name: 'Red runs' }).press('Enter');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Red runs' }).click();
      await page.waitForURL(/sort=cost/);
      await page.getByRole('columnheader', { name: 'Red runs' }).and(page.locator('[aria-sort=descending]')).waitFor();
      const rows = page.getByRole('row');
      await rows.nth(3).getByText('mail').waitFor();
      const shown = await Promise.all(
        [1, 2, 3, 4].map(async (row) => [
          await rows.nth(row).getByRole('link').first().getAttribute('aria-label'),
          (await rows.nth(row).getByRole('cell').allTextContents()).at(-2),
        ]),
      );
      expect(shown).toEqual([
        ['pays', '6'],
        ['cart', '1.5'],
        ['mail', '1.5'],
        ['last', '0'],
      ]);
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, 'tests-by-cost');
      // The order of an address brings its column.
      await open(`${pages.base}/tests?sort=cost`);
      await page.getByRole('columnheader', { name: 'Red runs' }).waitFor();
    });
  });
});
