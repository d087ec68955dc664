/** Where a test fails, on its page: in a real browser, for readers of two locales. */
import { describe, expect, test } from 'bun:test';
import { testIdOf } from '../../src/domain/identity.ts';
import {
  hasBrowser,
  isWithinWidth,
  keepPicture,
  PHONE,
  READERS,
  shiftsOn,
  violationsOn,
  WIDE,
} from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
const LEGS = ['linux', 'macos', 'windows'].flatMap((os) => ['3.12', '3.13'].map((python) => ({ os, python })));
const COMMITS = 8;

const insights = setUpInsights((fixture) =>
  fixture.ingest(
    ...Array.from({ length: COMMITS }, (_, i) =>
      LEGS.map((axes) => {
        const status = axes.os === 'windows' && i !== 3 ? ('failed' as const) : ('passed' as const);
        const row = { at: at(1 + 24 * i), status, failures: status === 'failed' ? [{ message: 'no' }] : [] };
        return fixture.run(
          [{ name: 'on windows', ...row }, { name: 'fine', at: at(1 + 24 * i) }, ...beside(1 + 24 * i)],
          { commit: `c${i}`, axes },
        );
      }),
    ).flat(),
    ...Array.from({ length: COMMITS }, (_, i) =>
      [HOSTILE, 'calm'].map((flavour) =>
        fixture.run(
          [
            {
              name: 'with hostile axes',
              at: at(2 + 24 * i),
              status: flavour === HOSTILE ? 'failed' : 'passed',
              failures: flavour === HOSTILE ? [{ message: 'no' }] : [],
            },
            ...beside(2 + 24 * i),
          ],
          { commit: `h${i}`, axes: { flavour, long: 'x'.repeat(255) } },
        ),
      ),
    ).flat(),
  ),
);
const pages = setUpPages(insights);
const addressOf = (name: string): string => `${pages.base}/tests/${testIdOf(insights.fixture.id, name)}`;

describe.skipIf(!hasBrowser)('where a test fails', () => {
  test.each(READERS)('is said with its legs, for $locale', async (reader) => {
    await pages.on(reader, async ({ page, open }) => {
      await open(addressOf('on windows'));
      const section = page.getByRole('region', { name: 'Where it fails' });
      await section.getByText('Fails only with os=windows.').waitFor();
      expect(await section.textContent()).toContain('There 14 of 16 executions failed, elsewhere 0 of 32.');
      const rows = await section.getByRole('row').allInnerTexts();
      expect(rows.map((row) => row.replaceAll(/\s+/g, ' ').trim())).toContain('os=windows, python=3.13 1 7 87.5%');
      expect(rows).toHaveLength(1 + LEGS.length);
      expect(await violationsOn(page)).toEqual([]);
      expect(await shiftsOn(page)).toEqual([]);
      await keepPicture(page, `where-it-fails-${reader.locale}`);
    });
  });

  test.each([WIDE, PHONE])('shows foreign axes as text, and within the page: %j', async (viewport) => {
    await pages.on({ viewport }, async ({ page, open }) => {
      await open(addressOf('with hostile axes'));
      const section = page.getByRole('region', { name: 'Where it fails' });
      await section.getByText(HOSTILE).first().waitFor();
      expect(await section.locator('img').count()).toBe(0);
      expect(await isWithinWidth(page)).toBe(true);
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, `where-it-fails-hostile-${viewport.width}`);
    });
  });

  test('is not there for a test that has not failed', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(addressOf('fine'));
      await page.getByRole('region', { name: 'Commit by commit' }).waitFor();
      expect(await page.getByRole('region', { name: 'Where it fails' }).count()).toBe(0);
    });
  });
});
