/** When the health of identities changed. Written by the evaluation, in the transaction of their state. */
import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { comparePositions, type Position } from '../domain/execution.ts';
import { HEALTHS, type Health } from '../domain/status.ts';
import { type Identity, identityKey } from '../domain/test-identity.ts';
import type { Executor } from './client.ts';
import { positionColumns, positionOf, positionRow } from './positions.ts';
import { healthChanges } from './schema.ts';

/** The first failure of an episode. */
export interface BeginningRecord {
  executionId: string;
  /** Milliseconds since the epoch. */
  finishedAt: number;
  /** Empty when unknown. */
  commit: string;
  /** Null if its failure had left when it was looked for. */
  exceptionType: string | null;
  /** The number of the pull request that ran it; null on the default branch. */
  pullRequest: number | null;
}

export interface HealthChangeRecord extends Identity {
  /** The execution that changed it. */
  at: Position;
  before: Health;
  after: Health;
  /** Null on recovery. */
  beginning: BeginningRecord | null;
}

const row = z
  .object({
    test_id: z.string(),
    pipeline_name: z.string(),
    job_name: z.string(),
    ...positionRow,
    before: z.enum(HEALTHS),
    after: z.enum(HEALTHS),
    began_execution: z.string().nullable(),
    began_ms: z.number().nullable(),
    began_commit: z.string(),
    exception_type: z.string().nullable(),
    pull_request: z.number().nullable(),
  })
  .transform(
    (found): HealthChangeRecord => ({
      testId: found.test_id,
      pipelineName: found.pipeline_name,
      jobName: found.job_name,
      at: positionOf(found),
      before: found.before,
      after: found.after,
      beginning:
        found.began_execution === null
          ? null
          : {
              executionId: found.began_execution,
              finishedAt: found.began_ms ?? 0,
              commit: found.began_commit,
              exceptionType: found.exception_type,
              pullRequest: found.pull_request,
            },
    }),
  );

/** Changes of some tests, in order of time. */
export async function readHealthChanges(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<HealthChangeRecord[]> {
  const { rows } = await tx.execute(sql`
    select test_id, pipeline_name, job_name, ${positionColumns}, before, after, began_execution,
      began_ms::float8 as began_ms, began_commit, exception_type, pull_request
    from ${healthChanges} where repository_id = ${repositoryId} and test_id = any(${sql.param(testIds)}::uuid[])
    order by at_ms`);
  return rows.map((found) => row.parse(found));
}

export async function writeHealthChanges(
  tx: Executor,
  repositoryId: string,
  changes: readonly HealthChangeRecord[],
): Promise<void> {
  if (changes.length === 0) return;
  await tx
    .insert(healthChanges)
    .values(
      changes.map(({ testId, pipelineName, jobName, at, before, after, beginning }) => ({
        repositoryId,
        testId,
        pipelineName,
        jobName,
        atMs: at.finishedAt,
        runId: at.runId,
        runAttempt: at.runAttempt,
        executionId: at.executionId.toString(),
        before,
        after,
        beganExecution: beginning?.executionId ?? null,
        beganMs: beginning?.finishedAt ?? null,
        beganCommit: beginning?.commit ?? '',
        exceptionType: beginning?.exceptionType ?? null,
        pullRequest: beginning?.pullRequest ?? null,
      })),
    )
    .onConflictDoNothing();
}

export async function forgetHealthChanges(
  tx: Executor,
  repositoryId: string,
  changes: readonly HealthChangeRecord[],
): Promise<void> {
  if (changes.length === 0) return;
  const column = <T>(pick: (change: HealthChangeRecord) => T) => sql.param(changes.map(pick));
  await tx.execute(sql`
    delete from ${healthChanges} using unnest(
      ${column(({ testId }) => testId)}::uuid[], ${column(({ pipelineName }) => pipelineName)}::text[],
      ${column(({ jobName }) => jobName)}::text[], ${column(({ at }) => at.finishedAt)}::bigint[],
      ${column(({ at }) => at.executionId.toString())}::text[]) as gone (test_id, pipeline_name, job_name, at_ms, execution_id)
    where health_changes.repository_id = ${repositoryId} and health_changes.test_id = gone.test_id
      and health_changes.pipeline_name = gone.pipeline_name and health_changes.job_name = gone.job_name
      and health_changes.at_ms = gone.at_ms and health_changes.execution_id = gone.execution_id`);
}

/** Notes what is found of the failures with which some changes began. */
export async function noteBeginnings(
  tx: Executor,
  repositoryId: string,
  changes: readonly HealthChangeRecord[],
): Promise<void> {
  for (const { testId, pipelineName, jobName, at, beginning } of changes)
    await tx
      .update(healthChanges)
      .set({ exceptionType: beginning?.exceptionType ?? null, pullRequest: beginning?.pullRequest ?? null })
      .where(
        and(
          eq(healthChanges.repositoryId, repositoryId),
          eq(healthChanges.testId, testId),
          eq(healthChanges.pipelineName, pipelineName),
          eq(healthChanges.jobName, jobName),
          eq(healthChanges.atMs, at.finishedAt),
          eq(healthChanges.executionId, at.executionId.toString()),
        ),
      );
}

/**
 * Keeps the changes that came after the start of their identity.
 *
 * @param starts by `identityKey`; null: from the beginning. Without changes of other identities
 */
export const changesAfter = (
  changes: readonly HealthChangeRecord[],
  starts: ReadonlyMap<string, Position | null>,
): HealthChangeRecord[] =>
  changes.filter((change) => {
    const start = starts.get(identityKey(change));
    return start !== undefined && (start === null || comparePositions(change.at, start) > 0);
  });
