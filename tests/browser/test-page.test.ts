/** What the page of a test leads to: a prompt for an agent, the reason as of a day, and backtests. */
import { describe, expect, test } from 'bun:test';
import { testIdOf } from '../../src/domain/identity.ts';
import { FENCE_NOTE } from '../../src/domain/told-text.ts';
import { hasBrowser, isWithinWidth, keepPicture, PHONE, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { ingestHistory, NAME, setUpInsights } from '../support/insights.ts';

const insights = setUpInsights(ingestHistory);
const pages = setUpPages(insights);
const address = (): string => `${pages.base}/tests/${testIdOf(insights.fixture.id, NAME)}`;

describe.skipIf(!hasBrowser)('the page of a test', () => {
  test('copies a prompt, and explains what was known at the end of a day', async () => {
    await pages.on({ ...READERS[1], permissions: ['clipboard-read', 'clipboard-write'] }, async ({ page, open }) => {
      await open(address());
      await page.getByRole('button', { name: /Copy as prompt/ }).click();
      await page
        .getByRole('status')
        .filter({ hasText: /^Copied, \d+ tokens$/ })
        .waitFor({ state: 'attached' });
      const copied = await page.evaluate<string>('navigator.clipboard.readText()');
      expect(copied).toContain(FENCE_NOTE);
      expect(copied).toContain(`Test: ⟦${NAME}⟧`);

      await page.getByRole('button', { name: /^Why is it/ }).click();
      await page.getByLabel('As it was known at the end of (UTC)').fill('2020-01-01');
      await page.getByText('It had not run by then.').waitFor();
      expect(new URL(page.url()).searchParams.get('asOf')).toBe('2020-01-01');
      expect(await violationsOn(page)).toEqual([]);
      await page.reload();
      await page.getByText('It had not run by then.').waitFor();
      await page.getByRole('button', { name: 'Now' }).click();
      await page.getByText('It had not run by then.').waitFor({ state: 'detached' });
    });
  });

  test('a backtest is asked for with other levels, by an address that keeps it', async () => {
    await pages.on({ ...READERS[0], viewport: { ...PHONE, width: 320 } }, async ({ page, open }) => {
      await open(`${pages.base}/quarantines/backtest`);
      await page.getByLabel('Switched on (UTC day)').fill('2026-10-01');
      await page.getByLabel('Least probability').fill('0.9');
      expect(await isWithinWidth(page)).toBe(true);
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, 'backtest-phone');
      await page.getByRole('button', { name: 'Start' }).click();
      await page.getByRole('region', { name: 'It runs' }).waitFor();
      const list = page.getByRole('region', { name: 'Backtests so far' });
      await list.getByRole('link', { name: /^Flaky tests since .*Oct.*, least probability 0\.9/ }).waitFor();
      await list.getByText('It runs.').waitFor();
      expect(await page.getByLabel('Least probability').inputValue()).toBe('0.9');
      expect(new URL(page.url()).searchParams.get('id')).not.toBeNull();
      expect(await violationsOn(page)).toEqual([]);
    });
  });
});
