/** Pull requests: their list, and the sentence that it, their pages and those of their commits and runs have in common. */
import { describe, expect, test } from 'bun:test';
import { pullRequests } from '../../src/postgres/schema.ts';
import { hasBrowser, isWithinWidth, PHONE, READERS, shiftsOn, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';

const SENTENCE = 'Probably your change: 1 failure, new; the gate fails.';

const insights = setUpInsights(async (fixture) => {
  const failures = [{ type: 'Error', message: 'no' }];
  await fixture.ingest(
    fixture.run([{ name: 'slow', at: at(60) }, ...beside(60)]),
    fixture.run([{ name: 'slow', at: at(20), status: 'failed', failures }, ...beside(20)], {
      ...{ branch: 'sums', base_ref: 'main', pull_request: 7, commit: 'of-seven' },
    }),
    fixture.run([{ name: 'slow', at: at(10) }], {
      branch: 'tax',
      base_ref: 'main',
      pull_request: 8,
      commit: 'of-eight',
    }),
  );
  const told = { repositoryId: fixture.id, authorId: 1 };
  await fixture.stores.postgres.db.insert(pullRequests).values([
    { ...told, number: 7, id: 7, title: 'Round <b>totals</b>', authorLogin: 'ann' },
    { ...told, number: 8, id: 8, title: 'Add tax', authorLogin: 'bob' },
  ]);
});
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('pull requests', () => {
  test.each(READERS)(
    'are found by number, title and author, and say whose fault failures are, for $locale',
    async (reader) => {
      await pages.on(reader, async ({ page, open }) => {
        await open(`${pages.base}/pulls`);
        const rows = page.locator('tbody tr');
        await rows.first().waitFor();
        const titles = () => rows.getByRole('link', { name: /^#/ }).allTextContents();
        const newestFirst = ['#8 Add tax', '#7 Round <b>totals</b>'];
        expect(await titles()).toEqual(newestFirst);
        await rows.nth(1).getByText(SENTENCE).waitFor();
        expect(await violationsOn(page)).toEqual([]);
        await page.getByRole('button', { name: 'New', exact: true }).click();
        await page.waitForURL(/sort=new/);
        expect(await titles()).toEqual(newestFirst.toReversed());
        await page.getByRole('button', { name: /^Started/ }).click();
        await page.waitForURL((url) => !url.search.includes('sort'));
        expect(await titles()).toEqual(newestFirst);
        await rows.nth(1).getByRole('link', { name: 'ann' }).click();
        await page.waitForURL(/author=ann/);
        await page.getByText('Add tax').waitFor({ state: 'detached' });
        await page.getByRole('link', { name: /^by ann/ }).click();
        await page.getByText('Add tax').waitFor();
        await page.keyboard.press('/');
        await page.keyboard.type('#7');
        await page.getByText('Add tax').waitFor({ state: 'detached' });
        await page.getByRole('link', { name: '#7 Round <b>totals</b>' }).press('Enter');
        await page.getByRole('status').getByText(SENTENCE).waitFor();
        for (const address of ['/commits/of-seven', '/pulls/7']) {
          await open(`${pages.base}${address}`);
          await page.getByRole('status').getByText(SENTENCE).waitFor();
          expect(await shiftsOn(page)).toEqual([]);
        }
        await page.getByRole('list', { name: 'What ran' }).getByRole('link', { name: 'CI' }).click();
        await page.getByRole('heading', { name: /^CI run/ }).waitFor();
        await page.getByRole('status').getByText(SENTENCE).waitFor();
        expect(await violationsOn(page)).toEqual([]);
      });
    },
  );

  test('fit on a phone', async () => {
    await pages.on({ ...READERS[1], viewport: PHONE }, async ({ page, open }) => {
      await open(`${pages.base}/pulls`);
      await page.getByText(SENTENCE).waitFor();
      expect(await isWithinWidth(page)).toBe(true);
    });
  });
});
