/** Causes in a real browser: the list, a cause, and failures of one cause as one row of a commit; in two locales. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { DAY_MS } from '../../src/domain/time.ts';
import type { QuarantineListAnswer } from '../../src/quarantines/schemas.ts';
import { hasBrowser, keepPicture, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const days = (count: number): number => TEST_NOW - count * DAY_MS;
const HIT = Array.from({ length: 1_234 }, (_, i) => `test ${i}`);
const outage = (at: number): TestExecution[] =>
  HIT.map((name) => ({
    ...{ name, at, status: 'failed' },
    failures: [
      { type: 'ConnectionError', message: 'cannot reach ledger: port closed by peer', stacktrace: 'at net.ts:1' },
    ],
  }));
const insights = setUpInsights(async (fixture) => {
  await fixture.ingest(
    fixture.run(
      HIT.map((name) => ({ name, at: days(4) })),
      { commit: 'aaaa4' },
    ),
    fixture.run(outage(days(3)), { commit: 'bbbb3' }),
    fixture.run(
      [
        {
          name: 'lone',
          at: days(2),
          status: 'failed',
          failures: [{ type: 'CartError', message: 'total became negative' }],
        },
      ],
      { commit: 'cccc2' },
    ),
    fixture.run(outage(days(1)).slice(0, 5), {
      ...{ branch: 'feature', base_ref: 'main', pull_request: 7, commit: 'dddd1' },
    }),
  );
});
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser).each([
  { locale: 'en-US', count: '1,234 tests', failures: '1,234 failures' },
  { locale: 'de-DE', count: '1.234 tests', failures: '1.234 failures' },
])('causes in $locale', ({ locale, count, failures }) => {
  test('are found by words of their message, and each leads to what it hit', async () => {
    await pages.on({ locale }, async ({ page, open }) => {
      await open(`${pages.base}/causes`);
      const rows = page.locator('tbody').getByRole('row');
      await rows.filter({ hasText: 'total became negative' }).waitFor();
      expect(await rows.count()).toBe(2);
      expect(await violationsOn(page)).toEqual([]);
      await page.getByLabel('Message').fill('"port closed"');
      await rows.filter({ hasText: 'total became negative' }).waitFor({ state: 'detached' });
      const row = rows.filter({ hasText: 'cannot reach ledger' });
      const cells = await row.getByRole('cell').allTextContents();
      expect(cells.slice(2, 4)).toEqual([count, failures].map((words) => words.split(' ')[0] ?? ''));
      expect(page.url()).toContain('q=');
      await row.getByRole('link').click();
      await page.getByRole('heading', { level: 1, name: 'cannot reach ledger: port closed by peer' }).waitFor();
      const beginning = page.getByRole('region', { name: 'Beginning' });
      await beginning.getByText('It began after').waitFor();
      await beginning.getByRole('link', { name: 'aaaa4' }).waitFor();
      await beginning.getByRole('link', { name: 'bbbb3' }).waitFor();
      await page.getByRole('region', { name: 'Pull requests' }).getByRole('link', { name: '7' }).waitFor();
      await page.getByRole('region', { name: 'Tests' }).getByText(count).waitFor();
      expect(await violationsOn(page)).toEqual([]);
    });
  });

  test('fold the failures of a commit into one row', async () => {
    await pages.on({ locale }, async ({ page, open }) => {
      await open(`${pages.base}/commits/dddd1`);
      const fold = page.getByText('5 failures of one cause');
      await fold.waitFor();
      expect(await page.getByRole('main').getByRole('link', { name: 'test 3', exact: true }).count()).toBe(0);
      await fold.click();
      await page.getByRole('main').getByRole('link', { name: 'test 3', exact: true }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('link', { name: 'The cause on the default branch' }).click();
      await page.getByRole('region', { name: 'Newest failure' }).waitFor();
    });
  });
});

describe.skipIf(!hasBrowser)('a cause', () => {
  const openCause = async (page: Page, open: (path: string) => Promise<void>) => {
    await open(`${pages.base}/causes`);
    await page.getByRole('link', { name: 'total became negative' }).click();
    return page.getByRole('region', { name: 'Quarantine' });
  };
  const listed = async () =>
    (await insights.app.get<QuarantineListAnswer>(`${insights.fixture.base}/quarantines?narrowed=include`))
      .quarantined_tests;

  test('is quarantined in a dialog, which says what was refused, and released', async () => {
    await pages.on({}, async ({ page, open }) => {
      const section = await openCause(page, open);
      await section.getByText('Its failures count.').waitFor();
      await section.getByRole('button', { name: 'Quarantine …' }).press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Quarantine this cause' });
      await dialog.getByText('stop counting in 1 test,').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, 'cause-quarantine');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await listed()).toEqual([]);

      await section.getByRole('button', { name: 'Quarantine …' }).press('Enter');
      await dialog.getByLabel('Why').fill('the totals are repaired in #12');
      await dialog.getByLabel('Branch or pattern').fill('x'.repeat(5_000));
      await dialog.getByRole('button', { name: 'Quarantine' }).press('Enter');
      await dialog.getByRole('alert').getByText('branch').waitFor();
      await dialog.getByLabel('Branch or pattern').fill('release/*');
      await dialog.getByLabel('Until').selectOption('It is released');
      await dialog.getByRole('button', { name: 'Quarantine' }).press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await section.getByText('the totals are repaired in #12').waitFor();
      await section.getByText('on release/*').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      expect(await listed()).toMatchObject([
        { test_name: 'lone', reason: 'the totals are repaired in #12', branch: 'release/*', expires_at: null },
      ]);
      expect((await listed())[0]?.cause_id).not.toBeNull();

      await section.getByRole('button', { name: 'Release' }).press('Enter');
      await section.getByText('Its failures count.').waitFor();
      expect(await listed()).toEqual([]);
    });
  });

  test('offers no quarantine to those who may only look', async () => {
    await pages.on({ key: await pages.service.makeKey({ scope: 'view' }) }, async ({ page, open }) => {
      await openCause(page, open);
      await page.getByRole('region', { name: 'Beginning' }).waitFor();
      expect(await page.getByRole('button', { name: /Quarantine|Owner and ticket/ }).count()).toBe(0);
    });
  });
});
