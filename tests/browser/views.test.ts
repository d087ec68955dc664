/** Saved views in a real browser: saved from a list page, picked again, found by the jump box, deleted and brought back. */
import { describe, expect, test } from 'bun:test';
import { hasBrowser, isWithinWidth, PHONE, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { ingestHistory, setUpInsights } from '../support/insights.ts';

const insights = setUpInsights(ingestHistory);
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('a saved view', () => {
  test.each(READERS)('is saved, picked, found, deleted and restored, for $locale', async (reader) => {
    const name = `Flaky <b>first</b> ${reader.locale}`;
    await pages.on(reader, async ({ page, open }) => {
      const menu = page.getByRole('menu', { name: 'Views' });
      const openMenu = async () => {
        await page.getByRole('button', { name: 'Views' }).click();
        await menu.waitFor();
      };
      await open(`${pages.base}/tests?health=flaky&sort=last_failure_at`);
      await openMenu();
      expect(await violationsOn(page)).toEqual([]);
      await menu.getByRole('menuitem', { name: 'Save this view …' }).click();
      const dialog = page.getByRole('dialog', { name: 'Save this view' });
      await dialog.getByLabel('Name').fill(name);
      expect(await violationsOn(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByText(`Saved the view “${name}”.`).waitFor();

      // From another page: each page with a list has the menu, others have none.
      await open(`${pages.base}/settings`);
      await page.getByRole('heading', { name: 'Settings' }).first().waitFor();
      expect(await page.getByRole('button', { name: 'Views' }).count()).toBe(0);
      await open(`${pages.base}/runs`);
      await openMenu();
      const item = menu.getByRole('menuitemradio', { name: new RegExp(`^${name}`) });
      await item.waitFor();
      expect(await item.getAttribute('aria-checked')).toBe('false');
      await item.press('Enter');
      await page.waitForURL(/\/tests\?(?=.*health=flaky)(?=.*sort=last_failure_at)/);

      await open(pages.base);
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: /view or page/ }).waitFor();
      await page.keyboard.type('<b>first');
      await page.getByRole('option', { name: `View ${name}` }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/tests\?/);

      await openMenu();
      await item.waitFor();
      expect(await item.getAttribute('aria-checked')).toBe('true');
      await menu.getByRole('menuitem', { name: `Delete “${name}”` }).click();
      const toast = page.getByRole('alertdialog').filter({ hasText: `Deleted the view “${name}”.` });
      await toast.waitFor();
      await openMenu();
      await menu.getByRole('menuitem', { name: 'Save this view …' }).waitFor();
      expect(await item.count()).toBe(0);
      await page.keyboard.press('Escape');
      await toast.getByRole('button', { name: 'Undo' }).click();
      await toast.waitFor({ state: 'detached' });
      await openMenu();
      await item.waitFor();
    });
  });

  test('is refused with the reason when its name is taken, and keeps what was typed', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/causes`);
      const save = async () => {
        await page.getByRole('button', { name: 'Views' }).click();
        await page.getByRole('menuitem', { name: 'Save this view …' }).click();
        await page.getByLabel('Name').fill('Taken');
        await page.getByLabel('For everyone').check();
        await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      };
      await save();
      await page.getByText('Saved the view “Taken”.').waitFor();
      await save();
      await page.getByRole('alert').filter({ hasText: 'There is a view called' }).waitFor();
      expect(await page.getByLabel('Name').inputValue()).toBe('Taken');
    });
  });

  test('of everyone is picked by those who may only read, and neither saved nor deleted by them', async () => {
    const { base } = insights.fixture;
    const body = JSON.stringify({ name: 'For all', page: 'runs', is_shared: true });
    await insights.app.request(`${base}/views`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const key = await pages.service.makeKey({ scope: 'view' });
    await pages.on({ key, viewport: PHONE }, async ({ page, open }) => {
      await open(`${pages.base}/tests`);
      expect(await isWithinWidth(page)).toBe(true);
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('menuitemradio', { name: /^For all/ }).click();
      await page.waitForURL(/\/runs$/);
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('menuitemradio', { name: /^For all/ }).waitFor();
      expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Save this view …']);
      await page.getByRole('menuitem', { name: 'Save this view …' }).click();
      await page.getByLabel('Name').waitFor();
      expect(await page.getByLabel('For everyone').count()).toBe(0);
      expect(await violationsOn(page)).toEqual([]);
    });
  });
});
