/** What the pages of a commit and of a pull request say of a failure: in a real browser, for readers of two locales. */
import { describe, expect, test } from 'bun:test';
import { hasBrowser, keepPicture, READERS, shiftsOn, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const failing = (hoursAgo: number): TestExecution => ({
  name: 'shared',
  status: 'failed',
  at: at(hoursAgo),
  failures: [{ type: 'Error', message: 'no' }],
});
const insights = setUpInsights((fixture) =>
  fixture.ingest(
    ...Array.from({ length: 10 }, (_, i) =>
      fixture.run([{ name: 'shared', at: at(60 - i) }, ...beside(60 - i)], { commit: `m${i}` }),
    ),
    ...[1, 2, 3].map((number) =>
      fixture.run([failing(30 - 3 * number), ...beside(30 - 3 * number)], {
        ...{ branch: `feature/${number}`, base_ref: 'main', pull_request: number, commit: `pr${number}` },
      }),
    ),
  ),
);
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('a failure that other pull requests have as well', () => {
  test.each(READERS)('says on how many, for $locale', async (reader) => {
    await pages.on(reader, async ({ page, open }) => {
      for (const address of ['commits/pr3', 'pulls/3']) {
        await open(`${pages.base}/${address}`);
        const section = page.getByRole('region', { name: 'New' });
        await section.getByText('Also fails on 2 other pull requests.').waitFor();
        expect(await violationsOn(page)).toEqual([]);
        expect(await shiftsOn(page)).toEqual([]);
      }
      await keepPicture(page, `verdicts-${reader.locale}`);
      await open(`${pages.base}/commits/pr1`);
      const section = page.getByRole('region', { name: 'New' });
      await section.getByText('shared').waitFor();
      expect(await section.textContent()).not.toContain('Also fails');
    });
  });
});
