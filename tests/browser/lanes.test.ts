/** The page of lanes says which runner fails more, in a real browser, for readers of two locales. */
import { describe, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { hasBrowser, isWithinWidth, keepPicture, PHONE, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpInsights } from '../support/insights.ts';

const DAYS = 14;
const RUNNERS = ['runner-1', 'runner-2', 'runner-3'];

/** The third runner fails in each of its runs, each time another test. */
const insights = setUpInsights(async (fixture) => {
  const jobs = Array.from({ length: DAYS * 12 }, (_, i) => {
    const at = TEST_NOW - (1 + (i % DAYS)) * DAY_MS + (i % 5) * HOUR_MS;
    const runner = RUNNERS[Math.floor(i / DAYS) % 3] ?? '';
    const isIll = runner === 'runner-3' || i === 0 || i === 17;
    const failed = { name: `test ${i % 30}`, at, status: 'failed' as const, failures: [{ message: 'no space' }] };
    return fixture.run([{ name: 'steady', at }, ...(isIll ? [failed] : [])], { place: { runner } });
  });
  await fixture.ingest(...jobs);
});
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('the page of lanes', () => {
  test.each(READERS)('says that one runner fails more, and that no test is to blame, for $locale', async (reader) => {
    await pages.on(reader, async ({ page, open }) => {
      await open(`${pages.base}/lanes`);
      const row = page.getByRole('row', { name: /runner-3/ });
      await row.getByText(/fails \d+ times as often/).waitFor();
      await row.getByText('no test is to blame').filter({ visible: true }).waitFor();
      expect(await page.getByText(/fails .* as often/).count()).toBeGreaterThan(0);
      expect(await page.getByRole('row').nth(1).textContent()).toContain('runner-3');
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, `lanes-${reader.locale}`);
      await page.getByLabel('Kind of lane').selectOption('region');
      await page.getByText('No run says its region').waitFor();
      await page.getByLabel('Kind of lane').selectOption('hour');
      await page
        .getByRole('cell', { name: /^\d\d:00$/ })
        .first()
        .waitFor();
      expect(new URL(page.url()).searchParams.get('by')).toBe('hour');
    });
    await pages.on({ ...reader, viewport: PHONE }, async ({ page, open }) => {
      await open(`${pages.base}/lanes`);
      await page.getByRole('row', { name: /runner-3/ }).waitFor();
      expect(await isWithinWidth(page)).toBe(true);
      await keepPicture(page, `lanes-phone-${reader.locale}`);
    });
  });
});
