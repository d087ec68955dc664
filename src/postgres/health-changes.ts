/** When the health of identities changed. Written by the evaluation, in the transaction of their state. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { comparePositions, type Position } from '../domain/execution.ts';
import { HEALTHS, type Health } from '../domain/status.ts';
import { type Identity, identityKey } from '../domain/test-identity.ts';
import type { Executor } from './client.ts';
import { plainColumn } from './columns.ts';
import { identityKeys } from './identities.ts';
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
    axes: z.string(),
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
      axes: found.axes,
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

const columns = sql`test_id, pipeline_name, job_name, axes, ${positionColumns}, before, after, began_execution,
  began_ms::float8 as began_ms, began_commit, exception_type, pull_request`;

/** Changes of some tests, in order of time. */
export async function readHealthChanges(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<HealthChangeRecord[]> {
  const { rows } = await tx.execute(sql`
    select ${columns} from ${healthChanges}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])
    order by at_ms`);
  return rows.map((found) => row.parse(found));
}

/** Where the course of an identity starts; null: with its first execution. */
export interface IdentityStart extends Identity {
  start: Position | null;
}

/** Changes of some identities after the start of each. */
export async function readChangesAfter(
  tx: Executor,
  repositoryId: string,
  starts: readonly IdentityStart[],
): Promise<HealthChangeRecord[]> {
  if (starts.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select ${columns} from ${startColumns(starts)} join ${healthChanges} using (test_id, pipeline_name, job_name, axes)
    where repository_id = ${repositoryId} and at_ms >= from_ms`);
  return changesAfter(
    rows.map((found) => row.parse(found)),
    starts,
  );
}

/** Changes of the given identities that came after their start. */
export function changesAfter(
  changes: readonly HealthChangeRecord[],
  starts: readonly IdentityStart[],
): HealthChangeRecord[] {
  const known = new Map(starts.map(({ start, ...identity }) => [identityKey(identity), start]));
  return changes.filter((change) => {
    const start = known.get(identityKey(change));
    return start !== undefined && (start === null || comparePositions(change.at, start) > 0);
  });
}

/** A table of identities, with the time of each start. */
export const startColumns = (starts: readonly IdentityStart[]): SQL => sql`
  unnest(${identityKeys(starts)}, ${plainColumn(starts.map(({ start }) => start?.finishedAt ?? 0))}::bigint[])
    as asked (test_id, pipeline_name, job_name, axes, from_ms)`;

/** A table of changes, as they are stored. */
const given = (changes: readonly HealthChangeRecord[]): SQL => sql`
  json_to_recordset(${JSON.stringify(
    changes.map(({ testId, pipelineName, jobName, axes, at, before, after, beginning }) => ({
      test_id: testId,
      pipeline_name: pipelineName,
      job_name: jobName,
      axes,
      at_ms: at.finishedAt,
      run_id: at.runId,
      run_attempt: at.runAttempt,
      execution_id: String(at.executionId),
      before,
      after,
      began_execution: beginning?.executionId,
      began_ms: beginning?.finishedAt,
      began_commit: beginning?.commit ?? '',
      exception_type: beginning?.exceptionType,
      pull_request: beginning?.pullRequest,
    })),
  )}) as given (test_id uuid, pipeline_name text, job_name text, axes text, at_ms bigint, run_id text, run_attempt bigint,
    execution_id text, before text, after text, began_execution text, began_ms bigint, began_commit text,
    exception_type text, pull_request integer)`;
const isGiven = (
  repositoryId: string,
): SQL => sql`known.repository_id = ${repositoryId} and known.test_id = given.test_id
  and known.pipeline_name = given.pipeline_name and known.job_name = given.job_name and known.axes = given.axes and known.at_ms = given.at_ms
  and known.execution_id = given.execution_id`;

export async function writeHealthChanges(
  tx: Executor,
  repositoryId: string,
  changes: readonly HealthChangeRecord[],
): Promise<void> {
  if (changes.length === 0) return;
  await tx.execute(sql`
    insert into ${healthChanges} (repository_id, test_id, pipeline_name, job_name, axes, at_ms, run_id, run_attempt, execution_id,
      before, after, began_execution, began_ms, began_commit, exception_type, pull_request)
    select ${repositoryId}::uuid, * from ${given(changes)} on conflict do nothing`);
}

export async function forgetHealthChanges(
  tx: Executor,
  repositoryId: string,
  changes: readonly HealthChangeRecord[],
): Promise<void> {
  if (changes.length === 0) return;
  await tx.execute(sql`delete from ${healthChanges} as known using ${given(changes)} where ${isGiven(repositoryId)}`);
}

/** Notes what is found of the failures with which some changes began. */
export async function noteBeginnings(
  tx: Executor,
  repositoryId: string,
  changes: readonly HealthChangeRecord[],
): Promise<void> {
  if (changes.length === 0) return;
  await tx.execute(sql`
    update ${healthChanges} as known set exception_type = given.exception_type, pull_request = given.pull_request
    from ${given(changes)} where ${isGiven(repositoryId)}`);
}
