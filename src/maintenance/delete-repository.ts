/**
 * Removes what is stored of deleted repositories, from both stores.
 *
 *     begun (src/postgres/deleted-repositories.ts) ─► nothing arrives any more ─► rows of PostgreSQL ─► rows of ClickHouse
 *       ─► rows of PostgreSQL again: what was written meanwhile ─► receipt
 *
 * A deletion that is cut off, however it is, begins again from its first step; the receipt adds up (leaving.ts).
 */
import type { ClickHouse } from '../clickhouse/client.ts';
import { countStored, REPOSITORY_TABLES } from '../clickhouse/repository-rows.ts';
import { ShardByShard } from '../clickhouse/shards.ts';
import type { Clock } from '../clock.ts';
import { addCounts, type RowCounts } from '../domain/deletion.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { awaitClaims, isStoring } from '../ledger/claim-store.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import {
  countDeletion,
  type Deletion,
  endDeletion,
  receiptOf,
  unfinishedDeletions,
} from '../postgres/deleted-repositories.ts';
import { awaitBatches } from '../postgres/outbox-consumers.ts';
import { noteRemoved } from '../postgres/removal-receipt.ts';
import { removeByPath, removeRows } from '../postgres/repository-rows.ts';
import { keepOthersOut, removeAlone, removeNoted } from './leaving.ts';

export interface DeletionDeps {
  db: Database;
  clickhouse: ClickHouse;
  clock: Clock;
  log: Logger;
}

/** Rows of both stores that a deletion would remove, by table. */
export const countRepository = async (
  { db, clickhouse, clock }: Pick<DeletionDeps, 'db' | 'clickhouse' | 'clock'>,
  found: RepositoryName & { id: string },
): Promise<RowCounts> =>
  addCounts(await countDeletion(db, found, clock.now()), await countStored(clickhouse, found.id));

/**
 * Continues every deletion that is not finished, unless another process does. On a cluster, a deletion needs only the shard of
 * its repository: those whose shard does not answer are left, and the error says so at the end.
 *
 * @returns how many are left, because a block with results of the repository is still on its way into ClickHouse
 */
export async function finishDeletions(deps: DeletionDeps, isStopped: () => boolean = () => false): Promise<number> {
  let left = 0;
  const shards = new ShardByShard(deps.clickhouse);
  for (const { id } of await unfinishedDeletions(deps.db)) {
    if (isStopped()) break;
    if (!(await shards.attempt(await deps.clickhouse.shardOf(id), () => finishDeletion(deps, id)))) left++;
  }
  shards.rethrow();
  return left;
}

/** @returns whether nothing is left of the repository */
const finishDeletion = (deps: DeletionDeps, id: string): Promise<boolean> =>
  removeAlone(deps.db, async (tx) => {
    const { db, log } = deps;
    // Another process may have finished it.
    const deletion = (await unfinishedDeletions(db)).find((one) => one.id === id);
    if (!deletion) return true;
    await awaitClaims(db);
    if (await isStoring(db, id)) return false;
    await keepOthersOut(tx, 'continues');
    await removeAll(deps, deletion);
    log.info({ repository: id }, 'everything of a deleted repository is removed');
    return true;
  });

async function removeAll({ db, clickhouse, clock }: DeletionDeps, deletion: Deletion): Promise<void> {
  const { id, owner, name, deletedAt } = deletion;
  const receipt = receiptOf(deletion);
  const note = (tx: Executor, removed: RowCounts): Promise<void> => noteRemoved(tx, receipt, removed);
  await removeRows(db, id, note);
  // A batch in hand may have events that were in the outbox.
  await onPostgres(() => awaitBatches(db));
  const stored = await countStored(clickhouse, id);
  for (const table of REPOSITORY_TABLES)
    await removeNoted({ db, clickhouse }, receipt, table, { repositoryId: id, rows: stored[table] ?? 0 });
  await removeRows(db, id, note);
  await onPostgres(() =>
    db.transaction(async (tx) => {
      await note(tx, await removeByPath(tx, { owner, name }, deletedAt.getTime()));
      await endDeletion(tx, id, clock.now());
    }),
  );
}
