/** Owners on the pages: in a real browser, for readers of two locales. */
import { beforeAll, describe, expect, test } from 'bun:test';
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

const HOSTILE = '<img/src=x>@acme.example';
const failed = { status: 'failed' as const, failures: [{ message: 'no' }] };

const insights = setUpInsights((fixture) =>
  fixture.ingest(
    ...[5, 4, 3, 2, 1].map((days) =>
      fixture.run([
        { name: 'pays', filepath: 'shop/pay/a.test.ts', at: at(24 * days), ...(days < 3 ? failed : {}) },
        { name: 'adds', filepath: 'shop/cart/a.test.ts', at: at(24 * days) },
        ...beside(24 * days),
        ...Array.from({ length: 1_200 }, (_, i) => ({
          name: `many ${i}`,
          filepath: 'shop/many/a.test.ts',
          at: at(24 * days),
        })),
      ]),
    ),
  ),
);
const pages = setUpPages(insights);

beforeAll(async () => {
  const content = `/shop/pay/ @acme/pay\n/shop/cart/ ${HOSTILE} @acme/pay\n/shop/many/ @acme/many\n/shop/gone/ @acme/gone\n`;
  await insights.app.request(`${insights.fixture.base}/codeowners`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ host: 'github', path: 'CODEOWNERS', content }),
  });
  await insights.fixture.settle();
});

describe.skipIf(!hasBrowser)('owners', () => {
  test.each(READERS)('are listed with what they have to do, for $locale', async (reader) => {
    await pages.on(reader, async ({ page, open }) => {
      await open(`${pages.base}/owners`);
      await page.getByRole('link', { name: '@acme/pay' }).waitFor();
      const rows = await page.getByRole('row').allInnerTexts();
      const cells = rows.map((row) => row.split(/\s*\t\s*/).slice(0, 4));
      expect(cells.slice(1)).toEqual([
        ['@acme/pay', '2', '0', '1'],
        [HOSTILE, '1', '0', '0'],
        ['@acme/many', '1,200', '0', '0'],
        ['No owner', '40', '0', '0'],
      ]);
      const unmatched = page.getByRole('region', { name: 'Patterns that match no test' });
      expect(await unmatched.getByRole('listitem').allInnerTexts()).toEqual([expect.stringContaining('/shop/gone/')]);
      expect(await page.getByRole('main').locator('img').count()).toBe(0);
      expect(await violationsOn(page)).toEqual([]);
      expect(await shiftsOn(page)).toEqual([]);
      await keepPicture(page, `owners-${reader.locale}`);
    });
  });

  test.each([WIDE, PHONE])('lead to their tests, and from a test to them: %j', async (viewport) => {
    await pages.on({ viewport }, async ({ page, open }) => {
      await open(`${pages.base}/owners`);
      await page.getByRole('link', { name: '@acme/pay' }).click();
      await page.getByRole('link', { name: 'pays' }).waitFor();
      expect(await page.locator('[data-index] a').count()).toBe(2);
      expect(await isWithinWidth(page)).toBe(true);
      await keepPicture(page, `owners-tests-${viewport.width}`);
      await page.getByRole('button', { name: 'Remove owner @acme/pay' }).click();
      await page.getByRole('link', { name: 'beside 0', exact: true }).waitFor();
      await open(`${pages.base}/tests/${testIdOf(insights.fixture.id, 'adds')}`);
      await page.getByRole('link', { name: HOSTILE }).click();
      await page.getByRole('button', { name: `Remove owner ${HOSTILE}` }).waitFor();
      await page.getByRole('link', { name: 'adds', exact: true }).waitFor();
      expect(await page.locator('[data-index] a').count()).toBe(1);
      await open(`${pages.base}/owners`);
      await page.getByRole('link', { name: 'No owner' }).click();
      await page.getByRole('button', { name: 'Remove no owner' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
    });
  });

  test('own a quarantine that the page makes, unless the form says another', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/tests/${testIdOf(insights.fixture.id, 'pays')}`);
      await page.getByRole('button', { name: 'Quarantine …' }).first().click();
      const field = page.getByPlaceholder('A person or a team');
      await field.waitFor();
      expect(await field.inputValue()).toBe('@acme/pay');
    });
  });

  test('stand beside the failures of a commit', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/commits/commit-5`);
      await page.getByText('Owned by @acme/pay.').waitFor();
    });
  });
});
