/** What changed in a repository: whose health, and what turned runs of the default branch red. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { changedTestsStatement } from '../../src/postgres/health-histories.ts';
import { pullRequests } from '../../src/postgres/schema.ts';
import { TEST_NOW } from '../support/clock.ts';
import { at, beside, type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

interface Transitions {
  size: number;
  counts: Record<string, number>;
  is_complete: boolean;
  transitions: Record<string, unknown>[];
}
interface RedRuns {
  runs_count: number;
  red_runs_count: number;
  is_complete: boolean;
  red_runs: { commit_sha: string; failed_tests: number; pull_request: unknown; tests: Record<string, unknown>[] }[];
}

const failed = (name: string, hours: number): TestExecution => ({
  ...{ name, at: at(hours), status: 'failed' },
  failures: [{ type: 'TypeError', message: 'no' }],
});
const passed = (name: string, hours: number): TestExecution => ({ name, at: at(hours) });

/** `sums` breaks and is fixed; `tax` turns flaky. */
const insights = setUpInsights(async (fixture: InsightsFixture) => {
  const run = fixture.run.bind(fixture);
  const both = (hours: number) => [passed('sums', hours), passed('tax', hours), ...beside(hours)];
  await fixture.ingest(...Array.from({ length: 9 }, (_, i) => run(both(100 - i))));
  for (const hours of [22, 20])
    await fixture.ingest(run([failed('sums', hours), passed('tax', hours), ...beside(hours)], { commit: 'broke' }));
  await fixture.ingest(run(both(18)), run(both(17)));
  for (const hours of [15, 13, 11, 9])
    await fixture.ingest(
      run([passed('sums', hours), failed('tax', hours), ...beside(hours)], { commit: `odd-${hours}` }),
      run(both(hours - 1), { commit: `odd-${hours}` }),
    );
  await fixture.stores.postgres.db.insert(pullRequests).values([
    {
      repositoryId: fixture.id,
      number: 12,
      id: 7,
      title: 'Round',
      authorId: 1,
      authorLogin: 'ann',
      mergeCommit: 'broke',
    },
  ]);
});

describe('the transitions of a repository', () => {
  const read = (query: Record<string, string> = {}) =>
    insights.app.get<Transitions>(`${insights.fixture.base}/health-transitions?${new URLSearchParams(query)}`);

  test('say what turned broken or flaky by which commit, and what was fixed, newest first', async () => {
    const { transitions, counts, is_complete } = await read();
    expect(
      transitions.map(({ turn, test_name, before, health_status }) => [turn, test_name, before, health_status]),
    ).toEqual([
      ['turned_flaky', 'tax', 'healthy', 'flaky'],
      ['fixed', 'sums', 'broken', 'healthy'],
      ['turned_broken', 'sums', 'healthy', 'broken'],
    ]);
    expect([transitions[0]?.commit_sha, transitions[1]?.commit_sha]).toEqual(['odd-11', null]);
    expect(transitions[2]).toMatchObject({
      commit_sha: 'broke',
      exception_type: 'TypeError',
      pull_request: { number: 12, user: { login: 'ann' } },
    });
    expect(counts).toEqual({ turned_broken: 1, turned_flaky: 1, recovered: 0, fixed: 1 });
    expect(is_complete).toBe(true);
  });

  test('agree with those of each test', async () => {
    const { transitions } = await read();
    const window = { start: iso(at(24 * 7)), end: iso(TEST_NOW) };
    for (const name of ['sums', 'tax']) {
      const own = await insights.app.get<Transitions>(insights.fixture.test(name, '/health-transitions', window));
      const listed = transitions.filter(({ test_name }) => test_name === name).toReversed();
      expect(listed.map(({ at: when, health_status }) => [when, health_status])).toEqual(
        own.transitions.map(({ at: when, health_status }) => [when, health_status]),
      );
    }
  });

  test('are filtered by kind and window, and come in pages', async () => {
    const { transitions } = await read();
    expect((await read({ turn: 'fixed' })).transitions).toEqual(transitions.slice(1, 2));
    expect((await read({ turn: 'fixed' })).counts).toEqual({
      turned_broken: 1,
      turned_flaky: 1,
      recovered: 0,
      fixed: 1,
    });
    const fixed = String(transitions[1]?.at);
    expect((await read({ start: fixed })).transitions).toEqual(transitions.slice(0, 2));
    expect((await read({ end: fixed })).transitions).toEqual(transitions.slice(2));
    const first = await insights.app.request(`${insights.fixture.base}/health-transitions?per_page=2`);
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect((await insights.app.get<Transitions>(next)).transitions).toEqual(transitions.slice(2));
  });

  test('are none where nothing is known, and 422 for what is not understood', async () => {
    const nowhere = await insights.app.get<Transitions>(`${insights.fixture.another().base}/health-transitions`);
    expect(nowhere).toMatchObject({ size: 0, transitions: [], is_complete: true });
    for (const query of ['turn=healed', 'start=yesterday', `start=${iso(at(1))}&end=${iso(at(2))}`])
      expect((await insights.app.request(`${insights.fixture.base}/health-transitions?${query}`)).status).toBe(422);
  });

  test('begin with a range of an index', async () => {
    const { id } = insights.fixture;
    let plan = '';
    const explain = insights.app.stores.postgres.db.transaction(async (tx) => {
      // Of a repository with so few, any index does.
      await tx.execute(sql`
        insert into ci_insights.health_changes (repository_id, test_id, pipeline_name, job_name, axes, at_ms, run_id,
          run_attempt, execution_id, before, after)
        select ${id}::uuid, gen_random_uuid(), 'CI', 'unit', '{}', number, 'r', 1, number::text, 'healthy', 'flaky'
        from generate_series(1, 20000) as number`);
      await tx.execute(sql`analyze ci_insights.health_changes`);
      const statement = changedTestsStatement(id, { start: at(50), end: TEST_NOW }, 10);
      const { rows } = await tx.execute<{ 'QUERY PLAN': string }>(sql`explain ${statement}`);
      plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      tx.rollback();
    });
    await expect(explain).rejects.toThrow('Rollback');
    expect(plan).toContain('health_changes_at');
  });
});

describe('the red runs of the default branch', () => {
  const read = (query = '') => insights.app.get<RedRuns>(`${insights.fixture.base}/red-runs${query}`);

  test('have the tests that turned them red, and the pull request that was merged', async () => {
    const found = await read();
    expect([found.runs_count, found.red_runs_count, found.is_complete]).toEqual([12, 6, true]);
    expect(found.red_runs.map(({ commit_sha, failed_tests }) => [commit_sha, failed_tests])).toEqual([
      ['odd-9', 1],
      ['odd-11', 1],
      ['odd-13', 1],
      ['odd-15', 1],
      ['broke', 1],
      ['broke', 1],
    ]);
    expect(found.red_runs[0]?.tests).toMatchObject([{ test_name: 'tax', owner: null }]);
    expect(found.red_runs[0]?.pull_request).toBeNull();
    expect(found.red_runs[5]?.pull_request).toMatchObject({ number: 12, user: { login: 'ann' } });
    expect(found.red_runs[5]?.tests).toMatchObject([{ test_name: 'sums' }]);
  });

  test('are those of the last hours, and none of other branches', async () => {
    expect((await read('?hours=10')).red_runs.map(({ commit_sha }) => commit_sha)).toEqual(['odd-9']);
    const another = insights.fixture.another();
    await another.ingest(
      another.run([passed('a', 5)]),
      another.run([failed('a', 4)], { branch: 'feature', commit: 'elsewhere' }),
    );
    expect(await insights.app.get<RedRuns>(`${another.base}/red-runs`)).toMatchObject({
      runs_count: 1,
      red_runs: [],
    } as never);
    for (const query of ['?hours=0', '?hours=169', '?hours=x'])
      expect((await insights.app.request(`${insights.fixture.base}/red-runs${query}`)).status).toBe(422);
  });

  test('say who repairs what is quarantined', async () => {
    const fixture = insights.fixture.another();
    await fixture.ingest(fixture.run([passed('a', 9)]), fixture.run([failed('a', 3)], { commit: 'red' }));
    const body = JSON.stringify({ test_name: 'a', reason: 'r', branch: null, owner: 'team-checkout' });
    const headers = { 'content-type': 'application/json' };
    await insights.app.request(`${fixture.base}/quarantines`, { method: 'POST', headers, body });
    const { red_runs: runs } = await insights.app.get<RedRuns>(`${fixture.base}/red-runs`);
    expect(runs[0]?.tests).toMatchObject([{ test_name: 'a', verdict: 'quarantined', owner: 'team-checkout' }]);
  });
});
