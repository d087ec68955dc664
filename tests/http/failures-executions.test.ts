/** Failures and executions of tests that were ingested as a producer would send them. */
import { describe, expect, test } from 'bun:test';
import { failureIdOf, testIdOf } from '../../src/domain/identity.ts';
import { TEST_NOW } from '../support/clock.ts';
import { linksOf } from '../support/http.ts';
import { at, ingestHistory, iso, NAME, setUpInsights } from '../support/insights.ts';

const HOUR_MS = 3_600_000;
const DAY = 24 * HOUR_MS;

const insights = setUpInsights(ingestHistory);

interface Failures {
  failures: { id: string; failure_count: number; exception_message: string }[];
}

describe('failures', () => {
  test('are grouped by exception type and fingerprint, with the newest message and both times', async () => {
    const { failures } = await insights.app.get<Failures>(insights.fixture.test(NAME, '/failures'));
    expect(failures).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{14}5/),
        exception_type: 'AssertionError',
        exception_message: 'expected 7 to equal 9',
        failure_count: 2,
        first_failure_at: iso(at(40)),
        last_failure_at: iso(at(30)),
        cause_id: expect.stringMatching(/^[0-9a-f-]{14}5/),
      },
    ] as never);
  });

  test('a group shows its newest events first', async () => {
    const { failures } = await insights.app.get<Failures>(insights.fixture.test(NAME, '/failures'));
    const one = await insights.app.get<{ latest_events: Record<string, unknown>[] }>(
      insights.fixture.test(NAME, `/failures/${failures[0]?.id}`),
    );
    expect(one).toMatchObject({ ...failures[0] });
    expect(one.latest_events).toEqual([
      {
        id: expect.any(String),
        failed_at: iso(at(30)),
        exception_stacktrace: 'at cart.ts:12',
        test_filepath: null,
        test_programming_language: null,
        job_url: null,
        attachments: [],
      },
      {
        id: expect.any(String),
        failed_at: iso(at(40)),
        exception_stacktrace: 'at cart.ts:12',
        test_filepath: null,
        test_programming_language: 'javascript',
        job_url: 'https://ci/1',
        attachments: [],
      },
    ]);
  });

  test('a failure without an exception says so', async () => {
    const { failures } = await insights.app.get<Failures>(insights.fixture.test('flaky', '/failures'));
    expect(failures).toMatchObject([
      { exception_type: 'unknown', exception_message: '(none reported)', failure_count: 1 },
    ]);
  });

  test('a test without failures has an empty list; an unknown failure is 404, even one of another test', async () => {
    expect(await insights.app.get(insights.fixture.test('only skipped', '/failures'))).toEqual({ failures: [] });
    const { failures } = await insights.app.get<Failures>(insights.fixture.test(NAME, '/failures'));
    expect((await insights.app.request(insights.fixture.test('flaky', `/failures/${failures[0]?.id}`))).status).toBe(
      404,
    );
    const unknown = failureIdOf(testIdOf(insights.fixture.id, NAME), 1, 'nothing', 'like it');
    expect((await insights.app.request(insights.fixture.test(NAME, `/failures/${unknown}`))).status).toBe(404);
  });
});

interface Executions {
  size: number;
  per_page: number;
  executions: { job_name: string; pipeline_name: string; executions_count: number }[];
}

describe('executions', () => {
  test('are counted per pipeline and CI job in the window, including skipped ones', async () => {
    const query = { start: iso(at(60)), end: iso(TEST_NOW) };
    const identity = { test_id: testIdOf(insights.fixture.id, NAME), test_name: NAME, pipeline_name: 'CI' };
    expect(await insights.app.get<Executions>(insights.fixture.test(NAME, '/executions', query))).toEqual({
      size: 2,
      per_page: 10,
      executions: [
        { ...identity, job_name: 'unit', executions_count: 4 },
        { ...identity, job_name: 'e2e', executions_count: 1 },
      ] as Executions['executions'],
    });
    const byJob = await insights.app.get<Executions>(
      insights.fixture.test(NAME, '/executions', { ...query, sort: 'job_name' }),
    );
    expect(byJob.executions.map(({ job_name }) => job_name)).toEqual(['e2e', 'unit']);
    const counted = await insights.app.get<Executions>(
      insights.fixture.test(NAME, '/executions', { ...query, direction: 'asc' }),
    );
    expect(counted.executions.map(({ job_name }) => job_name)).toEqual(['e2e', 'unit']);
  });

  test('a window without executions is an empty list, in any year', async () => {
    for (const query of [
      { start: '2001-01-01T00:00:00Z' },
      { start: '0001-01-01T00:00:00Z', end: '2001-01-01T00:00:00Z' },
      { start: '9998-01-01T00:00:00Z', end: '9999-12-31T23:59:59Z' },
    ] as Record<string, string>[])
      expect(await insights.app.get<Executions>(insights.fixture.test(NAME, '/executions', query))).toEqual({
        size: 0,
        per_page: 10,
        executions: [],
      });
    const all = { start: '0001-01-01T00:00:00Z', end: '9999-12-31T23:59:59Z' };
    expect((await insights.app.get<Executions>(insights.fixture.test(NAME, '/executions', all))).size).toBe(2);
  });

  test('a window that ends now by default does not move between pages', async () => {
    const first = await insights.app.request(insights.fixture.test(NAME, '/executions', { per_page: '1' }));
    insights.app.stores.clock.set(TEST_NOW + 30 * DAY);
    const { next = '', last = '' } = linksOf(first);
    const page = await insights.app.get<Executions>(next);
    const end = await insights.app.get<Executions>(last);
    insights.app.stores.clock.set(TEST_NOW);
    expect(page).toMatchObject({ size: 1, per_page: 1, executions: [{ job_name: 'unit' }] });
    expect(end).toEqual(page);
  });

  test('pages stay complete while thousands of executions arrive: what did not change is neither repeated nor skipped', async () => {
    const busy = insights.fixture.another();
    const jobs = Array.from({ length: 12 }, (_, i) => `job ${String(i).padStart(2, '0')}`);
    const run = (job: string, count: number) =>
      busy.run(
        Array.from({ length: count }, () => ({ name: NAME })),
        { job_name: job },
      );
    await busy.ingest(...jobs.map((job, i) => run(job, i + 1)));
    insights.app.stores.clock.set(TEST_NOW + 1_000);
    let response = await insights.app.request(busy.test(NAME, '/executions', { per_page: '3' }));
    const seen: string[] = [];
    for (;;) {
      expect(response.status).toBe(200);
      const page = (await response.json()) as Executions;
      seen.push(...page.executions.map(({ job_name }) => job_name));
      // Time passes, and 1,000 more arrive: within the window, but under another CI job.
      insights.app.stores.clock.set(insights.app.stores.clock.now() + HOUR_MS);
      await busy.ingest(run('job that comes in between', 1_000));
      const { next } = linksOf(response);
      if (!next) break;
      response = await insights.app.request(next);
    }
    insights.app.stores.clock.set(TEST_NOW);
    expect(seen).toEqual(jobs.toReversed());
  });
});
