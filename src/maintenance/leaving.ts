/**
 * The steps that all removals share, whether rows leave with their repository, with a forgotten test or with a month.
 *
 * One process at a time removes, under locks that it holds until it is done. Every step may be done again, and removes what is
 * there then. Rows of ClickHouse are noted in a receipt before they are removed: who continues finds no more of them.
 */
import { isNotNull, sql } from 'drizzle-orm';
import type { ClickHouse } from '../clickhouse/client.ts';
import { type LeavingRows, type RepositoryTable, removeStored } from '../clickhouse/repository-rows.ts';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import { unfinishedDeletions } from '../postgres/deleted-repositories.ts';
import { unfinishedForgettings } from '../postgres/forgotten-tests.ts';
import { DELETION_LOCK, REBUILD_LOCK, RETENTION_LOCK } from '../postgres/locks.ts';
import { noteStored, type Receipt } from '../postgres/removal-receipt.ts';
import { repositories } from '../postgres/schema.ts';

/** Repositories of which rows are leaving. What is stored of them agrees with nothing until that is done. */
export async function repositoriesLeaving(db: Database): Promise<string[]> {
  const deletions = (await unfinishedDeletions(db)).map(({ id }) => id);
  const forgettings = (await unfinishedForgettings(db)).map(({ repositoryId }) => repositoryId);
  const losingMonths = await onPostgres(() =>
    db.select({ id: repositories.id }).from(repositories).where(isNotNull(repositories.executionsLeaving)),
  );
  return [...new Set([...deletions, ...forgettings, ...losingMonths.map(({ id }) => id)])];
}

/**
 * Removes something, unless another process does.
 *
 * @param work is given the transaction that holds the lock, and returns whether all is done
 * @returns false as well if another process is at it
 */
export const removeAlone = (db: Database, work: (tx: Executor) => Promise<boolean>): Promise<boolean> =>
  onPostgres(() =>
    db.transaction(async (tx) => {
      const { rows } = await tx.execute<{ locked: boolean }>(
        sql`select pg_try_advisory_xact_lock(${DELETION_LOCK}) as locked`,
      );
      return rows[0]?.locked ? work(tx) : false;
    }),
  );

/**
 * Keeps retention and rebuilds away until the end of the transaction: both write rows of every repository from what they have
 * read before.
 *
 * @param storing `continues`: only for what nothing is stored of any more; `waits`: nothing is stored meanwhile, in any repository
 */
export async function keepOthersOut(tx: Executor, storing: 'continues' | 'waits'): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${RETENTION_LOCK})`);
  await tx.execute(
    storing === 'waits'
      ? sql`select pg_advisory_xact_lock(${REBUILD_LOCK})`
      : sql`select pg_advisory_xact_lock_shared(${REBUILD_LOCK})`,
  );
}

/** Notes rows of ClickHouse in the receipt, and removes them. Does nothing if there are none. */
export async function removeNoted(
  { db, clickhouse }: { db: Database; clickhouse: ClickHouse },
  receipt: Receipt,
  table: RepositoryTable,
  { rows, ...which }: LeavingRows & { rows: number },
): Promise<void> {
  if (rows === 0) return;
  await onPostgres(() => noteStored(db, receipt, { [table]: rows }));
  await removeStored(clickhouse, table, which);
}
