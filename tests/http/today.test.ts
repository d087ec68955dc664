/** What changed in a repository: whose health, and what turned runs of the default branch red. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { DAY_MS } from '../../src/domain/time.ts';
import { NO_ORIGIN } from '../../src/domain/upload-origin.ts';
import { coursesOfRepositoriesStatement, unhealthyCoursesStatement } from '../../src/postgres/health-courses.ts';
import { changedTestsStatement } from '../../src/postgres/health-histories.ts';
import { RefusedUploads } from '../../src/postgres/refused-uploads.ts';
import { pullRequests } from '../../src/postgres/schema.ts';
import { troublesStatement } from '../../src/postgres/week-of-repositories.ts';
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

  test('are counted as the cost counts them, and listed by the run of their pipeline', async () => {
    const fixture = insights.fixture.another();
    const ofRun = { run_id: 'twice', commit: 'red' };
    await fixture.ingest(
      fixture.run([passed('a', 9)]),
      fixture.run([failed('a', 4)], ofRun),
      fixture.run([failed('a', 3)], { ...ofRun, run_attempt: 2 }),
      fixture.run([failed('b', 2)], { ...ofRun, job_name: 'e2e' }),
      // From a fork, whose branch has the same name.
      fixture.run([failed('a', 2)], { commit: 'forked', base_ref: 'main', pull_request: 3 }),
    );
    const found = await insights.app.get<RedRuns>(`${fixture.base}/red-runs`);
    expect([found.runs_count, found.red_runs_count, found.is_complete]).toEqual([4, 3, true]);
    expect(found.red_runs.map(({ commit_sha, failed_tests }) => [commit_sha, failed_tests])).toEqual([['red', 2]]);
    const { total } = await insights.app.get<{ total: { runs: number; red_runs: number } }>(
      `${fixture.base}/red-runs/by-day`,
    );
    expect([total.runs, total.red_runs]).toEqual([5, 4]);
  });

  test('say who repairs what is quarantined', async () => {
    const fixture = insights.fixture.another();
    await fixture.ingest(fixture.run([passed('a', 9)]), fixture.run([failed('a', 3)], { commit: 'red' }));
    const body = JSON.stringify({
      test_name: 'a',
      reason: 'r',
      branch: null,
      owner: 'team-checkout',
      ticket_url: 'https://tickets.example.com/1',
    });
    const headers = { 'content-type': 'application/json' };
    await insights.app.request(`${fixture.base}/quarantines`, { method: 'POST', headers, body });
    const { red_runs: runs } = await insights.app.get<RedRuns>(`${fixture.base}/red-runs`);
    expect(runs[0]?.tests).toMatchObject([
      {
        test_name: 'a',
        verdict: 'quarantined',
        owner: 'team-checkout',
        ticket_url: 'https://tickets.example.com/1',
        owners: [],
      },
    ]);
  });
});

interface ByDay {
  is_complete: boolean;
  days: { start: string; broken_tests: number; flaky_tests: number; turns: Record<string, number> }[];
}

interface Changes {
  total: number;
  repositories: {
    owner: string;
    repository: string;
    turns: Record<string, number>;
    red_runs: { this_week: number; week_before: number; on_default_branch: number };
    worst_cause: { exception_type: string; failure_count: number; test_count: number } | null;
    ingest: { refused_uploads: number; has_problems: boolean; is_waiting: boolean };
  }[];
}

describe('what changed in all repositories', () => {
  /** With a new key: an answer is kept for each. */
  const changesFor = async (key: Parameters<typeof insights.app.makeKey>[0]): Promise<Changes> => {
    const response = await insights.app.request('/v1/repositories/changes', { token: await insights.app.makeKey(key) });
    expect(response.status).toBe(200);
    return (await response.json()) as Changes;
  };
  const own = () => ({ owner: insights.fixture.repository.owner, repositories: [insights.fixture.repository.name] });

  test('is what the home of each repository says', async () => {
    const { repositories } = await changesFor({ ...own(), scope: 'view' });
    const { counts } = await insights.app.get<Transitions>(`${insights.fixture.base}/health-transitions`);
    const { days } = await insights.app.get<{ days: { red_runs: number }[] }>(
      `${insights.fixture.base}/red-runs/by-day?start=${iso(TEST_NOW - (TEST_NOW % DAY_MS) - 6 * DAY_MS)}`,
    );
    expect(repositories).toHaveLength(1);
    expect(repositories[0]).toMatchObject({
      repository: insights.fixture.repository.name,
      turns: counts,
      red_runs: { this_week: days.reduce((sum, day) => sum + day.red_runs, 0), week_before: 0, on_default_branch: 6 },
      worst_cause: { exception_type: 'TypeError', failure_count: 4, test_count: 1 },
      ingest: { refused_uploads: 0, has_problems: false, is_waiting: false },
    });
  });

  test('is listed for the repositories that a key is for, those with the most trouble of this week first', async () => {
    const quiet = insights.fixture.another();
    await quiet.ingest(quiet.run([passed('calm', 5)]));
    const { owner, name } = insights.fixture.repository;
    const of = async (repositories: string[]) =>
      (await changesFor({ owner, repositories })).repositories.map(({ repository }) => repository);
    expect(await of([quiet.repository.name, name])).toEqual([name, quiet.repository.name]);
    expect(await of([quiet.repository.name])).toEqual([quiet.repository.name]);
    expect(await changesFor({ owner: 'another' })).toMatchObject({ total: 0, repositories: [] });
  });

  test('counts uploads that were refused', async () => {
    const refused = insights.fixture.another();
    await refused.ingest(refused.run([passed('calm', 5)]));
    const { owner, name } = refused.repository;
    const { db } = insights.app.stores.postgres;
    const reason = { owner, repository: name, reason: 'not JUnit XML' };
    await new RefusedUploads(db).add([{ ...NO_ORIGIN, ...reason, refusals: 3 }], TEST_NOW - DAY_MS);
    const { repositories } = await changesFor({ owner, repositories: [name] });
    expect(repositories[0]?.ingest.refused_uploads).toBe(3);
  });

  test('and on each day agrees with the series of the repository', async () => {
    const { base } = insights.fixture;
    const { days, is_complete } = await insights.app.get<ByDay>(`${base}/health-transitions/by-day?days=14`);
    for (const health of ['broken', 'flaky'] as const) {
      const { value_over_time: series } = await insights.app.get<{
        value_over_time: { start: string; value: number }[];
      }>(`${base}/tests/stats/${health}_tests`);
      expect(days.map((day) => [day.start, day[`${health}_tests`]])).toEqual(
        series.map((day) => [day.start, day.value]),
      );
    }
    const { counts } = await insights.app.get<Transitions>(`${base}/health-transitions`);
    const sum = (turn: string) => days.reduce((total, day) => total + (day.turns[turn] ?? 0), 0);
    expect(Object.fromEntries(Object.keys(counts).map((turn) => [turn, sum(turn)]))).toEqual(counts);
    expect(is_complete).toBe(true);
    const { days: long } = await insights.app.get<ByDay>(`${base}/health-transitions/by-day`);
    expect(long).toHaveLength(90);
    expect(long.slice(-14)).toEqual(days);
  });

  test('takes ranges of indexes for each repository', async () => {
    const ids = [insights.fixture.id];
    const plans = await insights.app.stores.postgres.db.transaction(async (tx) => {
      await tx.execute(sql`set local enable_seqscan = off`);
      const explained: string[] = [];
      for (const statement of [
        coursesOfRepositoriesStatement(ids, { since: TEST_NOW - 7 * DAY_MS, testsMax: 200 }),
        unhealthyCoursesStatement(insights.fixture.id, { since: TEST_NOW - 90 * DAY_MS, testsMax: 2_000 }),
        troublesStatement(ids, { since: TEST_NOW - 7 * DAY_MS, sinceDay: Math.floor(TEST_NOW / DAY_MS) - 6 }),
      ]) {
        const { rows } = await tx.execute<{ 'QUERY PLAN': string }>(sql`explain ${statement}`);
        explained.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      }
      return explained;
    });
    for (const plan of plans) expect(plan).not.toContain('Seq Scan');
    for (const index of ['health_changes_at', 'health_changes_repository_id', 'identities_repository_id'])
      expect(plans[0]).toContain(index);
    for (const index of ['cause_days_', 'upload_chunks_problems', 'refused_uploads_repository'])
      expect(plans[2]).toContain(index);
    expect(plans[1]).toContain('health_changes_at');
  });
});
