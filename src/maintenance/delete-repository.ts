/**
 * Removes what is stored of deleted repositories, from both stores.
 *
 *     begun (src/postgres/deleted-repositories.ts) ─► nothing arrives any more ─► rows of PostgreSQL ─► rows of ClickHouse
 *       ─► rows of PostgreSQL again: what was written meanwhile ─► receipt
 *
 * Every step may be done again, and removes what is there then. So a deletion that is cut off, however it is, begins again from
 * its first step; the receipt adds up.
 */
import { sql } from 'drizzle-orm';
import type { ClickHouse } from '../clickhouse/client.ts';
import { countStored, REPOSITORY_TABLES, removeStored } from '../clickhouse/repository-rows.ts';
import type { Clock } from '../clock.ts';
import { addCounts, type RowCounts } from '../domain/deletion.ts';
import { awaitClaims, isStoring } from '../ledger/claim-store.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import {
  type Deletion,
  endDeletion,
  noteRemoved,
  noteStored,
  unfinishedDeletions,
} from '../postgres/deleted-repositories.ts';
import { DELETION_LOCK, REBUILD_LOCK, RETENTION_LOCK } from '../postgres/locks.ts';
import { awaitBatches } from '../postgres/outbox-consumers.ts';
import { countRows, removeByPath, removeRows } from '../postgres/repository-rows.ts';

export interface DeletionDeps {
  db: Database;
  clickhouse: ClickHouse;
  clock: Clock;
  log: Logger;
}

/** Rows of a repository in both stores, by table. */
export const countRepository = async (
  { db, clickhouse }: Pick<DeletionDeps, 'db' | 'clickhouse'>,
  repositoryId: string,
): Promise<RowCounts> => addCounts(await countRows(db, repositoryId), await countStored(clickhouse, repositoryId));

/**
 * Continues every deletion that is not finished, unless another process does.
 *
 * @returns how many are left, because a block with results of the repository is still on its way into ClickHouse
 */
export async function finishDeletions(deps: DeletionDeps, isStopped: () => boolean = () => false): Promise<number> {
  let left = 0;
  for (const { id } of await unfinishedDeletions(deps.db)) {
    if (isStopped()) break;
    if (!(await finishDeletion(deps, id))) left++;
  }
  return left;
}

/** @returns whether nothing is left of the repository */
async function finishDeletion(deps: DeletionDeps, id: string): Promise<boolean> {
  const { db, log } = deps;
  return onPostgres(() =>
    db.transaction(async (tx) => {
      const { rows } = await tx.execute<{ locked: boolean }>(
        sql`select pg_try_advisory_xact_lock(${DELETION_LOCK}) as locked`,
      );
      if (!rows[0]?.locked) return false;
      // Another process may have finished it.
      const deletion = (await unfinishedDeletions(db)).find((one) => one.id === id);
      if (!deletion) return true;
      await awaitClaims(db);
      if (await isStoring(db, id)) return false;
      await keepOthersOut(tx);
      await removeAll(deps, deletion);
      log.info({ repository: id }, 'everything of a deleted repository is removed');
      return true;
    }),
  );
}

/** Both write rows of every repository from what they have read before. */
async function keepOthersOut(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${RETENTION_LOCK})`);
  await tx.execute(sql`select pg_advisory_xact_lock_shared(${REBUILD_LOCK})`);
}

async function removeAll(
  { db, clickhouse, clock }: DeletionDeps,
  { id, owner, name, deletedAt }: Deletion,
): Promise<void> {
  const note = (tx: Executor, removed: RowCounts): Promise<void> => noteRemoved(tx, id, removed);
  await removeRows(db, id, note);
  // A batch in hand may have events that were in the outbox.
  await onPostgres(() => awaitBatches(db));
  const stored = await countStored(clickhouse, id);
  for (const table of REPOSITORY_TABLES) {
    const rows = stored[table];
    if (rows === undefined) continue;
    // Noted first: one that is cut off in between finds no more rows when it continues.
    await onPostgres(() => noteStored(db, id, { [table]: rows }));
    await removeStored(clickhouse, table, id);
  }
  await removeRows(db, id, note);
  await onPostgres(() =>
    db.transaction(async (tx) => {
      await note(tx, await removeByPath(tx, { owner, name }, deletedAt.getTime()));
      await endDeletion(tx, id, clock.now());
    }),
  );
}
