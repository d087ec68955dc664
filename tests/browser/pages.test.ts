/** The web application in a real browser, on the test stores. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { compress } from '../../src/queue/encoding.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { hasBrowser, type Visit, violationsOn, visit } from '../support/browser.ts';
import { TEST_NOW } from '../support/clock.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { at, ingestHistory, iso, NAME, setUpInsights } from '../support/insights.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';

const insights = setUpInsights(ingestHistory);

let service: ServiceApp;
let origin: string;
let base: string;
beforeAll(async () => {
  if (!hasBrowser) return;
  service = await openServiceApp();
  origin = `http://127.0.0.1:${service.port}`;
  const { owner, name } = insights.fixture.repository;
  base = `/${owner}/${name}`;
});
afterAll(() => service?.stop());

/** Runs with a page of an admin, and fails if a script failed or the policy refused something. */
async function on(options: Parameters<typeof visit>[1], run: (visit: Visit) => Promise<void>): Promise<void> {
  const opened = await visit(origin, { key: service.adminToken, ...options });
  try {
    await run(opened);
    expect(opened.errors).toEqual([]);
  } finally {
    await opened.context.close();
  }
}

describe.skipIf(!hasBrowser)('the web application', () => {
  test('lets a person sign in with a key, shows what was asked for, and lets them out', async () => {
    const opened = await visit(origin);
    const { page } = opened;
    await opened.open(`${base}/tests?q=sums`);
    expect(new URL(page.url()).pathname).toBe('/app/sign-in');
    await page.getByLabel('Application key').fill('cii_wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('unknown, expired or revoked').waitFor();
    await page.getByLabel('Application key').fill(await service.makeKey({ scope: 'view', name: 'ann' }));
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: NAME }).first().waitFor();
    expect(page.url()).toBe(`${origin}/app${base}/tests?q=sums`);
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Application key').waitFor();
    expect(await opened.context.cookies()).toEqual([]);
    await opened.context.close();
  });

  test('shows operators what could not be stored and why, and puts it back', async () => {
    const jobId = `letter-${crypto.randomUUID()}`;
    const { owner, name } = insights.fixture.repository;
    const job = makeEventsJob({ host: 'github.com', owner, name }, [labelled(jobId)]);
    await service.stores.deadLetters.add('pr-events', jobId, null, compress(job), 'the payload is <b>odd</b>');
    await on({}, async ({ page, open }) => {
      await open('/operations');
      await page.getByText('the payload is <b>odd</b>').first().waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('button', { name: `Replay pr-events ${jobId}` }).click();
      await page.getByText(jobId).waitFor({ state: 'detached' });
    });
    expect((await service.stores.deadLetters.list()).map((letter) => letter.jobId)).not.toContain(jobId);
  });

  test('leads from "CI is red" to a quarantine and its event, with the keyboard alone', async () => {
    await on({}, async ({ page, open }) => {
      // CI is red on a pull request: which test?
      await open(`${base}/pulls/7`);
      const verdicts = page.getByRole('region', { name: 'Newest commit' });
      await verdicts.getByRole('link', { name: NAME }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: NAME }).waitFor();
      // The same test, found by its name.
      await open(`${base}/tests`);
      await page.keyboard.press('/');
      await page.keyboard.type('sums [a');
      await page.getByRole('link', { name: NAME }).first().waitFor();
      await page.waitForURL((url) => url.searchParams.get('q') === 'sums [a');
      await page.getByRole('link', { name: NAME }).first().focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: NAME }).waitFor();

      const life = page.getByRole('region', { name: 'Life' });
      await life.getByRole('listitem').first().waitFor();
      expect(await life.getByRole('img').getAttribute('aria-label')).toContain('failing on 2');
      await page.getByRole('button', { name: 'Why is it judged so?' }).press('Enter');
      await page.getByText('healthy → broken').first().waitFor();

      const kinds = page.getByRole('region', { name: 'Failures' }).getByRole('button');
      await kinds.first().focus();
      await page.keyboard.press('Enter');
      await page.getByText('at cart.ts:12').waitFor();
      expect(new URL(page.url()).searchParams.has('failure')).toBe(true);

      await page.getByRole('button', { name: 'Quarantine …' }).focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Why').waitFor();
      await dialog.getByLabel('Why').focus();
      await page.keyboard.type('rounds at midnight');
      await page.keyboard.press('Tab');
      await page.keyboard.type('release/*');
      // Past the pipeline and CI job, and which failures.
      for (let i = 0; i < 3; i++) await page.keyboard.press('Tab');
      await page.keyboard.type('team-checkout');
      await page.keyboard.press('Enter');
      await page.getByText('On release/*').waitFor();
      await page.getByText('owner team-checkout').waitFor();
      await dialog.waitFor({ state: 'detached' });

      await open(`${base}/quarantines`);
      await page.getByText('rounds at midnight').waitFor();
      // The window of the log ends before now.
      insights.fixture.stores.clock.set(TEST_NOW + 1_000);
      await open(`${base}/events?follow=true`);
      await page.locator('summary', { hasText: 'test.quarantined' }).waitFor();
      insights.fixture.stores.clock.set(TEST_NOW);

      await open(`${base}/quarantines`);
      await page.getByLabel(`Choose ${NAME}`).press('Space');
      await page.getByRole('button', { name: 'Release 1' }).press('Enter');
      await page.getByText('Nothing is quarantined').waitFor();
    });
  }, 60_000);

  test('leads from an event to its pull request, the newest commit, a run and the test that failed', async () => {
    const { fixture } = insights;
    const { owner, name } = fixture.repository;
    const of = { branch: 'feature', base_ref: 'main', pull_request: 41 };
    await fixture.ingest(
      fixture.run([{ name: NAME, at: at(9) }], { ...of, commit: 'head-1' }),
      fixture.run([{ name: NAME, at: at(8), status: 'failed', failures: [{ type: 'Error', message: 'new' }] }], {
        ...of,
        commit: 'head-2',
      }),
    );
    const pull = { number: 41, id: 41, title: 'Round <b>totals</b>', base_ref: 'main', head_ref: 'feature' };
    const job = makeEventsJob(
      { host: 'github.com', owner, name },
      [labelled(`label-${crypto.randomUUID()}`, { pull_request: 41 })],
      {
        pull_requests: [
          {
            ...pull,
            author: { id: 1, login: 'ann' },
            head_commit: 'head-3',
            merge_commit: null,
            updated_at: iso(at(7)),
          },
        ],
      },
    );
    await fixture.stores.producers.of(prEvents).add(job, crypto.randomUUID());
    await fixture.settle();
    await on({}, async ({ page, open }) => {
      // The window of the log ends before now.
      fixture.stores.clock.set(TEST_NOW + 1_000);
      await open(`${base}/events?pull=41`);
      await page.locator('summary', { hasText: 'action.label' }).press('Enter');
      await page.getByRole('link', { name: '#41' }).press('Enter');
      await page.getByRole('heading', { name: '#41 Round <b>totals</b>' }).waitFor();
      const state = page.getByRole('region', { name: 'Newest commit' });
      await state.getByRole('status').getByText('Nothing has arrived yet for the newest commit').waitFor();
      await state.getByText('1 report').waitFor();
      await page.getByRole('region', { name: 'New' }).getByRole('link', { name: NAME }).waitFor();
      await page.getByRole('region', { name: 'Events' }).getByText('action.label').waitFor();
      expect(await page.getByRole('region', { name: 'Commits' }).getByRole('link').allTextContents()).toEqual([
        'head-2',
        'head-1',
      ]);
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('region', { name: 'Commits' }).getByRole('link', { name: 'head-2' }).press('Enter');
      await page.getByRole('heading', { name: 'Commit head-2' }).waitFor();
      await page.getByRole('link', { name: 'Pull request #41' }).waitFor();
      await page.getByRole('list', { name: 'What ran' }).getByRole('link', { name: 'CI' }).press('Enter');
      await page.getByRole('region', { name: 'Reports' }).getByText('1 stored').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('region', { name: 'New' }).getByRole('link', { name: NAME }).press('Enter');
      await page.getByRole('heading', { name: NAME }).waitFor();
      await open(`${base}/pulls/4711`);
      await page.getByText('Nothing has arrived of pull request #4711').waitFor();
      fixture.stores.clock.set(TEST_NOW);
    });
  }, 60_000);

  test('keeps what one looks at in the address: it survives a reload and Back', async () => {
    await on({}, async ({ page, open }) => {
      await open(`${base}/tests`);
      await page.getByLabel('Find tests').fill('*flaky*');
      await page.waitForURL(/q=/);
      await page.getByLabel('Sorted by').selectOption('test_name');
      await page.waitForURL(/sort=test_name/);
      await page.reload();
      expect(await page.getByLabel('Find tests').inputValue()).toBe('*flaky*');
      expect(await page.getByLabel('Sorted by').inputValue()).toBe('test_name');
      await page.getByRole('link', { name: 'flaky' }).click();
      await page.getByRole('button', { name: '7 days' }).click();
      await page.waitForURL(/days=7/);
      await page.goBack();
      await page.getByLabel('Find tests').waitFor();
      expect(await page.getByLabel('Find tests').inputValue()).toBe('*flaky*');
    });
  }, 30_000);
});
