/** Requests to forget tests: each is one row from the moment that it is asked for, and its receipt afterwards. */
import { and, asc, desc, eq, isNotNull, isNull, lt } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import { type AuditActor, byService } from '../domain/audit.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { recordAudit } from './audit.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import type { Receipt } from './removal-receipt.ts';
import { deedOf } from './repository-changes.ts';
import { forgottenTests, repositories } from './schema.ts';
import type { NamedTest } from './tests-to-forget.ts';

export type Forgetting = typeof forgottenTests.$inferSelect;

/** Receipts of a repository that are listed. */
const LISTED_MAX = 100;
/** Names that an entry of the trail tells. */
const TOLD_MAX = 20;

/** Asks a worker to forget some tests (src/maintenance/forget-tests.ts). Nothing changes until it does. */
export async function beginForgettingTests(
  tx: Executor,
  repository: RepositoryName & { id: string },
  asked: readonly NamedTest[],
  by: AuditActor,
  now: number,
): Promise<Forgetting> {
  const row = {
    ...{ id: uuid7(), repositoryId: repository.id, testIds: asked.map(({ testId }) => testId) },
    ...{ requestedAt: new Date(now), requestedBy: by.name, removed: {}, finishedAt: null },
  };
  await tx.insert(forgottenTests).values(row);
  const names = asked.slice(0, TOLD_MAX).map(({ name }) => name);
  const before = { forgetting: row.id, tests: asked.length, names };
  await recordAudit(tx, by, { action: 'tests.forget', ...deedOf(repository), before }, now);
  return row;
}

/** The receipts of a repository, newest first. */
export const forgettingsOf = (db: Database, repositoryId: string): Promise<Forgetting[]> =>
  onPostgres(() =>
    db
      .select()
      .from(forgottenTests)
      .where(eq(forgottenTests.repositoryId, repositoryId))
      .orderBy(desc(forgottenTests.requestedAt), desc(forgottenTests.id))
      .limit(LISTED_MAX),
  );

export async function findForgetting(db: Executor, id: string): Promise<Forgetting | undefined> {
  const [found] = await onPostgres(() => db.select().from(forgottenTests).where(eq(forgottenTests.id, id)));
  return found;
}

/** Requests that are not finished, the oldest first. */
export const unfinishedForgettings = (db: Executor): Promise<Forgetting[]> =>
  onPostgres(() =>
    db
      .select()
      .from(forgottenTests)
      .where(isNull(forgottenTests.finishedAt))
      .orderBy(asc(forgottenTests.requestedAt), asc(forgottenTests.id)),
  );

/** Where a request says what it removed. */
export const receiptOf = ({ id }: Pick<Forgetting, 'id'>): Receipt => ({ table: forgottenTests, id });

/** Leaves out the tests that are to stay, because they were quarantined since the request. */
export async function keepTests(tx: Executor, id: string, testIds: readonly string[]): Promise<void> {
  await tx
    .update(forgottenTests)
    .set({ testIds: [...testIds] })
    .where(eq(forgottenTests.id, id));
}

/** Notes that nothing is left of the tests. */
export async function endForgettingTests(tx: Executor, id: string, now: number): Promise<void> {
  const [ended] = await tx
    .update(forgottenTests)
    .set({ finishedAt: new Date(now) })
    .where(and(eq(forgottenTests.id, id), isNull(forgottenTests.finishedAt)))
    .returning();
  if (!ended) return;
  const [repository] = await tx.select().from(repositories).where(eq(repositories.id, ended.repositoryId));
  if (!repository) return;
  const after = { forgetting: id, tests: ended.testIds.length, ...ended.removed };
  const by = byService(`tests forgotten by ${ended.requestedBy}`);
  await recordAudit(tx, by, { action: 'tests.forgotten', ...deedOf(repository), after }, now);
}

/** Removes receipts from before a moment. */
export async function forgetForgettings(db: Database, before: number): Promise<void> {
  await onPostgres(() =>
    db
      .delete(forgottenTests)
      .where(and(isNotNull(forgottenTests.finishedAt), lt(forgottenTests.finishedAt, new Date(before)))),
  );
}
