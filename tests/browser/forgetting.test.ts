/** Forgetting tests on the page of a test and in the settings, in a real browser, for readers of two locales. */
import { describe, expect, test } from 'bun:test';
import { testIdOf } from '../../src/domain/identity.ts';
import { hasBrowser, isWithinWidth, keepPicture, PHONE, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';

const DAY_HOURS = 24;
const [DESK, AWAY] = READERS;
/** One at a desk, one with a phone at night. */
const PEOPLE = [DESK, { ...AWAY, viewport: PHONE, colorScheme: 'dark' as const }];
const nameOf = (locale: string, which: string) => `shop.CartTest.${which} for ${locale}`;

const insights = setUpInsights(async (fixture) => {
  const now = PEOPLE.flatMap(({ locale }) => ['sums', 'rounds'].map((which) => nameOf(locale, which)));
  const before = PEOPLE.map(({ locale }) => nameOf(locale, 'random 4711'));
  for (const [index, days] of [30, 20, 10, 0].entries()) {
    const hours = days * DAY_HOURS + 2;
    const names = days >= 20 ? [...now, ...before] : now;
    const ran = names.map((name) => ({
      name,
      at: at(hours),
      status: index === 0 ? ('failed' as const) : ('passed' as const),
    }));
    await fixture.ingest(fixture.run([...ran, ...beside(hours)], { commit: `c${index}` }));
  }
});
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('forgetting tests', () => {
  test.each(PEOPLE)('says what goes before it does, on two pages, for $locale', async (reader) => {
    await pages.on(reader, async ({ page, open }) => {
      const { locale } = reader;
      const { id } = insights.fixture;
      await open(`${pages.base}/tests/${testIdOf(id, nameOf(locale, 'sums'))}`);
      await page.getByRole('region', { name: 'Forget' }).getByRole('button', { name: 'Forget …' }).click();
      const dialog = page.getByRole('dialog', { name: 'Forget this test' });
      await dialog.getByText(/^What goes: 1 test, 4 executions, 1 failure/).waitFor();
      expect(await isWithinWidth(page)).toBe(true);
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, `forget-test-${locale}`);
      await dialog.getByRole('button', { name: 'Forget for good' }).click();
      await page.waitForURL((url) => url.pathname.endsWith('/tests'));
      await page.getByText('Forgetting 1 test.').first().waitFor();
      await insights.fixture.settle();

      await open(`${pages.base}/settings`);
      const section = page.getByRole('region', { name: 'Tests that no longer run' });
      await section.getByText('Forgot 1 test, with 4 executions').first().waitFor();
      await section.getByRole('spinbutton', { name: 'Not run for, in days' }).fill('15');
      await section.getByRole('button', { name: 'Forget …' }).click();
      const list = page.getByRole('dialog', { name: 'Tests that have not run for 15 days' });
      await list.getByText(nameOf(locale, 'random 4711')).waitFor();
      expect(await isWithinWidth(page)).toBe(true);
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, `forget-list-${locale}`);
      await list.getByRole('button', { name: 'Cancel' }).click();
      await section.scrollIntoViewIfNeeded();
      await keepPicture(page, `forget-settings-${locale}`);
    });
  });
});
