/** The life of a test, commit by commit, as stretches on which it did the same. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { formatMoment } from '../domain/moment.ts';
import { OUTCOMES, type Segment, segmentsOf } from '../domain/segments.ts';
import { type Leg, legKey } from '../domain/test-identity.ts';
import { AXIS_PARAMETERS, axisFilterParameter, axisValues } from '../http/axis-filter.ts';
import { type Http, mount } from '../http/operation.ts';
import { onPostgres } from '../postgres/client.ts';
import { readFlakyExecutions } from '../postgres/flaky-executions.ts';
import { type HealthChangeRecord, readHealthChanges } from '../postgres/health-changes.ts';
import * as common from './common.ts';
import { RunTroubles } from './run-troubles.ts';
import { checkedWindow, windowParameters } from './window.ts';

/** Two years of a busy default branch. */
const COMMITS_MAX = 10_000;

const rowSchema = z.object({
  commit: z.string(),
  first_ms: z.int(),
  last_ms: z.int(),
  passed: z.int(),
  failed: z.int(),
  skipped: z.int(),
  flaky: z.int(),
  failed_in: z.array(
    z.object({
      day: z.int(),
      pipeline: z.string(),
      job: z.string(),
      axes: z.string(),
      run: z.string(),
      attempt: z.int(),
    }),
  ),
});
type Row = z.infer<typeof rowSchema>;
const commitResults = defineQuery(
  'insights/segments',
  {
    repository_id: 'UUID',
    test_id: 'UUID',
    start_ms: 'Int64',
    end_ms: 'Int64',
    flaky_ids: 'Array(UInt64)',
    commits: 'UInt32',
    ...AXIS_PARAMETERS,
  },
  rowSchema,
);

const COMMIT = '1111111111111111111111111111111111111111';
const commit = (description: string) => z.string().nullable().meta({ description, example: COMMIT });
const response = z.object({
  is_complete: z
    .boolean()
    .meta({ description: `False: only the newest ${COMMITS_MAX.toLocaleString('en-US')} commits were considered` }),
  segments: z.array(
    z
      .object({
        outcome: z.enum(OUTCOMES).meta({
          description:
            'What the test did on each of these commits. `flaky`: an execution is judged so; `held_back`: it failed only in troubled runs, and was not broken by then; `failing`: it failed otherwise; `skipped`: it neither passed nor failed',
          example: 'failing',
        }),
        commits: z.int().meta({ description: 'How many commits', example: 12 }),
        executions_count: z.int().meta({ example: 24 }),
        failure_count: z.int().meta({ description: 'Failed executions', example: 24 }),
        first_commit: commit('The first commit on which it did so; null: the source named none'),
        last_commit: commit('The last one'),
        previous_commit: commit(
          'The last commit of the segment before: what changed, changed after it. Null for the first segment',
        ),
        started_at: common.dateTimeOut,
        ended_at: common.dateTimeOut,
      })
      .meta({ id: 'TestSegment' }),
  ),
});
export type TestSegments = z.output<typeof response>;

const toJson = (segment: Segment): TestSegments['segments'][number] => ({
  outcome: segment.outcome,
  commits: segment.commits,
  executions_count: segment.executions,
  failure_count: segment.failed,
  first_commit: segment.firstCommit || null,
  last_commit: segment.lastCommit || null,
  previous_commit: segment.previousCommit || null,
  started_at: formatMoment(segment.startedAt),
  ended_at: formatMoment(segment.endedAt),
});

export function mountSegments(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/segments', {
    operationId: 'listTestSegments',
    tag: common.TAG,
    summary: 'Get the life of a test as segments of commits',
    description:
      'Stretches of commits on the default branch on which the test did the same, oldest first. Commits are in the order in which the test first ran on them.',
    access: 'read',
    params: common.testPath,
    query: {
      ...windowParameters(),
      axis: axisFilterParameter('Only what the test did in legs with these values, as `name:value`.'),
    },
    responses: { 200: { description: 'The segments.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: path, query, signal }) => {
      const window = checkedWindow(query, deps.clock.now());
      const { repository, testId } = await common.testAsked(deps, path);
      const flaky = await onPostgres(() => readFlakyExecutions(deps.db, repository.id, [testId], window.start));
      const asked = {
        flaky_ids: flaky.map(({ executionId }) => BigInt(executionId)),
        repository_id: repository.id,
        test_id: testId,
        start_ms: window.start,
        end_ms: window.end,
        commits: COMMITS_MAX + 1,
        ...axisValues(query.axis),
      };
      const [rows] = await Promise.all([
        deps.clickhouse.select(commitResults, asked, { owner: repository.owner, signal }),
        deps.knownTests.get(repository, testId),
      ]);
      const newest = rows.slice(0, COMMITS_MAX).reverse();
      const [troubles, changes] = await Promise.all([
        RunTroubles.of(deps.db, repository.id, newest.flatMap(failedIn)),
        onPostgres(() => readHealthChanges(deps.db, repository.id, [testId])),
      ]);
      const isBroken = brokenAt(changes);
      const segments = segmentsOf(
        newest.map((row) => ({
          commit: row.commit,
          firstAt: row.first_ms,
          lastAt: row.last_ms,
          passed: row.passed,
          failed: row.failed,
          skipped: row.skipped,
          // If the repository does not look for flaky tests, nothing is flaky.
          flaky: repository.flakyDetectionEnabled ? row.flaky : 0,
          heldBack: failedIn(row).filter((run) => troubles.of(run).trouble !== 'none' && !isBroken(run, row.last_ms))
            .length,
        })),
      );
      return { body: { is_complete: rows.length <= COMMITS_MAX, segments: segments.map(toJson) } };
    },
  });
}

/** The runs in which it failed on a commit, one for each failure. */
const failedIn = (row: Row) =>
  row.failed_in.map((run) => ({
    pipelineName: run.pipeline,
    jobName: run.job,
    axes: run.axes,
    day: run.day,
    runId: run.run,
    runAttempt: run.attempt,
  }));

/** Whether the test was called broken in a leg at some moment. */
function brokenAt(changes: readonly HealthChangeRecord[]): (leg: Leg, at: number) => boolean {
  const byLeg = Map.groupBy(changes, legKey);
  return (leg, at) => byLeg.get(legKey(leg))?.findLast((one) => one.at.finishedAt <= at)?.after === 'broken';
}
