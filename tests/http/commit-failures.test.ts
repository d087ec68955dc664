/** Verdicts on the failed tests of commits, from runs that a producer would send, on pull requests and the default branch. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { and, eq } from 'drizzle-orm';
import { testIdOf } from '../../src/domain/identity.ts';
import { commitRecords } from '../../src/postgres/schema.ts';
import { linksOf } from '../support/http.ts';
import { at, beside, type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

interface Failure {
  verdict: string;
  test_name: string;
  job_name: string;
  run_id: string;
  branch: string | null;
  pull_request: number | null;
  job_url: string | null;
  failure_id: string | null;
  exception_message: string | null;
  evidence: Record<string, unknown>;
}
interface Failures {
  size: number;
  per_page: number;
  runs: number;
  total: number;
  summary?: string | null;
  fewer_tests?: unknown[];
  kept_by_service?: string[];
  verdicts: Record<string, number>;
  failures: Failure[];
}

const failing = (
  name: string,
  message: string,
  hoursAgo: number,
  more: Partial<TestExecution> = {},
): TestExecution => ({
  name,
  status: 'failed',
  at: at(hoursAgo),
  failures: [{ type: 'Error', message }],
  ...more,
});
const passing = (name: string, hoursAgo: number): TestExecution => ({ name, at: at(hoursAgo) });
const pull = { branch: 'feature/rounding', base_ref: 'main', pull_request: 7, commit: 'pr1' };
const MANY = Array.from({ length: 40 }, (_, i) => `many ${String(i).padStart(2, '0')}`);

async function fill(fixture: InsightsFixture): Promise<void> {
  const run = fixture.run.bind(fixture);
  const all = ['flaky', 'broken', 'fixed', 'steady', ...MANY];
  await fixture.ingest(
    ...Array.from({ length: 9 }, (_, i) => run(all.map((name) => passing(name, 110 - i)))),
    run([failing('flaky', 'timed out', 82), ...beside(82)], { commit: 'm0' }),
    run([passing('flaky', 81), ...beside(81)], { commit: 'm0' }),
    run([failing('flaky', 'timed out', 80), ...beside(80)], { commit: 'm1' }),
    run([passing('flaky', 79), ...beside(79)], { commit: 'm1' }),
    run([failing('fixed', 'no such key', 78), ...beside(78)], { commit: 'm2' }),
    run([failing('fixed', 'no such key', 77), ...beside(77)], { commit: 'm2' }),
    run([passing('fixed', 76), ...beside(76)]),
    run([passing('fixed', 75), ...beside(75)]),
    run([failing('broken', 'no such file', 60), ...beside(60)], { commit: 'm3' }),
    run([failing('broken', 'no such file', 50), ...beside(50)], { commit: 'm4' }),
  );
  const url = { job_url: 'https://ci.example.com/runs/1' };
  await fixture.ingest(
    run(
      [
        failing('flaky', 'timed out', 20),
        failing('broken', 'no such file', 20),
        failing('fixed', 'no such key', 20),
        failing('unheard of', 'no such thing', 20),
        passing('steady', 20),
      ],
      { ...pull, ...url },
    ),
    // The same flaky test with another failure.
    run([failing('flaky', 'expected 3 to equal 4', 19)], { ...pull, commit: 'pr2' }),
    // Nearly everything fails on the pull request; a third of it does in another job.
    run(
      MANY.map((name) => failing(name, 'connection refused', 18)),
      { ...pull, commit: 'pr3' },
    ),
    run(
      MANY.map((name, i) => (i % 3 === 0 ? failing(name, 'connection refused', 18) : passing(name, 18))),
      { ...pull, commit: 'pr3', job_name: 'e2e' },
    ),
    // It failed, then passed when the job ran again.
    run([failing('steady', 'a new way to fail', 17)], { ...pull, commit: 'pr4', run_id: 'again' }),
    run([passing('steady', 16)], { ...pull, commit: 'pr4', run_id: 'again', run_attempt: 2 }),
  );
}

const insights = setUpInsights(fill);
const address = (commit: string, query = '') => `${insights.fixture.base}/commits/${commit}/failures${query}`;
const failuresOf = (commit: string, query = '?per_page=100') => insights.app.get<Failures>(address(commit, query));
const verdictsOf = async (commit: string, query?: string) =>
  Object.fromEntries((await failuresOf(commit, query)).failures.map((one) => [one.test_name, one.verdict]));

test('commits that are asked for at the same time get the answers that each gets alone', async () => {
  const asked = [
    ...['pr1', 'pr2', 'pr3', 'pr4', 'm1', 'm2', 'm3', 'm4', 'none'].map((commit) => address(commit)),
    ...['job_name=e2e', 'pipeline_name=other', 'branch=main'].map((filter) => address('pr3', `?${filter}`)),
  ];
  const alone: Failures[] = [];
  for (const path of asked) alone.push(await insights.app.get<Failures>(path));
  expect(await Promise.all(asked.map((path) => insights.app.get<Failures>(path)))).toEqual(alone);
});

describe('verdicts', () => {
  test('on a pull request, only what the default branch showed then, and before, is excused', async () => {
    expect(await verdictsOf('pr1')).toEqual({
      flaky: 'known_flaky',
      broken: 'broken',
      fixed: 'new',
      'unheard of': 'new',
    });
  });

  test('a flaky test that fails in a new way is new', async () => {
    expect(await verdictsOf('pr2')).toEqual({ flaky: 'new' });
  });

  test('on the default branch, the commit that broke a test is told from those that follow', async () => {
    expect(await verdictsOf('m3')).toEqual({ broken: 'new' });
    expect(await verdictsOf('m4')).toEqual({ broken: 'broken' });
  });

  test('a run in which nearly everything fails is infrastructure, one in which a third does is not', async () => {
    const { verdicts, total } = await failuresOf('pr3', '');
    expect(verdicts).toEqual({ new: 14, broken: 0, known_flaky: 0, infrastructure: 40, quarantined: 0 });
    expect(total).toBe(54);
    expect(Object.values(await verdictsOf('pr3', '?job_name=e2e&per_page=100'))).toEqual(Array(14).fill('new'));
  });

  describe('of a test that was quarantined', () => {
    beforeAll(async () => {
      const response = await insights.app.request(`${insights.fixture.base}/quarantines`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ test_name: 'unheard of', reason: 'known', branch: 'feature/*' }),
      });
      expect(response.status).toBe(201);
    });

    test('are quarantined, with the quarantine', async () => {
      const [first] = (await failuresOf('pr1', '?verdict=quarantined')).failures;
      expect(first).toMatchObject({ test_name: 'unheard of', evidence: { quarantine_id: expect.any(String) } });
    });

    test('for one failure group or in another CI job, other failures stay what they are', async () => {
      const quarantine = async (terms: object): Promise<void> => {
        const body = JSON.stringify({ test_name: 'flaky', reason: 'known', ...terms });
        const headers = { 'content-type': 'application/json' };
        const address = `${insights.fixture.base}/quarantines`;
        expect((await insights.app.request(address, { method: 'POST', headers, body })).status).toBe(201);
      };
      const [other] = (await failuresOf('pr2')).failures;
      await quarantine({ job_name: 'another' });
      expect(await verdictsOf('pr2')).toEqual({ flaky: 'new' });
      await quarantine({ failure_ids: [other?.failure_id] });
      expect(await verdictsOf('pr2')).toEqual({ flaky: 'quarantined' });
      expect(await verdictsOf('pr1')).toMatchObject({ flaky: 'known_flaky' });
    });
  });
});

describe('on two legs of one run', () => {
  const legs = { branch: 'feature/legs', commit: 'legs', run_id: 'legs' };
  let fixture: InsightsFixture;
  const failuresIn = (query: string) =>
    insights.app.get<Failures>(`${fixture.base}/commits/legs/failures?per_page=100${query}`);
  const quarantine = async (testName: string, terms: object): Promise<void> => {
    const body = JSON.stringify({ test_name: testName, reason: 'known', ...terms });
    const headers = { 'content-type': 'application/json' };
    const response = await insights.app.request(`${fixture.base}/quarantines`, { method: 'POST', headers, body });
    expect(response.status).toBe(201);
  };
  const namesOf = async (query: string) =>
    Object.fromEntries((await failuresIn(query)).failures.map((one) => [one.test_name, one.verdict]));
  beforeAll(async () => {
    fixture = insights.fixture.another();
    const rows = [failing('both', 'x', 5), failing('no details', 'x', 5, { failures: [] }), ...beside(5)];
    await fixture.ingest(
      fixture.run([...rows, failing('windows', 'x', 5)], { ...legs, axes: { os: 'windows', arch: 'x64' } }),
      fixture.run([...rows, passing('windows', 5)], { ...legs, axes: { os: 'linux', arch: 'x64' } }),
    );
    for (const name of ['both', 'windows', 'no details']) await quarantine(name, { axes: { os: ['windows'] } });
  });

  test('a quarantine of one leg excuses what failed in it alone', async () => {
    expect(await namesOf('')).toEqual({ both: 'new', windows: 'quarantined', 'no details': 'new' });
  });

  test('those of one leg are judged by it, and count its runs', async () => {
    expect(await namesOf('&axis=os:windows')).toEqual({
      both: 'quarantined',
      windows: 'quarantined',
      'no details': 'quarantined',
    });
    expect(await namesOf('&axis=os:linux&axis=arch:x64')).toEqual({ both: 'new', 'no details': 'new' });
    expect(await failuresIn('&axis=os:linux')).toMatchObject({ runs: 1, total: 2 });
    expect(await failuresIn('&axis=os:macos')).toMatchObject({ runs: 0, total: 0 });
  });

  test('one for each leg excuses both', async () => {
    await quarantine('both', { axes: { os: ['linux'] } });
    expect(await namesOf('')).toEqual({ both: 'quarantined', windows: 'quarantined', 'no details': 'new' });
  });
});

describe('a failure', () => {
  test('names its run and job, and carries the evidence', async () => {
    const [first] = (await failuresOf('pr1', '?verdict=known_flaky')).failures;
    expect(first as unknown).toEqual({
      verdict: 'known_flaky',
      test_id: testIdOf(insights.fixture.id, 'flaky'),
      test_name: 'flaky',
      pipeline_name: 'CI',
      job_name: 'unit',
      owners: [],
      claim: expect.objectContaining({ verdict: 'unknown', for: expect.any(Array), against: expect.any(Array) }),
      branch: 'feature/rounding',
      pull_request: 7,
      run_id: expect.any(String),
      run_attempt: 1,
      job_url: 'https://ci.example.com/runs/1',
      failed_at: iso(at(20)),
      failure_id: expect.any(String),
      exception_type: 'Error',
      exception_message: 'timed out',
      cause_id: expect.any(String),
      attachments: [],
      evidence: {
        health_status: 'flaky',
        default_branch_failures: 2,
        default_branch_first_failure_at: iso(at(82)),
        default_branch_last_failure_at: iso(at(80)),
        commit_failures: 1,
        commit_passes: 0,
        failing_pull_requests: null,
        trouble: null,
        health_began_at: '2026-11-18T15:00:00.000Z',
        health_ended_at: null,
        run_failed: 4,
        run_passed: 1,
        quarantine_id: null,
      },
      reproduce: null,
      fails_with: null,
      legs: [
        {
          ...{ axes: {}, verdict: 'known_flaky', health_status: 'flaky', failures: 1, passes: 0 },
          job_url: 'https://ci.example.com/runs/1',
        },
      ],
    });
  });

  test('that passed when the job ran again stays, and says so', async () => {
    const { runs, failures } = await failuresOf('pr4');
    expect(runs).toBe(2);
    expect(failures).toMatchObject([{ verdict: 'new', evidence: { commit_failures: 1, commit_passes: 1 } }]);
  });
});

describe('the list', () => {
  test('has what is new first, then the rest by verdict and name, in pages that lose nothing', async () => {
    const whole = (await failuresOf('pr3')).failures;
    expect(whole[0]?.verdict).toBe('new');
    const walked: Failure[] = [];
    for (let next: string | undefined = address('pr3', '?per_page=20'); next; ) {
      const response = await insights.app.request(next);
      const page = (await response.json()) as Failures;
      walked.push(...page.failures);
      next = linksOf(response).next;
    }
    expect(walked).toEqual(whole);
  });

  test('takes filters by pipeline, CI job, run, branch and verdict', async () => {
    expect(await failuresOf('pr4', '?run_id=again')).toMatchObject({ runs: 2, total: 1 });
    expect(await failuresOf('pr4', '?run_id=again&run_attempt=1')).toMatchObject({ runs: 1, total: 1 });
    expect(await failuresOf('pr4', '?run_id=again&run_attempt=2')).toMatchObject({ runs: 1, total: 0 });
    expect(await failuresOf('pr4', '?run_id=another')).toMatchObject({ runs: 0, total: 0 });
    expect((await failuresOf('pr3', '?job_name=unit')).total).toBe(40);
    expect(await failuresOf('pr1', '?branch=main')).toMatchObject({ runs: 0, total: 0 });
    expect(await failuresOf('pr1', '?pipeline_name=nightly')).toMatchObject({ runs: 0 });
    expect((await failuresOf('pr1', '?branch=feature%2Frounding&verdict=broken')).failures).toHaveLength(1);
  });

  test('of a commit that nothing is stored for is empty and has no runs; one without failures has runs', async () => {
    const nothing = { new: 0, broken: 0, known_flaky: 0, infrastructure: 0, quarantined: 0 };
    expect(await failuresOf('c0ffee', '')).toEqual({
      size: 0,
      per_page: 10,
      runs: 0,
      total: 0,
      verdicts: nothing,
      summary: null,
      fewer_tests: [],
      kept_by_service: [],
      failures: [],
    });
    const summary = 'Nothing failed; the gate passes.';
    expect(await failuresOf('commit-1')).toMatchObject({ runs: 1, total: 0, summary });
  });
});

describe('the record of a commit', () => {
  const recordsOf = async () => {
    const { db } = insights.app.stores.postgres;
    const rows = await db.select().from(commitRecords).where(eq(commitRecords.repositoryId, insights.fixture.id));
    return new Map(rows.map(({ commitSha, record }) => [commitSha, record]));
  };
  const forget = (commit: string) =>
    insights.app.stores.postgres.db
      .delete(commitRecords)
      .where(and(eq(commitRecords.repositoryId, insights.fixture.id), eq(commitRecords.commitSha, commit)));
  /** Everything that is read of it. */
  const answersOf = async (commit: string) => {
    const { runs } = await insights.app.get<{ runs: { id: string }[] }>(
      `${insights.fixture.base}/runs?commit_sha=${commit}`,
    );
    return Promise.all([
      ...['?per_page=100', '?job_name=e2e', '?branch=main', '?verdict=new'].map((query) => failuresOf(commit, query)),
      ...runs.map(({ id }) => insights.app.get(`${insights.fixture.base}/runs/${id}`)),
    ]);
  };

  test('is kept where a test failed, on any branch, and nowhere else', async () => {
    const commits = ['m0', 'm1', 'm2', 'm3', 'm4', 'pr1', 'pr2', 'pr3', 'pr4'];
    expect([...(await recordsOf()).keys()].sort()).toEqual(commits);
  });

  test('follows whatever arrives later: passes, other failures, the same again', async () => {
    const commit = 'later';
    const ingest = (executions: TestExecution[], attempt: number, job_name = 'unit') =>
      insights.fixture.ingest(
        insights.fixture.run(executions, { ...pull, commit, run_id: 'later', run_attempt: attempt, job_name }),
      );
    await ingest([passing('steady', 9)], 1);
    expect((await recordsOf()).has(commit)).toBe(false);
    await ingest([failing('steady', 'no', 8)], 2);
    expect((await failuresOf(commit)).failures).toMatchObject([{ evidence: { commit_failures: 1, commit_passes: 1 } }]);
    await ingest([passing('steady', 7)], 3);
    await ingest([failing('flaky', 'timed out', 7)], 1, 'e2e');
    const found = await failuresOf(commit);
    expect(found).toMatchObject({ runs: 4, total: 2 });
    const steady = found.failures.find((one) => one.test_name === 'steady');
    expect(steady?.evidence).toMatchObject({ commit_failures: 1, commit_passes: 2 });
  });

  test('changes no answer: without it, ClickHouse gives the same', async () => {
    for (const commit of ['m1', 'm4', 'pr1', 'pr3', 'pr4', 'later']) {
      const recorded = await answersOf(commit);
      await forget(commit);
      expect(await answersOf(commit)).toEqual(recorded);
    }
  });
});
