/** A renamed test on its page and in the settings: proposed, accepted, undone; in a real browser, for readers of two locales. */
import { describe, expect, test } from 'bun:test';
import { testIdOf } from '../../src/domain/identity.ts';
import { hasBrowser, isWithinWidth, keepPicture, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';

const OLD = 'shop.CartTest.sums';
const NEW = 'shop.cart.CartTest.sums';

const insights = setUpInsights(async (fixture) => {
  for (const [hour, name] of [OLD, OLD, OLD, OLD, NEW, NEW, NEW, NEW].entries()) {
    const hours = 20 - hour;
    await fixture.ingest(fixture.run([{ name, at: at(hours) }, ...beside(hours)], { commit: `c${hour}` }));
  }
});
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('a renamed test', () => {
  test.each(READERS)(
    'is proposed, accepted and undone on its page and in the settings, for $locale',
    async (reader) => {
      await pages.on(reader, async ({ page, open }) => {
        const address = (name: string) => `${pages.base}/tests/${testIdOf(insights.fixture.id, name)}`;
        await open(pages.base);
        const waiting = page
          .getByRole('region', { name: 'Renamed tests' })
          .getByRole('link', { name: '1 rename to accept or reject' });
        if (reader === READERS[0]) {
          await waiting.click();
          await page.getByRole('region', { name: 'Renamed tests' }).getByText('Perhaps renamed:').waitFor();
        }
        await open(address(NEW));
        const names = page.getByRole('region', { name: 'Names' });
        await names.getByText(/^(Perhaps renamed|No longer renamed):$/).waitFor();
        await names.getByText('one ended where the other began, the same name in another place').waitFor();
        expect(await isWithinWidth(page)).toBe(true);
        expect(await violationsOn(page)).toEqual([]);
        await keepPicture(page, `renames-test-${reader.locale}`);
        await names.getByRole('button', { name: /^Accept/ }).click();
        // The page of the new name becomes that of the test, which keeps its id.
        await page.waitForURL(`**${address(OLD)}*`);
        await page.getByRole('heading', { level: 1, name: NEW }).waitFor();
        await names.getByText('Renamed:').waitFor();
        await open(pages.base);
        const lately = page.getByRole('region', { name: 'Renamed tests' });
        await lately.getByRole('link', { name: NEW }).waitFor();
        expect(await violationsOn(page)).toEqual([]);
        await keepPicture(page, `renames-today-${reader.locale}`);
        await open(`${pages.base}/settings`);
        const list = page.getByRole('region', { name: 'Renamed tests' });
        await list.getByText('Renamed:').waitFor();
        expect(await isWithinWidth(page)).toBe(true);
        expect(await violationsOn(page)).toEqual([]);
        await keepPicture(page, `renames-settings-${reader.locale}`);
        await list.getByRole('button', { name: /^Undo/ }).click();
        await list.getByText('No longer renamed:').waitFor();
        await list
          .getByRole('button', { name: /^Accept/ })
          .and(page.locator(':enabled'))
          .waitFor();
        await insights.fixture.settle();
        await open(address(OLD));
        await page.getByRole('heading', { level: 1, name: OLD }).waitFor();
      });
    },
  );
});
