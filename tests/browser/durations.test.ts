/** The page of durations names the test that grew and its commits, in a real browser, for readers of two locales. */
import { describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/domain/time.ts';
import { hasBrowser, isWithinWidth, keepPicture, PHONE, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpInsights } from '../support/insights.ts';

const DAYS = 16;

const insights = setUpInsights(async (fixture) => {
  const runs = Array.from({ length: DAYS }, (_, ago) => {
    const at = TEST_NOW - ago * DAY_MS - 3_600_000;
    const slow = 1 + (ago % 5) / 100;
    return fixture.run(
      [
        ...Array.from({ length: 5 }, (__, i) => ({ name: `steady ${i}`, at, durationSeconds: 1.5 * slow })),
        { name: 'src/pay.test.ts > waits for the bank', at, durationSeconds: (ago < 6 ? 4 : 1) * slow },
      ],
      { commit: `commit-of-day-${DAYS - ago}` },
    );
  });
  await fixture.ingest(...runs);
});
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('the page of durations', () => {
  test.each(READERS)('names the test that grew, and since which commits, for $locale', async (reader) => {
    await pages.on(reader, async ({ page, open }) => {
      await open(`${pages.base}/durations`);
      await page.getByText('6 tests in their legs on the default branch, of the last 28 days; 1 grew.').waitFor();
      await page.getByRole('button', { name: 'Grown' }).click();
      const row = page.getByRole('row', { name: /waits for the bank/ });
      await row.getByText('▲ 4 times').waitFor();
      expect(await row.getByRole('link', { name: 'commit-of-' }).count()).toBe(2);
      await page.getByRole('row').nth(2).waitFor({ state: 'detached' });
      expect(new URL(page.url()).searchParams.get('sort')).toBe('growth');
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, `durations-${reader.locale}`);
    });
    await pages.on({ ...reader, viewport: PHONE }, async ({ page, open }) => {
      await open(`${pages.base}/durations`);
      await page.getByRole('row', { name: /waits for the bank/ }).waitFor();
      expect(await isWithinWidth(page)).toBe(true);
      await keepPicture(page, `durations-phone-${reader.locale}`);
    });
  });
});
