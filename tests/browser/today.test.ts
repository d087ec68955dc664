/** The home of a repository: what changed, what broke the default branch, and what needs a look. */
import { describe, expect, test } from 'bun:test';
import { hasBrowser, isWithinWidth, PHONE, READERS, shiftsOn, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const failed = (hours: number): TestExecution => ({
  ...{ name: 'sums <b>prices</b>', at: at(hours), status: 'failed' },
  failures: [{ type: 'TypeError', message: 'no' }],
});
const passed = (hours: number): TestExecution => ({ name: 'sums <b>prices</b>', at: at(hours) });

const insights = setUpInsights(async (fixture) => {
  const run = fixture.run.bind(fixture);
  await fixture.ingest(...Array.from({ length: 9 }, (_, i) => run([passed(100 - i), ...beside(100 - i)])));
  for (const hours of [22, 20]) await fixture.ingest(run([failed(hours), ...beside(hours)], { commit: 'broke' }));
  await fixture.ingest(...[18, 17].map((hours) => run([passed(hours), ...beside(hours)])));
});
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('the home of a repository', () => {
  test.each(READERS)('says what changed and what broke the default branch, for $locale', async (reader) => {
    await pages.on(reader, async ({ page, open }) => {
      await open('');
      const { owner, name } = insights.fixture.repository;
      await page
        .getByRole('link', { name: `${owner}/${name}` })
        .first()
        .click();
      const red = page.getByRole('region', { name: 'What broke the default branch' });
      await red.getByText('2 of 4 runs are red.').waitFor();
      expect(await red.getByRole('link', { name: 'sums <b>prices</b>' }).count()).toBe(2);
      const changed = page.getByRole('region', { name: 'Tests that changed' });
      await changed.getByRole('heading', { name: 'Fixed 1' }).waitFor();
      await changed.getByRole('heading', { name: 'Turned broken 1' }).waitFor();
      await page.getByText('0 in the 7 days before').waitFor();
      await page.getByRole('region', { name: 'Quarantines' }).getByText('None ends in the next 14 days.').waitFor();
      await page.getByRole('region', { name: 'Uploads with problems' }).getByText('None.').waitFor();
      await page.getByRole('region', { name: 'Renamed tests' }).getByText('None.').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      expect(await page.locator('[aria-current="page"]:visible', { hasText: 'Today' }).count()).toBe(1);
      await open(pages.base);
      await changed.getByText('Turned broken').waitFor();
      expect((await shiftsOn(page)).reduce((sum, { value }) => sum + value, 0)).toBeLessThan(0.05);
      await changed.getByRole('link', { name: 'broke' }).press('Enter');
      await page.getByRole('heading', { name: 'Commit broke' }).waitFor();
    });
  });

  test('fits on a phone, and shows how to begin where nothing has arrived', async () => {
    await pages.on({ ...READERS[1], viewport: PHONE }, async ({ page, open }) => {
      await open(pages.base);
      await page.getByRole('region', { name: 'What broke the default branch' }).waitFor();
      expect(await isWithinWidth(page)).toBe(true);
      await open('/acme/nothing-yet');
      await page.getByText('Waiting for the first report').waitFor();
    });
  });
});
