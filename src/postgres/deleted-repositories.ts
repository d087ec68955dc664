/** Deletions of repositories: each is one row from the moment that it is asked for, and its receipt afterwards. */
import { and, asc, desc, eq, isNotNull, isNull, lt, sql, TransactionRollbackError } from 'drizzle-orm';
import { z } from 'zod';
import { type AuditActor, byService } from '../domain/audit.ts';
import { addCounts, type RowCounts } from '../domain/deletion.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { recordAudit } from './audit.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import type { Receipt } from './removal-receipt.ts';
import { deedOf, pathOf } from './repository-changes.ts';
import { endRepositoryKeys } from './repository-keys.ts';
import { countRows, removeByPath } from './repository-rows.ts';
import { deletedRepositories, repositories } from './schema.ts';

export type Deletion = typeof deletedRepositories.$inferSelect;

/** Deletions at one path that are listed. */
const LISTED_MAX = 100;

/**
 * Takes a repository out of the service: from the commit on, no one finds it, its keys are refused, and nothing is stored for
 * it. What is stored goes later. Undefined if it is gone already.
 */
export async function beginDeletion(
  tx: Executor,
  repositoryId: string,
  by: AuditActor,
  now: number,
): Promise<Deletion | undefined> {
  const [gone] = await tx.delete(repositories).where(eq(repositories.id, repositoryId)).returning();
  if (!gone) return undefined;
  const keys = await endRepositoryKeys(tx, gone, by, now);
  const { id, host, owner, name } = gone;
  const removed = addCounts({ repositories: 1 }, keys);
  const row = { id, host, owner, name, deletedAt: new Date(now), deletedBy: by.name, removed };
  const [deletion] = await tx.insert(deletedRepositories).values(row).returning();
  await recordAudit(tx, by, { action: 'repository.delete', ...deedOf(gone), before: pathOf(gone) }, now);
  return deletion;
}

/**
 * Counts the rows of PostgreSQL that a deletion would remove, by table. Keys, and what names the repository by its path, are
 * removed in a transaction that is taken back: so this counts exactly what a deletion takes.
 */
export async function countDeletion(
  db: Database,
  { id, owner, name }: RepositoryName & { id: string },
  now: number,
): Promise<RowCounts> {
  let others: RowCounts = {};
  await onPostgres(() =>
    db
      .transaction(async (tx) => {
        const begun = await beginDeletion(tx, id, byService('dry run'), now);
        others = addCounts(begun?.removed ?? {}, await removeByPath(tx, { owner, name }, now));
        tx.rollback();
      })
      .catch((error: unknown) => {
        if (!(error instanceof TransactionRollbackError)) throw error;
      }),
  );
  return addCounts(others, await countRows(db, id));
}

const isAt = ({ owner, name }: RepositoryName) =>
  and(
    eq(sql`lower(${deletedRepositories.owner})`, owner.toLowerCase()),
    eq(sql`lower(${deletedRepositories.name})`, name.toLowerCase()),
  );

/** The deletions of repositories that had a path, the newest first. */
export function deletionsAt(db: Database, path: RepositoryName): Promise<Deletion[]> {
  return onPostgres(() =>
    db
      .select()
      .from(deletedRepositories)
      .where(isAt(path))
      .orderBy(desc(deletedRepositories.deletedAt))
      .limit(LISTED_MAX),
  );
}

/** When a repository at this path was deleted last; milliseconds since the epoch, undefined for never. */
export async function lastDeletedAt(db: Executor, path: RepositoryName): Promise<number | undefined> {
  const [row] = await onPostgres(() =>
    db
      .select({ at: deletedRepositories.deletedAt })
      .from(deletedRepositories)
      .where(isAt(path))
      .orderBy(desc(deletedRepositories.deletedAt))
      .limit(1),
  );
  return row?.at.getTime();
}

const idRow = z.object({ id: z.string() });

/** Which of some repositories are deleted. */
export async function deletedAmong(tx: Executor, repositoryIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await tx.execute(
    sql`select id from ${deletedRepositories} where id = any(${sql.param(repositoryIds)}::uuid[])`,
  );
  return new Set(rows.map((row) => idRow.parse(row).id));
}

/** Deletions that are not finished, the oldest first. */
export function unfinishedDeletions(db: Executor): Promise<Deletion[]> {
  return onPostgres(() =>
    db
      .select()
      .from(deletedRepositories)
      .where(isNull(deletedRepositories.finishedAt))
      .orderBy(asc(deletedRepositories.deletedAt)),
  );
}

/** Deletions that were finished since a moment. */
export function deletionsFinishedSince(db: Executor, since: number): Promise<Deletion[]> {
  return onPostgres(() =>
    db
      .select()
      .from(deletedRepositories)
      .where(sql`${deletedRepositories.finishedAt} >= ${new Date(since).toISOString()}::timestamptz`),
  );
}

/** Where a deletion says what it removed. */
export const receiptOf = ({ id }: Pick<Deletion, 'id'>): Receipt => ({ table: deletedRepositories, id });

/** Notes that nothing is left. */
export async function endDeletion(tx: Executor, deletionId: string, now: number): Promise<void> {
  const [ended] = await tx
    .update(deletedRepositories)
    .set({ finishedAt: new Date(now) })
    .where(and(eq(deletedRepositories.id, deletionId), isNull(deletedRepositories.finishedAt)))
    .returning();
  if (!ended) return;
  const by = byService(`deletion by ${ended.deletedBy}`);
  await recordAudit(tx, by, { action: 'repository.deleted', ...deedOf(ended), after: ended.removed }, now);
}

/** Forgets receipts of before a moment. */
export async function forgetDeletions(db: Database, before: number): Promise<void> {
  await onPostgres(() =>
    db
      .delete(deletedRepositories)
      .where(and(isNotNull(deletedRepositories.finishedAt), lt(deletedRepositories.finishedAt, new Date(before)))),
  );
}
