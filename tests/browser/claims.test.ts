/** Claims beside the failures of a commit and of a pull request: what they say, and what unfolds, in a real browser. */
import { describe, expect, test } from 'bun:test';
import { hasBrowser, keepPicture, READERS, shiftsOn, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const failing = (name: string, hoursAgo: number, message: string): TestExecution => ({
  ...{ name, status: 'failed', at: at(hoursAgo), failures: [{ type: 'Error', message }] },
});
const passing = (name: string, hoursAgo: number): TestExecution => ({ name, at: at(hoursAgo) });
const MANY = Array.from({ length: 60 }, (_, i) => `many ${i}`);
const pull = { branch: 'feature/1', base_ref: 'main', pull_request: 1, commit: 'pr1', run_id: '1' };

const insights = setUpInsights((fixture) =>
  fixture.ingest(
    ...Array.from({ length: 30 }, (_, i) =>
      fixture.run(['adds tax', 'orders', ...MANY].map((name) => passing(name, 90 - i))),
    ),
    ...[1, 2].map((attempt) =>
      fixture.run(
        [
          failing('adds tax', 40 - attempt, 'expected 110.00, got 110.01'),
          attempt === 1 ? failing('orders', 39, 'timed out') : passing('orders', 38),
          ...MANY.map((name) => passing(name, 40 - attempt)),
          ...beside(40 - attempt),
        ],
        { ...pull, run_attempt: attempt },
      ),
    ),
  ),
);
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('a claim', () => {
  test('says how likely it is the change, and unfolds to what speaks for and against it', async () => {
    await pages.on(READERS[0], async ({ page, open }) => {
      for (const address of ['commits/pr1', 'pulls/1']) {
        await open(`${pages.base}/${address}`);
        const row = (name: string) => page.getByRole('region', { name: 'New' }).locator('li', { hasText: name });
        await row('adds tax').getByText('Caused by the change').click();
        await row('adds tax').getByText('It failed in all of 2 runs of this commit.').waitFor();
        await row('orders').getByText('the change)').click();
        await row('orders').getByRole('list', { name: 'Against' }).getByText('The same code passed once').waitFor();
        expect(await violationsOn(page)).toEqual([]);
        expect(await shiftsOn(page)).toEqual([]);
        await keepPicture(page, `claims of ${address.split('/')[0]}`);
      }
    });
  });
});
