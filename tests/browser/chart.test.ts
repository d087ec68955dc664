/** A chart is read by pointing, by touch, by keyboard and as a table, and each says the same; for readers of two locales. */
import { describe, expect, test } from 'bun:test';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { testIdOf } from '../../src/domain/identity.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { hasBrowser, isWithinWidth, keepPicture, PHONE, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpInsights } from '../support/insights.ts';

const DAYS = 6;
const NAME = 'src/cart.test.ts > sums';
const failures = [{ type: 'AssertionError', message: 'expected 3 to equal 4' }];

/** One day ago it passed twice, two days ago it failed once and passed twice, and so on. */
const insights = setUpInsights(async (fixture) => {
  const runs = Array.from({ length: DAYS }, (_, i) => {
    const at = TEST_NOW - (i + 1) * DAY_MS;
    const passed = [at - 1_000, at - 2_000].map((moment) => fixture.run([{ name: NAME, at: moment }]));
    return i % 2 === 0 ? passed : [...passed, fixture.run([{ name: NAME, at, status: 'failed', failures }])];
  });
  await fixture.ingest(...runs.flat());
});
const pages = setUpPages(insights);

const address = (): string => `${pages.base}/tests/${testIdOf(insights.fixture.id, NAME)}?days=30`;
const results = (page: Page): Locator => page.getByRole('region', { name: 'Results' });
const chart = (page: Page): Locator => results(page).getByRole('slider');
const told = (page: Page): Promise<string | null> => chart(page).getAttribute('aria-valuetext');
const dayOf = (ago: number, { locale }: { locale: string }): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(TEST_NOW - ago * DAY_MS);

describe.skipIf(!hasBrowser)('the chart of a test', () => {
  test.each(READERS)(
    'says by keyboard, by pointer and as a table what happened on a day, for $locale',
    async (reader) => {
      await pages.on(reader, async ({ page, open }) => {
        await open(address());
        const failedDay = `${dayOf(2, reader)} UTC, Passed 2, Failed 1,`;
        await chart(page).focus();
        for (const key of ['End', 'ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key);
        expect(await told(page)).toStartWith(failedDay);
        await keepPicture(page, `chart-keyboard-${reader.locale}`);
        expect(await violationsOn(page)).toEqual([]);
        await page.keyboard.press('Home');
        expect(await told(page)).toStartWith(`${dayOf(29, reader)} UTC, Passed 0, Failed 0,`);
        await chart(page).blur();

        const { width } = (await chart(page).boundingBox()) ?? { width: 0 };
        await chart(page).hover({ position: { x: width * (27.5 / 30), y: 20 } });
        expect(await told(page)).toStartWith(failedDay);
        expect(await chart(page).textContent()).toContain(`${dayOf(2, reader)} UTC`);

        await results(page).getByText('As a table').click();
        const rows = results(page).getByRole('row');
        await rows.nth(30).waitFor();
        expect(await rows.count()).toBe(31);
        const row = results(page).getByRole('row', { name: dayOf(2, reader) });
        expect(await row.getByRole('cell').allInnerTexts()).toEqual(['2', '1', '1', '100 ms']);
        expect(await violationsOn(page)).toEqual([]);
      });
    },
  );

  test('chooses a part of the time by keyboard, as by dragging', async () => {
    await pages.on(READERS[0], async ({ page, open }) => {
      const chosen = (): (string | null)[] => ['from', 'to'].map((name) => new URL(page.url()).searchParams.get(name));
      await open(address());
      await chart(page).focus();
      for (const key of ['Home', 'ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Enter'])
        await page.keyboard.press(key);
      await page.waitForURL(/from=/);
      const byKeyboard = chosen();
      const [start = 0, end = 0] = byKeyboard.map((at) => Date.parse(at ?? ''));
      expect(end - start).toBe(3 * DAY_MS);

      await open(address());
      await chart(page).scrollIntoViewIfNeeded();
      const { x, y, width } = (await chart(page).boundingBox()) ?? { x: 0, y: 0, width: 0 };
      await page.mouse.move(x + width * (1.5 / 30), y + 20);
      await page.mouse.down();
      await page.mouse.move(x + width * (3.5 / 30), y + 20, { steps: 5 });
      await page.mouse.up();
      await page.waitForURL(/from=/);
      expect(chosen()).toEqual(byKeyboard);
    });
  });

  test('answers a finger, and fits a phone', async () => {
    const phone: BrowserContextOptions = { ...READERS[1], viewport: { ...PHONE, width: 320 }, hasTouch: true };
    await pages.on(phone, async ({ page, open }) => {
      await open(address());
      await chart(page).scrollIntoViewIfNeeded();
      const { width } = (await chart(page).boundingBox()) ?? { width: 0 };
      await chart(page).tap({ position: { x: width * (27.5 / 30), y: 20 } });
      expect(await chart(page).textContent()).toContain(`${dayOf(2, READERS[1])} UTC`);
      expect(new URL(page.url()).searchParams.has('from')).toBe(false);
      expect(await isWithinWidth(page)).toBe(true);
      await keepPicture(page, 'chart-phone');
    });
  });
});
