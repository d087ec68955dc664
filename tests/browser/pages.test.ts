/** The web application in a real browser, on the test stores. */
import { describe, expect, test } from 'bun:test';
import { compress } from '../../src/queue/encoding.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { hasBrowser, violationsOn, visit } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { TEST_NOW } from '../support/clock.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { at, beside, ingestHistory, iso, NAME, setUpInsights } from '../support/insights.ts';
import { PAGES } from '../support/pages.ts';

const insights = setUpInsights(ingestHistory);
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('the web application', () => {
  test('has a row among the pages that are tested for each of its routes', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open('');
      const routes = await page.evaluate<string[]>('Object.keys(__TSR_ROUTER__.routesByPath)');
      const rows = new Set(PAGES.flatMap(({ route = [] }) => route));
      expect(routes.sort()).toEqual([...rows].sort());
    });
  });

  test('lets a person sign in with a key, shows what was asked for, and lets them out', async () => {
    const opened = await visit(pages.origin);
    const { page } = opened;
    await opened.open(`${pages.base}/tests?q=sums`);
    await page.getByLabel('Application key').waitFor();
    expect(new URL(page.url()).pathname).toBe('/app/sign-in');
    await page.getByLabel('Application key').fill('cii_wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('unknown, expired or revoked').waitFor();
    await page.getByLabel('Application key').fill(await pages.service.makeKey({ scope: 'view', name: 'ann' }));
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: NAME }).first().waitFor();
    expect(page.url()).toBe(`${pages.origin}/app${pages.base}/tests?q=sums`);
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
    await pages.service.stores.deadLetters.add('pr-events', jobId, null, compress(job), 'the payload is <b>odd</b>');
    await pages.on({}, async ({ page, open }) => {
      await open('/operations');
      await page.getByText('the payload is <b>odd</b>').first().waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('button', { name: `Replay pr-events ${jobId}` }).click();
      await page.getByText(jobId).waitFor({ state: 'detached' });
    });
    expect((await pages.service.stores.deadLetters.list()).map((letter) => letter.jobId)).not.toContain(jobId);
  });

  test('leads from "CI is red" to a quarantine and its event, with the keyboard alone', async () => {
    await pages.on({}, async ({ page, open }) => {
      // CI is red on a pull request: which test?
      await open(`${pages.base}/pulls/7`);
      const verdicts = page.getByRole('region', { name: 'Newest commit' });
      await verdicts.getByRole('link', { name: NAME }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: NAME }).waitFor();
      // The same test, found by its name.
      await open(`${pages.base}/tests`);
      await page.keyboard.press('/');
      await page.keyboard.type('sums [a');
      await page.getByRole('link', { name: NAME }).first().waitFor();
      await page.waitForURL((url) => url.searchParams.get('q') === 'sums [a');
      await page.getByRole('img', { name: '2 failed executions in 14 days' }).waitFor();
      await page.getByRole('link', { name: NAME }).first().focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: NAME }).waitFor();

      const life = page.getByRole('region', { name: 'Commit by commit' });
      await life.getByRole('listitem').first().waitFor();
      await life.getByRole('slider').press('ArrowLeft');
      expect(await life.getByRole('slider').getAttribute('aria-valuetext')).toContain('flaky on 2');
      await page.getByRole('button', { name: /^Why is it/ }).press('Enter');
      await page.getByText('flaky with a probability of').first().waitFor();

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
      // Past the pipeline and CI job, the legs, and which failures.
      for (let i = 0; i < 4; i++) await page.keyboard.press('Tab');
      await page.keyboard.type('team-checkout');
      // PostgreSQL compares ends with its own clock.
      await page.clock.setFixedTime(Date.now());
      await page.keyboard.press('Enter');
      await page.clock.setFixedTime(TEST_NOW);
      await page.getByText('On release/*').waitFor();
      await page.getByText('owner team-checkout').waitFor();
      await dialog.waitFor({ state: 'detached' });

      await open(`${pages.base}/quarantines`);
      await page.getByText('rounds at midnight').waitFor();
      // The window of the log ends before now.
      insights.fixture.stores.clock.set(TEST_NOW + 1_000);
      await open(`${pages.base}/events?follow=true`);
      await page.locator('summary', { hasText: 'test.quarantined' }).waitFor();
      insights.fixture.stores.clock.set(TEST_NOW);

      await open(`${pages.base}/quarantines`);
      await page.getByLabel(`Choose ${NAME}`).press('Space');
      await page.getByRole('button', { name: 'Release 1' }).press('Enter');
      await page.getByText('Nothing is quarantined').waitFor();
    });
  });

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
    await pages.on({}, async ({ page, open }) => {
      // The window of the log ends before now.
      fixture.stores.clock.set(TEST_NOW + 1_000);
      await open(`${pages.base}/events?pull=41`);
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
      await open(`${pages.base}/pulls/4711`);
      await page.getByText('Nothing has arrived of pull request #4711').waitFor();
      fixture.stores.clock.set(TEST_NOW);
    });
  });

  test('says in words how sure a health is, and shows the pull requests that contradict themselves', async () => {
    const another = insights.fixture.another();
    const { owner, name } = another.repository;
    const run = (hours: number, attempt: number, pull?: number) => {
      const isFailed = pull !== undefined && attempt === 1;
      return another.run(
        [
          { name: 'wobbly', at: at(hours), ...(isFailed && { status: 'failed', failures: [{ message: 'no' }] }) },
          ...beside(hours),
        ],
        {
          run_attempt: attempt,
          ...(pull && {
            run_id: `of ${pull}`,
            commit: `head-of-${pull}`,
            branch: 'change',
            base_ref: 'main',
            pull_request: pull,
          }),
        },
      );
    };
    await another.ingest(
      ...Array.from({ length: 9 }, (_, i) => run(60 - i, 1)),
      ...[51, 52, 53].flatMap((pull) => [run(90 - pull, 1, pull), run(80 - pull, 2, pull)]),
      run(2, 1),
    );
    await pages.on({}, async ({ page, open }) => {
      await open(`/${owner}/${name}/tests?q=wobbly`);
      await page.getByRole('link', { name: 'wobbly' }).press('Enter');
      await page.getByText(/It is (almost certainly|probably) flaky: the probability is \d/).waitFor();
      await page.getByRole('button', { name: 'Why is it flaky?' }).press('Enter');
      await page.getByRole('heading', { name: 'Both failed and passed on 3 commits of pull requests' }).waitFor();
      await page.getByText('The code was the same, so this speaks for flaky.').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.getByRole('link', { name: '#53' }).press('Enter');
      await page.getByRole('heading', { name: 'Pull request #53' }).waitFor();
      await open(`${pages.base}/tests?q=only%20skipped`);
      await page.getByRole('link', { name: 'only skipped' }).press('Enter');
      await page.getByText('It has not been judged yet.').waitFor();
    });
  });

  test('keeps what one looks at in the address: it survives a reload and Back', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/tests`);
      await page.getByLabel('Find tests').fill('*flaky*');
      await page.waitForURL(/q=/);
      const head = page.getByRole('columnheader', { name: 'Test', exact: true });
      await head.getByRole('button').click();
      await page.waitForURL(/sort=test_name/);
      await page.reload();
      expect(await page.getByLabel('Find tests').inputValue()).toBe('*flaky*');
      expect(await head.getAttribute('aria-sort')).toBe('ascending');
      await page.getByRole('link', { name: 'flaky' }).click();
      await page.getByRole('button', { name: '7 days' }).click();
      await page.waitForURL(/days=7/);
      await page.goBack();
      await page.getByLabel('Find tests').waitFor();
      expect(await page.getByLabel('Find tests').inputValue()).toBe('*flaky*');
    });
  });
});
