/** Causes as clients see them: lists, searches, pages, one cause, and where failures name theirs. */
import { describe, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import type { CausePage } from '../../src/insights/cause.ts';
import type { CauseList } from '../../src/insights/causes.ts';
import { TEST_NOW } from '../support/clock.ts';
import { linksOf } from '../support/http.ts';
import { setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const days = (count: number): number => TEST_NOW - count * DAY_MS;
const failed = (name: string, at: number, message: string, type = 'ConnectionError'): TestExecution => ({
  ...{ name, at, status: 'failed' },
  failures: [{ type, message, stacktrace: 'at connect (net.ts:1:2)' }],
});
const HIT = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `test ${name}`);
const outage = (at: number): TestExecution[] =>
  HIT.map((name, i) => failed(name, at + i * 1_000, `cannot reach '${name.slice(-1)}db.internal' port closed by peer`));

const insights = setUpInsights(async (fixture) => {
  const passed = (at: number): TestExecution[] => HIT.map((name) => ({ name, at }));
  // Before the others: what a repository shows in its first week is not joined.
  await fixture.ingest(
    fixture.run([failed('old', days(20), 'ledger rounding went wrong', 'RoundingError')], { commit: 'c20' }),
  );
  await fixture.ingest(
    fixture.run(passed(days(4)), { commit: 'c4' }),
    fixture.run(outage(days(3)), { commit: 'c3' }),
    fixture.run(outage(days(2)), { commit: 'c2', job_name: 'e2e' }),
    fixture.run(passed(days(1)), { commit: 'c1' }),
    fixture.run([failed('lone', days(1) + HOUR_MS, 'cart total became negative', 'app.cart.NegativeTotalError')], {
      commit: 'c1',
    }),
    fixture.run([{ name: 'lone', at: days(1) }], { commit: 'c1' }),
    fixture.run([failed('test a', days(1), "cannot reach 'adb.internal' port closed by peer")], {
      ...{ branch: 'feature', base_ref: 'main', pull_request: 7, commit: 'p1' },
    }),
    fixture.run([failed('elsewhere', days(1), "cannot reach 'bdb.internal' port closed by peer")], {
      ...{ branch: 'feature', base_ref: 'main', pull_request: 7, commit: 'p1', job_name: 'e2e' },
    }),
  );
});

const list = async (query = ''): Promise<CauseList['causes']> =>
  ((await insights.app.get(`${insights.fixture.base}/causes${query}`)) as CauseList).causes;
const one = async (id: string): Promise<CausePage> =>
  (await insights.app.get(`${insights.fixture.base}/causes/${id}`)) as CausePage;
const typesOf = (causes: CauseList['causes']): string[] => causes.map(({ exception_type: type }) => type);

describe('the list', () => {
  test('has the outage as one cause, with what it hit in the window', async () => {
    const causes = await list();
    expect(typesOf(causes)).toEqual(['app.cart.NegativeTotalError', 'ConnectionError', 'RoundingError']);
    expect(causes[1]).toMatchObject({
      ...{ failure_count: 12, test_count: 6, leg_count: 2 },
      first_failure_at: new Date(days(3)).toISOString(),
      last_failure_at: new Date(days(2) + 5_000).toISOString(),
      failures_by_day: [3, 2].map((count) => ({
        day: new Date(days(count)).toISOString().slice(0, 10),
        failure_count: 6,
      })),
    });
  });

  test('counts whole UTC days of the window, and leaves out what did not fail in it', async () => {
    const day = (count: number): string => `${new Date(days(count)).toISOString().slice(0, 10)}T00:00:00Z`;
    const causes = await list(`?start=${day(3)}&end=${day(2)}`);
    expect(causes).toHaveLength(1);
    expect(causes[0]).toMatchObject({ failure_count: 6, leg_count: 1 });
  });

  test.each([
    ['RECHES reach', []],
    ['reach CANNOT', ['ConnectionError']],
    ['"port closed"', ['ConnectionError']],
    ['"closed port"', []],
    ['negativetotalerror', ['app.cart.NegativeTotalError']],
    ['adb.internal', ['ConnectionError']],
    ["it's & | ! <-> :* (", []],
    ['!!!', []],
  ])('q=%s finds by words and phrases', async (q, types) => {
    expect(typesOf(await list(`?q=${encodeURIComponent(q)}`))).toEqual(types);
  });

  test('is sorted by failures and by tests, and read in pages both ways', async () => {
    for (const sort of ['newest', 'failures', 'tests', 'cost']) {
      const all = await list(`?sort=${sort}`);
      const pageAt = async (path: string) => {
        const response = await insights.app.request(path);
        const { causes } = (await response.json()) as CauseList;
        const links = linksOf(response);
        return { causes, next: links.next ?? '', prev: links.prev ?? '' };
      };
      const start = await pageAt(`${insights.fixture.base}/causes?sort=${sort}&per_page=2`);
      const second = await pageAt(start.next);
      expect(second.causes).toEqual(all.slice(2));
      const first = await pageAt(second.prev);
      expect(first.causes).toEqual(all.slice(0, 2));
    }
    expect(typesOf(await list('?sort=tests'))[0]).toBe('ConnectionError');
  });

  test('sorted by cost says what each cause costs: the tests of one share its red runs', async () => {
    const causes = await list('?sort=cost');
    const costs = causes.map(({ exception_type: type, cost }) => [type, cost?.red_runs.toFixed(6), cost?.failed_runs]);
    // Each run of the outage once, however many tests it hit. On the pull request, the rule blames the change.
    expect(costs[0]).toEqual(['ConnectionError', '2.000000', 2]);
    expect((await list())[0]?.cost).toBeNull();
    for (const { cause_id: id, cost } of causes) expect((await one(id)).cost).toMatchObject({ ...cost });
    const long = await insights.app.request(`${insights.fixture.base}/causes?sort=cost&start=2026-01-01T00:00:00Z`);
    expect(long.status).toBe(422);
  });

  test('keeps the causes of tests of a health', async () => {
    const healthy = await list('?health=healthy');
    const unhealthy = await list('?health=flaky&health=broken');
    expect(new Set([...typesOf(healthy), ...typesOf(unhealthy)])).toEqual(new Set(typesOf(await list())));
    for (const [causes, healths] of [
      [healthy, ['healthy']],
      [unhealthy, ['flaky', 'broken']],
    ] as const)
      for (const { cause_id: id } of causes)
        expect((await one(id)).tests.some(({ health_status: health }) => healths.some((one) => one === health))).toBe(
          true,
        );
    expect(unhealthy.length).toBeLessThan((await list()).length);
  });

  test('keeps the causes with which something failed on a branch', async () => {
    expect(typesOf(await list('?branch=feature'))).toEqual(['ConnectionError']);
    expect(await list('?branch=other')).toEqual([]);
    expect(await list('?branch=main')).toHaveLength(3);
  });

  test('of a repository without uploads is empty', async () => {
    expect(await insights.app.get(`/v1/ci/no-one/repositories/nothing/causes`)).toMatchObject({ causes: [] });
  });
});

describe('a cause', () => {
  test('has the newest failure, what it hit, its quarantines, and the pull requests', async () => {
    const [, { cause_id: id = '' } = {}] = await list();
    const cause = await one(id);
    expect(cause).toMatchObject({
      ...{ cause_id: id, merged_from: [], failure_count: 12, test_count: 6, leg_count: 2 },
      newest_failure: { exception_type: 'ConnectionError', exception_stacktrace: 'at connect (net.ts:1:2)' },
      legs: [
        { job_name: 'e2e', failure_count: 6 },
        { job_name: 'unit', failure_count: 6 },
      ],
      pull_requests: [{ number: 7, failure_count: 1 }],
    });
    expect(cause.messages).toHaveLength(6);
    expect(cause.tests.map(({ test_name: name }) => name).sort()).toEqual(HIT);
    const total = (counts: { failure_count: number }[]) => counts.reduce((sum, { failure_count: n }) => sum + n, 0);
    for (const counts of [cause.messages, cause.tests, cause.legs, cause.failures_by_day])
      expect(total(counts)).toBe(cause.failure_count);
  });

  test('says between which commits it began, or that the same commit had passed', async () => {
    const [lone, outageCause, old] = await list();
    expect((await one(outageCause?.cause_id ?? '')).beginning).toMatchObject({
      ...{ kind: 'commits', passed_commit: 'c4', failed_commit: 'c3', job_name: 'unit' },
    });
    expect((await one(lone?.cause_id ?? '')).beginning).toMatchObject({ kind: 'same_commit', failed_commit: 'c1' });
    expect((await one(old?.cause_id ?? '')).beginning).toMatchObject({ kind: 'no_pass', passed_commit: null });
  });

  test('whose first failure has left says so', async () => {
    const [, { cause_id: id = '' } = {}] = await list();
    const { pool } = insights.app.stores.postgres;
    const move = (by: number) =>
      pool.query('update ci_insights.cause_nodes set first_ms = first_ms + $2 where cause_id = $1', [id, by]);
    await move(-200 * DAY_MS);
    expect((await one(id)).beginning).toMatchObject({ kind: 'not_retained', job_name: null, failed_commit: null });
    await move(200 * DAY_MS);
  });

  test('is found by the id of each of its nodes', async () => {
    const [, { cause_id: id = '' } = {}] = await list();
    const { rows } = await insights.app.stores.postgres.pool.query<{ id: string }>(
      'select node_id as id from ci_insights.cause_nodes where cause_id = $1',
      [id],
    );
    expect(rows).toHaveLength(6);
    for (const { id: node } of rows) expect((await one(node)).cause_id).toBe(id);
  });

  test('that does not exist is 404', async () => {
    const { status } = await insights.app.request(
      `${insights.fixture.base}/causes/6b1f2a52-4dd6-5a3e-9a75-0b2f1d9d3c14`,
    );
    expect(status).toBe(404);
  });
});

test('failure groups and failures of a commit name their cause, also on other branches and of other tests', async () => {
  const [, { cause_id: id = '' } = {}] = await list();
  const groups = (await insights.app.get(insights.fixture.test('test a', '/failures'))) as { failures: unknown[] };
  expect(groups.failures).toMatchObject([{ cause_id: id }]);
  for (const commit of ['c3', 'p1']) {
    const found = (await insights.app.get(`${insights.fixture.base}/commits/${commit}/failures`)) as {
      failures: unknown[];
    };
    expect(found.failures).toHaveLength(commit === 'c3' ? 6 : 2);
    for (const failure of found.failures) expect(failure).toMatchObject({ cause_id: id });
  }
});
