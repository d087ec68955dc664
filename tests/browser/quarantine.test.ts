/** Quarantines in a real browser: what they are narrowed to, and the board. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import { HOUR_MS } from '../../src/domain/time.ts';
import { QuarantineStore } from '../../src/postgres/quarantines.ts';
import type { QuarantineListAnswer } from '../../src/quarantines/schemas.ts';
import { hasBrowser, keepPicture, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { TEST_NOW } from '../support/clock.ts';
import { at, setUpInsights } from '../support/insights.ts';
import { until } from '../support/patience.ts';

const NAME = 'cart > sums';
const failing = (name: string, hoursAgo: number, message: string) => ({
  name,
  at: at(hoursAgo),
  status: 'failed' as const,
  failures: [{ type: 'Error', message }],
});
const insights = setUpInsights(async (fixture) => {
  await fixture.ingest(
    fixture.run([failing(NAME, 9, 'timed out')]),
    fixture.run([failing(NAME, 8, 'no such key')], { job_name: 'e2e' }),
    fixture.run(
      ['one', 'two', 'three'].map((name) => failing(name, 7, 'timed out')),
      { axes: { os: 'windows' } },
    ),
  );
});

const pages = setUpPages(insights);
let store: QuarantineStore;
beforeAll(() => {
  if (hasBrowser) store = new QuarantineStore(pages.service.stores.postgres.db, pages.service.stores.clock);
});

const listed = async (service: Pick<typeof insights.app, 'get'> = insights.app) =>
  (await service.get<QuarantineListAnswer>(`${insights.fixture.base}/quarantines?narrowed=include`)).quarantined_tests;

/** Before a test, so that one that fails does not take the next ones with it. */
async function releaseAll(): Promise<void> {
  const { id: repositoryId } = insights.fixture;
  for (const { id } of (await store.snapshot(repositoryId)).quarantines)
    await store.remove(repositoryId, id, { name: 'ann', actor: null });
}

describe.skipIf(!hasBrowser)('quarantines', () => {
  test('are narrowed to a CI job and failure groups, and the page says what is excused', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/tests?q=${encodeURIComponent(NAME)}`);
      await page.getByRole('link', { name: NAME }).first().press('Enter');
      await page.getByRole('button', { name: 'Quarantine …' }).press('Enter');
      const dialog = page.getByRole('dialog');
      const excused = dialog.getByRole('status', { name: 'What it excuses' });
      await excused.getByText('every failure in every pipeline and CI job, on every branch.').waitFor();
      await dialog.getByLabel('Why').fill('slow mail server');
      await dialog.getByLabel('Branch or pattern').fill('release/*');
      await dialog.getByLabel('Where').selectOption('CI · e2e');
      await dialog.getByLabel('Axes').fill('windows');
      await dialog.getByRole('button', { name: 'Quarantine' }).press('Enter');
      await dialog.getByRole('alert').getByText('Write axes as name=value').waitFor();
      await dialog.getByLabel('Axes').fill('os=windows, python=3.13, os=linux');
      await dialog.getByLabel('Only some failure groups').press('Space');
      await dialog.getByRole('button', { name: 'Quarantine' }).press('Enter');
      await dialog.getByRole('alert').getByText('Choose at least one failure group').waitFor();
      await dialog.getByRole('checkbox', { name: 'no such key' }).press('Space');
      await excused
        .getByText('1 failure group in the CI job e2e of CI, where os=windows or linux, python=3.13, on release/*:')
        .waitFor();
      await excused.getByText('Every other failure of the test still counts').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await dialog.getByLabel('Until').selectOption('It is released');
      await dialog.getByRole('button', { name: 'Quarantine' }).press('Enter');
      await dialog.waitFor({ state: 'detached' });
      const section = page.getByRole('region', { name: 'Quarantine' });
      await section.getByText('Error: no such key').waitFor();
      await section.getByText('excused nothing yet').waitFor();
      // The dialog gives the focus back a frame after it has gone.
      await section.locator('button:focus', { hasText: 'Quarantine …' }).waitFor();
      expect(await listed()).toMatchObject([
        {
          reason: 'slow mail server',
          branch: 'release/*',
          pipeline_name: 'CI',
          job_name: 'e2e',
          expires_at: null,
          axes: { os: ['linux', 'windows'], python: ['3.13'] },
        },
      ]);
      expect((await listed())[0]?.failure_ids).toHaveLength(1);

      await page.getByRole('button', { name: 'Quarantine …' }).press('Enter');
      await dialog.getByLabel('Why').fill('again');
      await dialog.getByLabel('Until').selectOption('It is released');
      await dialog.getByRole('button', { name: 'Quarantine' }).press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await section.getByText('every failure in every pipeline').waitFor();
      await page.getByRole('button', { name: 'Quarantine …' }).press('Enter');
      await dialog.getByLabel('Why').fill('once more');
      await dialog.getByLabel('Until').selectOption('It is released');
      await dialog.getByRole('button', { name: 'Quarantine' }).press('Enter');
      await dialog.getByRole('alert').getByText('or release that one first').waitFor();
      // Without the focus, a dialog does not hear Escape.
      await dialog.locator('button:focus', { hasText: 'Quarantine' }).waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await section.getByRole('button', { name: 'Release' }).first().press('Enter');
      await section.getByText('slow mail server').waitFor({ state: 'detached' });
    });
  });

  test('are on a board, recovered ones first, sorted by its heads and narrowed, with what each has excused', async () => {
    await releaseAll();
    const { fixture } = insights;
    const by = { name: 'ann', actor: null };
    const quarantine = async (testName: string, terms: object = {}) =>
      (await store.create(fixture.id, { testName, reason: `${testName} is slow`, branch: null, ...terms }, by))?.id ??
      '';
    fixture.stores.clock.set(at(48));
    // PostgreSQL compares ends with its own clock.
    const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS);
    await quarantine('one', { owner: 'team-b', expiresAt: inHours(12) });
    await quarantine('two', { owner: 'team-a', axes: { os: ['windows', 'linux'] }, expiresAt: inHours(24 * 20) });
    const recovered = await quarantine('three', { owner: 'team-a' });
    await quarantine('never ran');
    fixture.stores.clock.set(TEST_NOW);
    await store.setRecovered(fixture.id, [{ id: recovered, isRecovered: true }]);
    // The service of the pages is notified of what a store changes.
    await until(async () => (await listed(pages.service)).some((one) => one.is_recovered));

    await pages.on({}, async ({ page, open }) => {
      await page.clock.setFixedTime(Date.now());
      const names = () =>
        page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.querySelector('a')?.ariaLabel));
      const sort = (head: string) => page.getByRole('columnheader', { name: head }).getByRole('button').click();
      await open(`${pages.base}/quarantines`);
      await page.locator('tbody tr').first().waitFor();
      expect(await names()).toEqual(['three', 'one', 'two', 'never ran']);
      const first = page.getByRole('row').filter({ hasText: 'one is slow' });
      await first.getByRole('cell', { name: '1 of 1' }).waitFor();
      await first
        .locator(`time[datetime="${new Date(at(48)).toISOString()}"]`)
        .last()
        .waitFor();
      await page
        .getByRole('row')
        .filter({ hasText: 'two is slow' })
        .getByText('only where os=linux or windows')
        .waitFor();
      await page.getByRole('row').filter({ hasText: 'never ran' }).getByRole('cell', { name: '0 of 0' }).waitFor();
      await sort('Owner');
      await page.waitForURL(/sort=owner/);
      expect(await names()).toEqual(['two', 'three', 'one', 'never ran']);
      await page.reload();
      await page.locator('tbody tr').first().waitFor();
      expect(await names()).toEqual(['two', 'three', 'one', 'never ran']);
      await sort('Ends');
      await page.waitForURL(/sort=end/);
      expect(await names()).toEqual(['one', 'two', 'three', 'never ran']);
      await sort('Spared');
      await page.waitForURL(/sort=spared/);
      expect((await names())[0]).toBe('one');
      for (const [show, shown] of [
        ['Recovered', ['three']],
        ['End within 7 days', ['one']],
        ['Have no end', ['three', 'never ran']],
        ['Have no owner', ['never ran']],
      ] as const) {
        await page.getByLabel('Show').selectOption(show);
        await page.waitForURL(/show=/);
        expect((await names()).toSorted()).toEqual([...shown].toSorted());
      }
      expect(await violationsOn(page)).toEqual([]);
      await page.getByLabel('Show').selectOption('All');
      await page.getByRole('button', { name: 'Columns' }).press('Enter');
      await page.getByRole('menuitemcheckbox', { name: 'Why' }).press('Enter');
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: 'Download CSV' }).press('Enter'),
      ]);
      const [heads, ...lines] = (await readFile(await file.path(), 'utf8')).trim().split('\r\n');
      expect(heads).toBe('Test,Recovered,Owner,Ends,Branch,Excused,Spared,Since,Why');
      expect(lines).toHaveLength(4);
      expect(lines[0]).toMatch(/^one,false,team-b,.*,1,1,.*,one is slow$/);
    });
  });

  test('are changed and released together, those that were refused stay chosen, and a toast undoes it', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/quarantines`);
      const before = await listed();
      for (const name of ['one', 'two', 'never ran']) await page.getByLabel(`Choose ${name}`).press('Space');
      // PostgreSQL compares ends with its own clock.
      await page.clock.setFixedTime(Date.now());
      await page.getByRole('button', { name: 'Change 3 …' }).press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Change 3 quarantines' });
      await dialog.getByLabel('Until').selectOption('30 days from now');
      await dialog.getByLabel('Who repairs it').fill('team-c');
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, 'quarantines-change');
      await page.keyboard.press('Escape');
      await dialog.getByText('Close it and lose what you typed?').waitFor();
      await dialog.getByRole('button', { name: 'Go on' }).press('Enter');
      await dialog.getByRole('button', { name: 'Save' }).press('Enter');
      const toasts = page.getByRole('region', { name: 'Done' });
      await toasts.getByText('Changed 3 quarantines.').waitFor();
      const changed = (await listed()).filter(({ owner }) => owner === 'team-c');
      expect(changed).toHaveLength(3);
      for (const { expires_at: end } of changed)
        expect(Date.parse(end ?? '')).toBeGreaterThan(Date.now() + 29 * 86_400_000);
      await toasts.getByRole('button', { name: 'Undo' }).press('Enter');
      await toasts.getByText('Changed 3 quarantines.').waitFor({ state: 'detached' });
      expect(await listed()).toEqual(before);

      const refused = before.find(({ test_name: name }) => name === 'two')?.id;
      await page.route(`**/quarantines/${refused}`, (route) => route.abort());
      await page.getByLabel('Choose three').press('Space');
      await page.getByRole('button', { name: 'Release 4' }).press('Enter');
      await toasts.getByText('Released 3 quarantines.').waitFor();
      await toasts.getByText('two: The service does not answer.').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.unroute(`**/quarantines/${refused}`);
      await toasts.getByRole('button', { name: 'Undo' }).press('Enter');
      await toasts.getByText('Released 3 quarantines.').waitFor({ state: 'detached' });
      expect(await listed()).toEqual(before);
    });
  });

  test('begin at a failed test of a commit, for its failure group and CI job', async () => {
    await releaseAll();
    const { fixture } = insights;
    const beside = Array.from({ length: 12 }, (_, i) => ({ name: `beside ${i}`, at: at(6) }));
    await fixture.ingest(
      fixture.run([failing(NAME, 6, 'disk full'), failing('added', 6, 'disk full'), ...beside], {
        ...{ branch: 'feature', base_ref: 'main', pull_request: 5, commit: 'head-of-5', job_name: 'e2e' },
      }),
    );
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/pulls/5`);
      await page.getByRole('button', { name: `Quarantine … ${NAME}` }).press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Why').fill('the disks of the runners are full');
      expect(await dialog.getByLabel('Where').inputValue()).toBe(JSON.stringify(['CI', 'e2e']));
      await dialog.getByRole('checkbox', { name: 'disk full', checked: true }).waitFor();
      expect(await dialog.getByRole('checkbox', { checked: true }).count()).toBe(1);
      await dialog.getByText('1 failure group in the CI job e2e of CI, on every branch:').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await dialog.getByLabel('Until').selectOption('It is released');
      await dialog.getByRole('button', { name: 'Quarantine' }).press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('region', { name: 'Quarantined' }).getByRole('link', { name: NAME }).waitFor();
      expect(await page.getByRole('button', { name: `Quarantine … ${NAME}` }).count()).toBe(0);
      // One that the default branch does not know.
      await page.getByRole('button', { name: 'Quarantine … added' }).press('Enter');
      await dialog.getByRole('checkbox', { name: 'disk full', checked: true }).waitFor();
      expect(await dialog.getByLabel('Where').inputValue()).toBe(JSON.stringify(['CI', 'e2e']));
    });
    const [made, ...others] = await listed();
    expect(others).toEqual([]);
    expect(made).toMatchObject({ test_name: NAME, branch: null, pipeline_name: 'CI', job_name: 'e2e' });
    expect(made?.failure_ids).toHaveLength(1);
    await pages.on({ key: await pages.service.makeKey({ scope: 'view' }) }, async ({ page, open }) => {
      await open(`${pages.base}/commits/head-of-5`);
      await page.getByRole('region', { name: 'New' }).getByRole('link', { name: 'added' }).waitFor();
      expect(await page.getByRole('button', { name: /Quarantine/ }).count()).toBe(0);
    });
  });

  test('are shown to those who may only look, without what would change them', async () => {
    await releaseAll();
    await store.create(
      insights.fixture.id,
      { testName: NAME, reason: 'slow', branch: null },
      { name: 'ann', actor: null },
    );
    await pages.on({ key: await pages.service.makeKey({ scope: 'view' }) }, async ({ page, open }) => {
      await open(`${pages.base}/quarantines`);
      await page.getByRole('link', { name: NAME }).waitFor();
      expect(await page.getByRole('checkbox').count()).toBe(0);
      expect(await page.getByRole('button', { name: /Release|Change/ }).count()).toBe(0);
    });
  });
});
