/** The words of the pages of a commit and of a pull request about a failure: in a real browser, for readers of two locales. */
import { describe, expect, test } from 'bun:test';
import { hasBrowser, keepPicture, READERS, shiftsOn, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const failing = (name: string, hoursAgo: number, message = 'no'): TestExecution => ({
  name,
  status: 'failed',
  at: at(hoursAgo),
  failures: [{ type: 'Error', message }],
});
const passing = (name: string, hoursAgo: number): TestExecution => ({ name, at: at(hoursAgo) });
const NETWORK = Array.from({ length: 6 }, (_, i) => `network ${i}`);
/** Whether the default branch is broken. */
const isBroken = (hoursAgo: number): boolean => hoursAgo <= 50 && hoursAgo > 44;
const pull = (number: number) => ({
  ...{ branch: `feature/${number}`, base_ref: 'main', pull_request: number, commit: `pr${number}` },
});

const insights = setUpInsights((fixture) =>
  fixture.ingest(
    ...Array.from({ length: 30 }, (_, i) => 70 - i).map((hoursAgo) =>
      fixture.run(
        [
          ...['shared', ...NETWORK].map((name) => passing(name, hoursAgo)),
          isBroken(hoursAgo) ? failing('orders', hoursAgo, 'no such table') : passing('orders', hoursAgo),
          ...beside(hoursAgo),
        ],
        { commit: `m${hoursAgo}` },
      ),
    ),
    ...[1, 2, 3].map((number) =>
      fixture.run([failing('shared', 30 - 3 * number), ...beside(30 - 3 * number)], pull(number)),
    ),
    ...[4, 5, 6, 7].map((number) =>
      fixture.run(
        [
          ...NETWORK.map((name) => failing(name, 45, 'connection refused')),
          failing('orders', 45, 'no such table'),
          ...(number === 7 ? [failing('shared', 45, 'total is NaN')] : []),
          ...beside(45),
        ],
        pull(number),
      ),
    ),
  ),
);
const pages = setUpPages(insights);

/** A failure whose report names its runner. */
const reported = setUpInsights((fixture) =>
  fixture.ingest(
    ...[9, 8, 7].map((hoursAgo) =>
      fixture.run([{ ...passing("checks.test_cart.test_total[it's 3]", hoursAgo), function: "test_total[it's 3]" }], {
        framework: 'pytest',
      }),
    ),
    fixture.run([{ ...failing("checks.test_cart.test_total[it's 3]", 6), function: "test_total[it's 3]" }], {
      ...pull(9),
      framework: 'pytest',
    }),
  ),
);
const reportedPages = setUpPages(reported);

describe.skipIf(!hasBrowser)('the failures of a pull request', () => {
  test.each(READERS)('say on how many others they are, for $locale', async (reader) => {
    await pages.on(reader, async ({ page, open }) => {
      for (const address of ['commits/pr3', 'pulls/3']) {
        await open(`${pages.base}/${address}`);
        const section = page.getByRole('region', { name: 'New' });
        await section.getByText('Also fails on 3 other pull requests.').waitFor();
        expect(await violationsOn(page)).toEqual([]);
        expect(await shiftsOn(page)).toEqual([]);
      }
    });
  });

  test.each(READERS)('have the command that runs the test alone, for $locale', async (reader) => {
    await reportedPages.on(reader, async ({ page, open }) => {
      await open(`${reportedPages.base}/commits/pr9`);
      await page.getByText("pytest 'checks/test_cart.py::test_total[it'\\''s 3]'", { exact: true }).waitFor();
      await page.getByText('Copy', { exact: true }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      expect(await shiftsOn(page)).toEqual([]);
      await keepPicture(page, `reproduce-${reader.locale}`);
    });
  });

  test.each(READERS)(
    'are told from trouble that others met, and from what was broken then, for $locale',
    async (reader) => {
      await pages.on(reader, async ({ page, open }) => {
        await open(`${pages.base}/commits/pr7`);
        const section = (name: string) => page.getByRole('region', { name, exact: true });
        await section('New').getByRole('link', { name: 'shared', exact: true }).waitFor();
        await section('Broken on the default branch')
          .getByText(/where it was broken from .+ to .+\./)
          .waitFor();
        const told = section('Infrastructure').getByText('The same tests failed alike on 3 other changes at the time.');
        await told.first().waitFor();
        expect(await told.count()).toBe(NETWORK.length);
        expect(await violationsOn(page)).toEqual([]);
        expect(await shiftsOn(page)).toEqual([]);
        await keepPicture(page, `verdicts-${reader.locale}`);
      });
    },
  );
});
