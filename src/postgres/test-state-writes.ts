/**
 * Writes the current state of tests, which src/postgres/test-states.ts reads: whole rows, under the evaluation lock of the
 * repository under which they were read. So nothing is added to a state that another process has replaced.
 */
import { and, eq, gte, sql } from 'drizzle-orm';
import { failedPpm, levelRank, metricsOf } from '../domain/test-metrics.ts';
import { executionsOf } from '../domain/test-state.ts';
import { writeBelief } from './belief-text.ts';
import type { Executor } from './client.ts';
import { lineColumn, plainColumn, textColumn } from './columns.ts';
import { writeSummary } from './identity-summary.ts';
import { LISTED_LATER, LISTED_NOW, type ListedBy } from './listings.ts';
import { forgetTotals } from './repository-totals.ts';
import {
  contradictions,
  failureGroups,
  healthChanges,
  healthCheckpoints,
  identities,
  judgedRuns,
  startOfName,
  testListings,
  tests,
} from './schema.ts';
import { listTests, unlistTests } from './test-listings.ts';
import type { IdentityRecord, TestState } from './test-states.ts';

/** Records tests, or replaces what is known of them. In order of id: all processes lock rows alike. */
export async function writeTests(tx: Executor, repositoryId: string, states: readonly TestState[]): Promise<void> {
  if (states.length === 0) return;
  const rows = [...states].sort((a, b) => (a.testId < b.testId ? -1 : 1));
  const column = <T>(of: (state: TestState) => T) => sql.param(rows.map(of));
  await tx.execute(sql`
    insert into ${tests} (repository_id, test_id, name, first_failed_at, first_failed_execution, first_failed_commit,
      flaky_days, first_executions, last_day)
    select ${repositoryId}, * from unnest(
      ${column(({ testId }) => testId)}::uuid[], ${column(({ name }) => name)}::text[],
      ${column(({ firstFailure }) => dateOf(firstFailure?.failedAt ?? null))}::timestamptz[],
      ${column(({ firstFailure }) => firstFailure?.executionId.toString() ?? null)}::text[],
      ${column(({ firstFailure }) => firstFailure?.commit ?? null)}::text[],
      ${column(({ flakyDays }) => JSON.stringify(flakyDays))}::jsonb[],
      ${column(({ firstExecutions }) => JSON.stringify(firstExecutions))}::jsonb[],
      ${column(({ lastDay }) => lastDay)}::int[])
    on conflict (repository_id, test_id) do update set name = excluded.name, first_failed_at = excluded.first_failed_at,
      first_failed_execution = excluded.first_failed_execution, first_failed_commit = excluded.first_failed_commit,
      flaky_days = excluded.flaky_days, first_executions = excluded.first_executions, last_day = excluded.last_day`);
}

/** A test, and the newest UTC day on which it passed or failed (days since the epoch). */
export interface LastDay {
  testId: string;
  lastDay: number;
}

/** Moves the last day of tests that are known. The row stays on its page: no index has the column. In order of id as well. */
export async function writeLastDays(tx: Executor, repositoryId: string, days: readonly LastDay[]): Promise<void> {
  if (days.length === 0) return;
  const rows = [...days].sort((a, b) => (a.testId < b.testId ? -1 : 1));
  await tx.execute(sql`
    update ${tests} as known set last_day = ran.last_day
    from unnest(
      ${plainColumn(rows.map(({ testId }) => testId))}::uuid[], ${plainColumn(rows.map(({ lastDay }) => lastDay))}::int[]
    ) as ran (test_id, last_day)
    where known.repository_id = ${repositoryId} and known.test_id = ran.test_id`);
}

/**
 * Records identities, or replaces what is known of them, except how the name begins. What that makes of the numbers of
 * the repository is added to them by the caller (src/postgres/repository-totals.ts).
 *
 * @param isListed whether lists know a record already: then its new number is listed later, and the caller notes its test
 *   as late (src/postgres/listings.ts). Without this function, all are listed now
 */
export async function writeIdentities<Written extends IdentityRecord>(
  tx: Executor,
  repositoryId: string,
  records: readonly Written[],
  nameOf: (testId: string) => string,
  isListed?: (record: Written) => boolean,
): Promise<void> {
  const listedBy = isListed ? LISTED_LATER : LISTED_NOW;
  const statements: Promise<void>[] = [];
  for (let from = 0; from < records.length; from += IDENTITIES_PER_STATEMENT)
    statements.push(
      insertIdentities(tx, repositoryId, records.slice(from, from + IDENTITIES_PER_STATEMENT), nameOf, listedBy),
    );
  await Promise.all(statements);
  const unlisted = records.filter((record) => !isListed?.(record)).map(({ testId }) => testId);
  await listTests(tx, repositoryId, [...new Set(unlisted)]);
}

/**
 * About what fits into the buffer of a socket, 200 KB: PostgreSQL writes one statement while the next is on its way. It must
 * have all of a statement before it begins, and keeps it in memory.
 */
const IDENTITIES_PER_STATEMENT = 250;

async function insertIdentities(
  tx: Executor,
  repositoryId: string,
  records: readonly IdentityRecord[],
  nameOf: (testId: string) => string,
  listedBy: ListedBy,
): Promise<void> {
  const metrics = records.map((record) => metricsOf(record.summary, record));
  await tx.execute(sql`
    insert into ${identities} (repository_id, test_id, pipeline_name, job_name, name_start, executions, health, confidence,
      impact, failed, failed_ppm, last_failed_ms, summary, belief)
    select ${repositoryId}, * from unnest(
      ${plainColumn(records.map(({ testId }) => testId))}::uuid[],
      ${textColumn(records.map(({ pipelineName }) => pipelineName))},
      ${textColumn(records.map(({ jobName }) => jobName))},
      ${textColumn(records.map(({ testId }) => startOfName(nameOf(testId))))},
      ${plainColumn(records.map(({ summary }) => executionsOf(summary)))}::bigint[],
      ${plainColumn(records.map(({ health }) => health))}::text[],
      ${plainColumn(metrics.map(({ confidence }) => levelRank(confidence)))}::smallint[],
      ${plainColumn(metrics.map(({ impact }) => levelRank(impact)))}::smallint[],
      ${plainColumn(metrics.map(({ failures }) => failures))}::int[], ${plainColumn(metrics.map(failedPpm))}::int[],
      ${plainColumn(metrics.map(({ lastFailureAt }) => lastFailureAt ?? 0))}::bigint[],
      ${lineColumn(records.map(writeSummary))}, ${lineColumn(records.map(({ belief }) => writeBelief(belief)))})
    on conflict (repository_id, test_id, pipeline_name, job_name) do update set executions = ${listedBy},
      health = excluded.health, confidence = excluded.confidence, impact = excluded.impact, failed = excluded.failed,
      failed_ppm = excluded.failed_ppm, last_failed_ms = excluded.last_failed_ms, summary = excluded.summary,
      belief = excluded.belief`);
}

/** Removes the identities of some tests; their checkpoints stay. */
export async function forgetIdentities(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<void> {
  await unlistTests(tx, repositoryId, testIds);
  await tx.execute(sql`
    delete from ${identities} where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`);
}

/**
 * Forgets everything that a repository's executions show, because others will count. First failures from before what is
 * retained stay.
 */
export async function forgetStates(tx: Executor, repositoryId: string, retainedSince: number): Promise<void> {
  await forgetTotals(tx, repositoryId);
  await tx.delete(testListings).where(eq(testListings.repositoryId, repositoryId));
  await tx.delete(identities).where(eq(identities.repositoryId, repositoryId));
  await tx.delete(failureGroups).where(eq(failureGroups.repositoryId, repositoryId));
  await tx.delete(healthCheckpoints).where(eq(healthCheckpoints.repositoryId, repositoryId));
  await tx.delete(healthChanges).where(eq(healthChanges.repositoryId, repositoryId));
  await tx.delete(judgedRuns).where(eq(judgedRuns.repositoryId, repositoryId));
  await tx.delete(contradictions).where(eq(contradictions.repositoryId, repositoryId));
  await tx
    .update(tests)
    .set({ firstFailedAt: null, firstFailedExecution: null, firstFailedCommit: null })
    .where(and(eq(tests.repositoryId, repositoryId), gte(tests.firstFailedAt, new Date(retainedSince))));
  await tx
    .update(tests)
    .set({ flakyDays: [], firstExecutions: [], lastDay: null })
    .where(eq(tests.repositoryId, repositoryId));
}

const dateOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
