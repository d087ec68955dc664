/** The pages of a repository can be reached from each of them, with the width of a screen and of a phone. */
import { describe, expect, test } from 'bun:test';
import { hasBrowser, isWithinWidth, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { ingestHistory, setUpInsights } from '../support/insights.ts';

const insights = setUpInsights(ingestHistory);
const pages = setUpPages(insights);

const WIDE = [1280, 1920];
const ALL_IN_VIEW = `(() => {
  const row = document.querySelector('nav[aria-label="Pages of this repository"] ul');
  return row.scrollWidth <= row.clientWidth;
})()`;

describe.skipIf(!hasBrowser)('the pages of a repository', () => {
  test('are a row of tabs on a wide screen, all of them in view', async () => {
    for (const width of WIDE)
      await pages.on({ viewport: { width, height: 900 } }, async ({ page, open }) => {
        await open(`${pages.base}/runs`);
        const tabs = page.getByRole('navigation', { name: 'Pages of this repository' });
        await tabs.getByRole('link', { name: 'Uploads' }).waitFor();
        expect(await page.evaluate<boolean>(ALL_IN_VIEW)).toBe(true);
        expect(await tabs.locator('[aria-current="page"]:visible').allTextContents()).toEqual(['Runs']);
      });
  });

  test('are behind the name of the open one on a phone, which a page, Escape and the keyboard close', async () => {
    await pages.on({ ...READERS[1], viewport: { width: 390, height: 740 } }, async ({ page, open }) => {
      await open(`${pages.base}/runs`);
      const tabs = page.getByRole('navigation', { name: 'Pages of this repository' });
      const button = tabs.locator('summary');
      expect(await button.textContent()).toContain('Runs');
      await button.focus();
      await page.keyboard.press('Enter');
      await tabs.getByRole('link', { name: 'Tests' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      expect(await isWithinWidth(page)).toBe(true);
      await page.keyboard.press('Escape');
      await tabs.getByRole('link', { name: 'Tests' }).waitFor({ state: 'hidden' });
      await page.keyboard.press('Enter');
      await tabs.getByRole('link', { name: 'Tests' }).click();
      await page.waitForURL(/\/tests$/);
      await tabs.getByRole('link', { name: 'Tests' }).waitFor({ state: 'hidden' });
      await tabs.locator('summary', { hasText: 'Tests' }).waitFor();
    });
  });
});
