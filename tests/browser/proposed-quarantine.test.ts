/** The form of a quarantine begins with the legs that failures follow: in a real browser, for readers of two locales. */
import { describe, expect, test } from 'bun:test';
import { testIdOf } from '../../src/domain/identity.ts';
import type { QuarantineListAnswer } from '../../src/quarantines/schemas.ts';
import { hasBrowser, keepPicture, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';

const COMMITS = 14;
/** The form can only write it in quotes. */
const HOSTILE = 'a, b="c"';
const failures = [{ type: 'Error', message: 'no' }];

const insights = setUpInsights(async (fixture) => {
  const run = (name: string, { hours, isFailed, ...meta }: Meta) =>
    fixture.run(
      [
        isFailed
          ? { name, at: at(hours), status: 'failed' as const, failures }
          : { name, at: at(hours), status: 'passed' as const },
        ...beside(hours),
      ],
      meta,
    );
  interface Meta {
    hours: number;
    isFailed: boolean;
    commit: string;
    axes?: Record<string, string>;
    job_name?: string;
    branch?: string;
    base_ref?: string;
    pull_request?: number;
  }
  await fixture.ingest(
    ...Array.from({ length: COMMITS }, (_, i) => [
      ...['linux', 'macos', 'windows'].map((os) =>
        run('on windows', { hours: 2 + 24 * i, isFailed: os === 'windows', commit: `w${i}`, axes: { os } }),
      ),
      ...[HOSTILE, 'calm', 'mild'].map((flavour) =>
        run('hostile', { hours: 3 + 24 * i, isFailed: flavour === HOSTILE, commit: `h${i}`, axes: { flavour } }),
      ),
      ...['unit', 'e2e', 'lint'].map((job) =>
        run('in one job', { hours: 4 + 24 * i, isFailed: job === 'e2e', commit: `j${i}`, job_name: job }),
      ),
    ]).flat(),
    run('on windows', {
      ...{ hours: 1, isFailed: true, commit: 'head-of-5', axes: { os: 'windows' } },
      ...{ branch: 'feature', base_ref: 'main', pull_request: 5 },
    }),
  );
});
const pages = setUpPages(insights);
const addressOf = (name: string): string => `${pages.base}/tests/${testIdOf(insights.fixture.id, name)}`;
const listed = async () =>
  (await insights.app.get<QuarantineListAnswer>(`${insights.fixture.base}/quarantines?narrowed=include`))
    .quarantined_tests;

describe.skipIf(!hasBrowser)('the form of a quarantine', () => {
  test.each(READERS)('begins with the axes that failures follow and says why, for $locale', async (reader) => {
    await pages.on(reader, async ({ page, open }) => {
      await open(addressOf('on windows'));
      await page.getByRole('button', { name: 'Quarantine …' }).press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByText(/^It fails .*os=windows.* Clear the field to excuse every leg\.$/).waitFor();
      expect(await dialog.getByLabel('Axes').inputValue()).toBe('os=windows');
      expect(await dialog.getByLabel('Where').inputValue()).toBe('');
      const excused = dialog.getByRole('status', { name: 'What it excuses' });
      await excused.getByText('in every pipeline and CI job, where os=windows, on every branch.').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, `proposed-quarantine-${reader.locale}`);
      await dialog.getByLabel('Axes').fill('');
      await excused.getByText('every failure in every pipeline and CI job, on every branch.').waitFor();
    });
  });

  test('sends values that hold commas, quotes and equals signs as they are', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(addressOf('hostile'));
      await page.getByRole('button', { name: 'Quarantine …' }).press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Why').fill('hostile');
      expect(await dialog.getByLabel('Axes').inputValue()).toBe(`flavour=${JSON.stringify(HOSTILE)}`);
      await dialog.getByLabel('Until').selectOption('It is released');
      await dialog.getByRole('button', { name: 'Quarantine' }).press('Enter');
      await dialog.waitFor({ state: 'detached' });
    });
    expect(await listed()).toMatchObject([{ test_name: 'hostile', axes: { flavour: [HOSTILE] }, job_name: null }]);
  });

  test('begins with the CI job that failures follow', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(addressOf('in one job'));
      await page.getByRole('button', { name: 'Quarantine …' }).press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByText(/^It fails only .*e2e.* Choose every pipeline and CI job/).waitFor();
      expect(await dialog.getByLabel('Axes').inputValue()).toBe('');
      const excused = dialog.getByRole('status', { name: 'What it excuses' });
      await excused.getByText('in the CI job e2e of every pipeline, on every branch.').waitFor();
      expect(await violationsOn(page)).toEqual([]);
    });
  });

  test('of a failure keeps its CI job, and is narrowed to the axes too', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/pulls/5`);
      await page.getByRole('button', { name: 'Quarantine … on windows' }).press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('checkbox', { checked: true }).waitFor();
      expect(await dialog.getByLabel('Where').inputValue()).toBe(JSON.stringify(['CI', 'unit']));
      expect(await dialog.getByLabel('Axes').inputValue()).toBe('os=windows');
    });
  });
});
