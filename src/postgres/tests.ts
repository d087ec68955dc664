/** The names of tests, and when each failed first: kept longer than its executions. */
import { and, eq, gte, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Executor } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { tests } from './schema.ts';

export interface FirstFailure {
  /** Milliseconds since the epoch. */
  failedAt: number;
  executionId: bigint;
  /** Empty when unknown. */
  commit: string;
}

export interface TestRecord {
  testId: string;
  name: string;
  firstFailure: FirstFailure | null;
}

/** Milliseconds since the epoch, as a number that JSON carries exactly. */
const ms = (column: unknown) => sql`(extract(epoch from ${column}) * 1000)::float8`;

export const testColumns = sql`tests.test_id, tests.name, ${ms(tests.firstFailedAt)} as failed_ms,
  first_failed_execution as execution, first_failed_commit as commit`;
export const testRow = z.object({
  test_id: z.string(),
  name: z.string(),
  failed_ms: z.number().nullable(),
  execution: z.string().nullable(),
  commit: z.string().nullable(),
});

export const testOf = ({ test_id, name, failed_ms, execution, commit }: z.infer<typeof testRow>): TestRecord => ({
  testId: test_id,
  name,
  firstFailure:
    failed_ms === null ? null : { failedAt: failed_ms, executionId: BigInt(execution ?? 0), commit: commit ?? '' },
});

export async function readTests(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<TestRecord[]> {
  const { rows } = await tx.execute(sql`
    select ${testColumns} from ${tests}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`);
  return rows.map((row) => testOf(testRow.parse(row)));
}

/** Notes failures of tests, where none earlier is known; by test id. The tests are known. */
export async function noteFirstFailures(
  tx: Executor,
  repositoryId: string,
  failures: ReadonlyMap<string, FirstFailure>,
): Promise<void> {
  if (failures.size === 0) return;
  const all = [...failures.values()];
  await tx.execute(sql`
    update ${tests} as known
    set first_failed_at = failed.at, first_failed_execution = failed.execution, first_failed_commit = failed.commit
    from unnest(${plainColumn([...failures.keys()])}::uuid[],
      ${plainColumn(all.map(({ failedAt }) => new Date(failedAt).toISOString()))}::timestamptz[],
      ${plainColumn(all.map(({ executionId }) => String(executionId)))}::text[],
      ${textColumn(all.map(({ commit }) => commit))}) as failed (test_id, at, execution, commit)
    where known.repository_id = ${repositoryId} and known.test_id = failed.test_id
      and (known.first_failed_at is null
        or (failed.at, failed.execution::numeric) < (known.first_failed_at, known.first_failed_execution::numeric))`);
}

/** Forgets first failures since a moment: others will count. */
export async function forgetFirstFailures(tx: Executor, repositoryId: string, since: number): Promise<void> {
  await tx
    .update(tests)
    .set({ firstFailedAt: null, firstFailedExecution: null, firstFailedCommit: null })
    .where(and(eq(tests.repositoryId, repositoryId), gte(tests.firstFailedAt, new Date(since))));
}

/** Forgets the first failures of some tests since a moment. */
export async function forgetFirstFailuresOf(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
  since: number,
): Promise<void> {
  await tx.execute(sql`
    update ${tests} set first_failed_at = null, first_failed_execution = null, first_failed_commit = null
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])
      and first_failed_at >= ${new Date(since).toISOString()}::timestamptz`);
}
