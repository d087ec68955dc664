/** Which executions on default branches count as flaky. Written by the evaluation with the beliefs that they follow from. */
import { and, eq, lt, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { FlakyChange } from '../domain/suspect.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { plainColumn } from './columns.ts';
import { flakyExecutions } from './schema.ts';

export interface FlakyExecution {
  testId: string;
  executionId: string;
  /** Milliseconds since the epoch. */
  finishedAt: number;
}

const row = z.object({ test_id: z.string(), execution_id: z.string(), finished_ms: z.number() }).transform(
  (found): FlakyExecution => ({
    testId: found.test_id,
    executionId: found.execution_id,
    finishedAt: found.finished_ms,
  }),
);

/** Flaky executions of some tests that finished since a moment. */
export async function readFlakyExecutions(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
  since = 0,
): Promise<FlakyExecution[]> {
  if (testIds.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select test_id, execution_id::text, finished_ms::float8 as finished_ms from ${flakyExecutions}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[]) and finished_ms >= ${since}`);
  return rows.map((found) => row.parse(found));
}

export type IdentifiedFlakyChange = FlakyChange & { testId: string };

export async function changeFlakyExecutions(
  tx: Executor,
  repositoryId: string,
  changes: readonly IdentifiedFlakyChange[],
): Promise<void> {
  const columnsOf = (some: readonly IdentifiedFlakyChange[]) => sql`
    ${plainColumn(some.map(({ testId }) => testId))}::uuid[], ${plainColumn(some.map(({ finishedAt }) => finishedAt))}::bigint[],
    ${plainColumn(some.map(({ executionId }) => executionId))}::numeric[]`;
  const [added, removed] = [changes.filter(({ isFlaky }) => isFlaky), changes.filter(({ isFlaky }) => !isFlaky)];
  if (added.length > 0)
    await tx.execute(sql`
      insert into ${flakyExecutions} (repository_id, test_id, finished_ms, execution_id)
      select ${repositoryId}::uuid, * from unnest(${columnsOf(added)}) on conflict do nothing`);
  if (removed.length > 0)
    await tx.execute(sql`
      delete from ${flakyExecutions} as known
      using unnest(${columnsOf(removed)}) as removed (test_id, finished_ms, execution_id)
      where known.repository_id = ${repositoryId} and known.test_id = removed.test_id
        and known.finished_ms = removed.finished_ms and known.execution_id = removed.execution_id`);
}

/** Forgets those of a repository that finished before a moment. */
export async function forgetFlakyExecutions(tx: Executor, repositoryId: string, before: number): Promise<void> {
  await tx
    .delete(flakyExecutions)
    .where(and(eq(flakyExecutions.repositoryId, repositoryId), lt(flakyExecutions.finishedMs, before)));
}

/** Forgets those of some tests. */
export async function forgetFlakyExecutionsOf(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<void> {
  await tx.execute(sql`
    delete from ${flakyExecutions}
    where repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`);
}

/** A test in a window that is cut into buckets; times in milliseconds. */
export interface AskedBuckets {
  repositoryId: string;
  testId: string;
  start: number;
  end: number;
  width: number;
}

const bucketRow = z.object({ place: z.number(), bucket_ms: z.number(), flaky: z.number() });
export type FlakyBucket = z.infer<typeof bucketRow>;

/**
 * How often each test was flaky in each bucket of its window in which it was.
 *
 * @returns `place` is that of the test in `asked`, from 1
 */
export async function countFlakyExecutions(db: Database, asked: readonly AskedBuckets[]): Promise<FlakyBucket[]> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      select place::int as place, (finished_ms / width * width)::float8 as bucket_ms, count(*)::int as flaky
      from unnest(${plainColumn(asked.map(({ repositoryId }) => repositoryId))}::uuid[],
          ${plainColumn(asked.map(({ testId }) => testId))}::uuid[], ${plainColumn(asked.map(({ start }) => start))}::bigint[], ${plainColumn(asked.map(({ end }) => end))}::bigint[],
          ${plainColumn(asked.map(({ width }) => width))}::bigint[]) with ordinality as asked (repository_id, test_id, from_ms, to_ms, width, place)
        join ${flakyExecutions} as flaky on flaky.repository_id = asked.repository_id and flaky.test_id = asked.test_id
          and flaky.finished_ms >= asked.from_ms and flaky.finished_ms < asked.to_ms
      group by 1, 2`),
  );
  return rows.map((found) => bucketRow.parse(found));
}
