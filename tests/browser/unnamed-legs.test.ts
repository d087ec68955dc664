/** Pages say that legs of a job lack names, with the line to paste: in a real browser, for readers of two locales. */
import { describe, expect, test } from 'bun:test';
import { testIdOf } from '../../src/domain/identity.ts';
import { hasBrowser, isWithinWidth, keepPicture, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';

const COMMITS = 8;

const insights = setUpInsights(async (fixture) => {
  for (let i = 0; i < COMMITS; i++)
    for (const status of ['passed', 'failed'] as const) {
      const failures = status === 'failed' ? [{ message: 'no' }] : [];
      const executions = [{ name: 'pays', at: at(1 + 24 * i), status, failures }, ...beside(1 + 24 * i)];
      await fixture.ingest({
        ...fixture.run(executions, { commit: `c${i}`, run_id: `r${i}` }),
        sources: [`report ${i}`],
        format: 'junit',
      });
    }
});
const pages = setUpPages(insights);
const LINE = 'ci-insights push junit --axis os="$OS"';

describe.skipIf(!hasBrowser)('legs without names', () => {
  test.each(READERS)(
    'are said with the line to paste among uploads, and by number on the test, for $locale',
    async (reader) => {
      await pages.on(reader, async ({ page, open }) => {
        await open(`${pages.base}/uploads`);
        const upload = page.locator('summary', { hasText: 'conflict' }).first();
        await upload.click();
        await page.getByText('Two reports of this job disagree, so this one is leg 2 (unnamed). Name them:').waitFor();
        await page.locator('code', { hasText: LINE }).first().waitFor();
        expect(await isWithinWidth(page)).toBe(true);
        expect(await violationsOn(page)).toEqual([]);
        await keepPicture(page, `unnamed-legs-uploads-${reader.locale}`);
        await open(`${pages.base}/tests/${testIdOf(insights.fixture.id, 'pays')}`);
        const section = page.getByRole('region', { name: 'Where it fails' });
        await section.getByText('Fails only with leg 2 (unnamed).').waitFor();
        await section.getByRole('rowheader', { name: 'leg 2 (unnamed)' }).waitFor();
        expect(await violationsOn(page)).toEqual([]);
        await keepPicture(page, `unnamed-legs-test-${reader.locale}`);
      });
    },
  );
});
