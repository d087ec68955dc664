/** The explanation of a test over REST, and that it agrees with what other reads say. */
import { expect, test } from 'bun:test';
import { testIdOf } from '../../src/domain/identity.ts';
import type { Explanation } from '../../src/explain/explanation-schema.ts';
import { TEST_NOW } from '../support/clock.ts';
import { at, beside, ingestHistory, iso, NAME, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const insights = setUpInsights(async (fixture) => {
  await ingestHistory(fixture);
  const run = (hours: number, commit: string, result: Partial<TestExecution> = {}) =>
    fixture.run([{ name: BROKEN, at: at(hours), ...result }, ...beside(hours)], { commit, job_url: 'https://ci/1' });
  const calm = Array.from({ length: 9 }, (_, i) => run(60 - i, `calm ${i}`));
  const failed: Partial<TestExecution> = { status: 'failed', failures: [{ message: 'no' }] };
  await fixture.ingest(...calm, run(40, 'b2', failed), run(30, 'c3', failed));
});
const BROKEN = 'a broken test';

const explained = (name: string, query: Record<string, string> = {}) =>
  insights.app.get<Explanation>(insights.fixture.test(name, '/explanation', query));

const executionAt = (hours: number, commit: string) => ({
  status: 'failed' as const,
  finished_at: iso(at(hours)),
  received_at: iso(TEST_NOW),
  is_stored_later: false,
  run_id: expect.any(String) as unknown as string,
  run_attempt: 1,
  commit,
  job_url: 'https://ci/1',
  pull_request: null,
});

test('names for each identity its health, how sure it is, and the executions that decided, with run, commit and job', async () => {
  const explanation = await explained(BROKEN);
  expect(explanation).toMatchObject({
    test_id: testIdOf(insights.fixture.id, BROKEN),
    test_name: BROKEN,
    as_of: null,
    rules_version: 1,
    health_status: 'broken',
    is_complete: true,
    quarantines: [],
  });
  const [identity] = explanation.identities;
  expect(identity).toMatchObject({
    pipeline_name: 'CI',
    job_name: 'unit',
    health_status: 'broken',
    has_enough_runs: true,
    since_commit: 'b2',
    is_recent: true,
    executions_count: 11,
    flaky_count: 0,
    held_back_count: 0,
    probable_fix: null,
    changes_count: 1,
    failures_count: 2,
    held_back: [],
    troubled_runs: [],
    contradictions_count: 0,
    contradictions: [],
  });
  const { healthy, flaky, broken } = identity?.probabilities ?? { healthy: 0, flaky: 0, broken: 0 };
  expect(healthy + flaky + broken).toBeCloseTo(1, 2);
  expect(identity?.health_probability).toBe(broken);
  const executions = [executionAt(40, 'b2'), executionAt(30, 'c3')];
  expect(identity?.evidence).toEqual(executions);
  expect(identity?.changes).toEqual([
    {
      from: 'healthy',
      to: 'broken',
      rule: expect.stringMatching(/^broken with a probability of \d\d(\.\d)?%: a commit broke it$/),
      probability: expect.any(Number),
      executions,
    },
  ]);
  expect(identity?.failures.map(({ cause, is_flaky, trouble }) => [cause, is_flaky, trouble])).toEqual([
    ['commit', false, 'none'],
    ['commit', false, 'none'],
  ]);
});

test('as of a moment it knows only what had finished by then, and says what was stored later', async () => {
  const before = await explained(BROKEN, { as_of: iso(at(45)) });
  expect(before).toMatchObject({ as_of: iso(at(45)), health_status: 'healthy' });
  expect(before.identities).toMatchObject([{ executions_count: 9, changes: [], has_enough_runs: false }]);
  const after = await explained(BROKEN, { as_of: iso(at(29)) });
  expect(after.identities[0]?.changes[0]?.executions).toMatchObject([
    { is_stored_later: true },
    { is_stored_later: true },
  ]);
  expect(await explained(BROKEN, { as_of: iso(at(70)) })).toMatchObject({ health_status: 'healthy', identities: [] });
});

test('its health is the one that details and search show', async () => {
  for (const name of [NAME, BROKEN, 'flaky', 'only skipped']) {
    const { health_status } = await insights.app.get<{ health_status: string }>(insights.fixture.test(name));
    expect([name, (await explained(name)).health_status as string]).toEqual([name, health_status]);
  }
});

test('names troubled runs, and what is held back because of them, with the reason', async () => {
  const { fixture } = insights;
  const troubled = fixture.another();
  const names = Array.from({ length: 12 }, (_, i) => `test ${i}`);
  await troubled.ingest(
    troubled.run(names.map((name) => ({ name, at: at(9) }))),
    troubled.run(
      names.map((name) => ({ name, at: at(8), status: 'failed' })),
      { commit: 'outage' },
    ),
    troubled.run(names.map((name) => ({ name, at: at(7) }))),
  );
  const { identities } = await insights.app.get<Explanation>(troubled.test('test 3', '/explanation'));
  const reason = expect.stringMatching(
    /^12 of 12 executions failed unexpectedly: a healthy test fails in this run with a probability of \d\d%$/,
  ) as unknown as string;
  expect(identities).toMatchObject([
    {
      health_status: 'healthy',
      held_back_count: 1,
      held_back: [
        {
          execution: { commit: 'outage', run_id: '2' },
          trouble: 'total',
          reason,
        },
      ],
      troubled_runs: [{ day: iso(at(8)).slice(0, 10), run_id: '2', run_attempt: 1, trouble: 'total', reason }],
    },
  ]);
});

test('an unknown test is 404, a moment without a zone 422', async () => {
  const { app, fixture } = insights;
  expect((await app.request(fixture.test('never seen', '/explanation'))).status).toBe(404);
  expect((await app.request(fixture.test('only in a pull request', '/explanation'))).status).toBe(404);
  expect((await app.request(fixture.test(NAME, '/explanation', { as_of: '2026-11-21' }))).status).toBe(422);
});

test('shows commits of pull requests on which the test failed and passed, and which of them count', async () => {
  const { fixture } = insights;
  const repository = fixture.another();
  const run = (
    hours: number,
    result: Partial<TestExecution>,
    attempt: number,
    pull?: number,
    more: TestExecution[] = [],
  ) =>
    repository.run([{ name: 'sums', at: at(hours), ...result }, ...beside(hours), ...more], {
      run_attempt: attempt,
      ...(pull === undefined
        ? {}
        : {
            run_id: `of ${pull}`,
            commit: `head of ${pull}`,
            branch: 'change',
            default_branch: 'main',
            pull_request: pull,
          }),
    });
  const failed: Partial<TestExecution> = { status: 'failed', failures: [{ message: 'no' }] };
  const outage = Array.from({ length: 40 }, (_, i) => ({ name: `other ${i}`, at: at(40), ...failed }));
  await repository.ingest(
    ...Array.from({ length: 9 }, (_, i) => run(60 - i, {}, 1)),
    run(40, failed, 1, 6, outage),
    run(39, {}, 2, 6),
    ...[7, 8, 9].flatMap((pull) => [run(38 - pull, failed, 1, pull), run(28 - pull, {}, 2, pull)]),
    run(2, {}, 1),
  );
  const { identities, health_status } = await insights.app.get<Explanation>(repository.test('sums', '/explanation'));
  expect(health_status).toBe('flaky');
  const [identity] = identities;
  expect(identity).toMatchObject({ failures_count: 0, flaky_count: 0, contradictions_count: 4 });
  expect(
    identity?.contradictions.map(({ execution, at: moment, is_evidence, trouble }) => ({
      ...{ pull_request: execution.pull_request, commit: execution.commit, status: execution.status },
      ...{ moment, is_evidence, trouble },
    })),
  ).toEqual(
    [6, 7, 8, 9].map((pull) => ({
      ...{ pull_request: pull, commit: `head of ${pull}`, status: 'failed' as const },
      moment: iso(at(pull === 6 ? 39 : 28 - pull)),
      ...{ is_evidence: pull !== 6, trouble: pull === 6 ? ('partial' as const) : ('none' as const) },
    })),
  );
  expect(identity?.evidence.map(({ pull_request }) => pull_request)).toEqual([7, 8, 9]);
  expect(identity?.since_commit).toBe('head of 7');
  expect(identity?.changes).toMatchObject([{ from: 'healthy', to: 'flaky' }]);
  const early = await insights.app.get<Explanation>(repository.test('sums', '/explanation', { as_of: iso(at(35)) }));
  expect(early.identities).toMatchObject([{ health_status: 'healthy', contradictions_count: 1 }]);
});
