/** What a reader chooses for themselves: the scheme of colours, and the zone of times. */
import { describe, expect, test } from 'bun:test';
import { testIdOf } from '../../src/domain/identity.ts';
import { hasBrowser, isWithinWidth, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { ingestHistory, NAME, setUpInsights } from '../support/insights.ts';

const insights = setUpInsights(ingestHistory);
const pages = setUpPages(insights);
const BACKGROUND = 'getComputedStyle(document.body).backgroundColor';

describe.skipIf(!hasBrowser)('a reader', () => {
  test('chooses light or dark against the system, and the browser keeps it', async () => {
    await pages.on({ ...READERS[1], colorScheme: 'light' }, async ({ page, open }) => {
      await open(`${pages.base}/tests/${testIdOf(insights.fixture.id, NAME)}`);
      const light = await page.evaluate(BACKGROUND);
      await page.getByRole('button', { name: 'Display' }).click();
      await page.getByRole('menu', { name: 'Display' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('menuitemradio', { name: 'Dark' }).click();
      const dark = await page.evaluate(BACKGROUND);
      expect(dark).not.toBe(light);
      await page.reload();
      await page.getByRole('heading', { name: NAME }).waitFor();
      expect(await page.evaluate(BACKGROUND)).toBe(dark);
      await page.getByRole('button', { name: 'Display' }).click();
      await page.getByRole('menuitemradio', { name: 'As the system' }).click();
      expect(await page.evaluate(BACKGROUND)).toBe(light);
    });
  });

  test.each(READERS)('has times of UTC if they want, for $locale', async (reader) => {
    await pages.on({ ...reader, viewport: { width: 390, height: 740 } }, async ({ page, open }) => {
      await open(`${pages.base}/runs`);
      expect(await isWithinWidth(page)).toBe(true);
      const hint = async () => (await page.locator('main time').first().getAttribute('data-hint'))?.split('\n') ?? [];
      const [own, utc = ''] = await hint();
      const clock = utc.slice(11, 16);
      expect(own).not.toContain(clock);
      await page.getByRole('button', { name: 'Display' }).click();
      await Promise.all([page.waitForEvent('load'), page.getByRole('menuitemradio', { name: 'UTC' }).click()]);
      await page.locator('main time').first().waitFor();
      const [chosen = ''] = await hint();
      const hour = Number(clock.slice(0, 2)) % (reader.locale === 'en-US' ? 12 : 24) || 12;
      expect(chosen).toContain(`${reader.locale === 'en-US' ? hour : clock.slice(0, 2)}:${clock.slice(3)}`);
      expect(chosen).not.toBe(own ?? '');
    });
  });
});
