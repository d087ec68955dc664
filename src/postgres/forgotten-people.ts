/** Replaces the names of people by pseudonyms, in every column that has names of people. */
import { and, eq, getTableColumns, getTableName, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { AuditActor } from '../domain/audit.ts';
import { addCounts, type RowCounts } from '../domain/deletion.ts';
import { patternInJson, patternOfText, pseudonymOf } from '../domain/pseudonym.ts';
import { recordAudit } from './audit.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { readInstallation } from './installation.ts';
import {
  applicationKeys,
  audit,
  backtests,
  codeowners,
  deletedRepositories,
  eventOutbox,
  forgottenPeople,
  forgottenTests,
  pullRequests,
  quarantinedCauses,
  quarantines,
  refusedUploads,
  savedViews,
  sessions,
  uploadChunks,
} from './schema.ts';

export type ForgottenPerson = typeof forgottenPeople.$inferSelect;

/** Columns that hold a name as a whole. */
const NAMES: readonly (readonly [PgTable, readonly PgColumn[]])[] = [
  [eventOutbox, [eventOutbox.trigger]],
  [pullRequests, [pullRequests.authorLogin]],
  [quarantines, [quarantines.actor, quarantines.removedBy]],
  [quarantinedCauses, [quarantinedCauses.actor]],
  [savedViews, [savedViews.actor]],
  [backtests, [backtests.requestedBy]],
  [codeowners, [codeowners.changedBy]],
  [uploadChunks, [uploadChunks.sender]],
  [refusedUploads, [refusedUploads.sender]],
  [applicationKeys, [applicationKeys.madeBy]],
  [deletedRepositories, [deletedRepositories.deletedBy]],
  [forgottenTests, [forgottenTests.requestedBy]],
  [audit, [audit.actorName, audit.subject, audit.objectName]],
];
/** Columns of JSON in which a name may be a text. */
const DOCUMENTS: readonly (readonly [PgTable, readonly PgColumn[]])[] = [
  [eventOutbox, [eventOutbox.metadata]],
  [audit, [audit.before, audit.after]],
];

/** Asks for it; a name that was forgotten before may have come again. No name is in the trail. */
export async function beginForgetting(
  db: Database,
  { name, isForLater }: { name: string; isForLater: boolean },
  by: AuditActor,
  now: number,
): Promise<ForgottenPerson> {
  const { id } = await readInstallation(db);
  const values = { name, isForLater, requestedAt: new Date(now), finishedAt: null };
  const pseudonym = pseudonymOf(id, name);
  return onPostgres(() =>
    db.transaction(async (tx) => {
      const [person] = await tx
        .insert(forgottenPeople)
        .values({ pseudonym, ...values })
        .onConflictDoUpdate({ target: forgottenPeople.pseudonym, set: { ...values, changed: {} } })
        .returning();
      if (!person) throw new Error('the person was not noted');
      const after = { is_for_later: isForLater };
      await recordAudit(tx, by, { action: 'person.forget', objectName: pseudonym, after }, now);
      return person;
    }),
  );
}

export async function findForgotten(db: Database, pseudonym: string): Promise<ForgottenPerson | undefined> {
  const [person] = await onPostgres(() =>
    db.select().from(forgottenPeople).where(eq(forgottenPeople.pseudonym, pseudonym)),
  );
  return person;
}

/** People whose names may still be somewhere. */
export const unfinishedPeople = (db: Database): Promise<ForgottenPerson[]> =>
  onPostgres(() => db.select().from(forgottenPeople).where(isNull(forgottenPeople.finishedAt)));

/** Replaces a name in every row. Done again, it finds only what has come since. */
export async function replaceInRows(db: Database, name: string, pseudonym: string): Promise<void> {
  for (const [table, columns] of NAMES)
    await replace(db, pseudonym, { table, columns, pattern: patternOfText(name), by: `\\1${pseudonym}` });
  for (const [table, columns] of DOCUMENTS)
    await replace(db, pseudonym, { table, columns, pattern: patternInJson(name), by: `"\\1${pseudonym}"` });
  // Who is signed in under the name would write it again.
  await onPostgres(() =>
    db.transaction(async (tx) => {
      const isTheirs = sql`${sessions.actor} ~* ${patternOfText(name)}`;
      const ended = await tx.delete(sessions).where(isTheirs).returning({ id: sessions.id });
      await noteChanged(tx, pseudonym, { sessions: ended.length });
    }),
  );
}

interface Replacement {
  table: PgTable;
  columns: readonly PgColumn[];
  pattern: string;
  by: string;
}

async function replace(db: Database, pseudonym: string, { table, columns, pattern, by }: Replacement): Promise<void> {
  const names = columns.map(({ name }) => sql.identifier(name));
  const isAny = sql.join(
    names.map((column) => sql`${column} ~* ${pattern}`),
    sql` or `,
  );
  const changes: SQL[] = names.map((column) => sql`${column} = regexp_replace(${column}, ${pattern}, ${by}, 'gi')`);
  // The id of an account leads to its name.
  if ('authorId' in getTableColumns(table)) changes.push(sql`author_id = null`);
  await onPostgres(() =>
    db.transaction(async (tx) => {
      const { rowCount } = await tx.execute(sql`update ${table} set ${sql.join(changes, sql`, `)} where ${isAny}`);
      await noteChanged(tx, pseudonym, { [getTableName(table)]: rowCount ?? 0 });
    }),
  );
}

async function noteChanged(tx: Executor, pseudonym: string, rows: RowCounts): Promise<void> {
  for (const [table, count] of Object.entries(addCounts(rows)))
    await tx.execute(sql`
      update ${forgottenPeople}
      set changed = changed || jsonb_build_object(${table}::text, coalesce((changed->>${table}::text)::bigint, 0) + ${count}::bigint)
      where pseudonym = ${pseudonym}`);
}

/**
 * Notes events that are about to be changed in ClickHouse; of one that is cut off, as many are left at most.
 *
 * @param isMore whether they are others than those noted before, as where the shards of a cluster answer at different times;
 * events of one that is cut off are then noted twice
 */
export async function noteEvents(db: Database, pseudonym: string, events: number, isMore: boolean): Promise<void> {
  if (events === 0) return;
  await onPostgres(() =>
    db.execute(sql`
      update ${forgottenPeople}
      set changed = changed || jsonb_build_object('events', case
        when ${isMore}::bool then coalesce((changed->>'events')::bigint, 0) + ${events}::bigint
        else greatest((changed->>'events')::bigint, ${events}::bigint) end)
      where pseudonym = ${pseudonym}`),
  );
}

/** Every row is changed: the name itself goes. */
export async function endForgetting(db: Database, pseudonym: string, now: number): Promise<void> {
  await onPostgres(() =>
    db
      .update(forgottenPeople)
      .set({ name: null, finishedAt: new Date(now) })
      .where(and(eq(forgottenPeople.pseudonym, pseudonym), isNotNull(forgottenPeople.name))),
  );
}

/** What stands for a name in what arrives; undefined: it stays. Costs a statement. */
export async function laterPseudonyms(db: Database): Promise<(name: string) => string | undefined> {
  const people = await onPostgres(() =>
    db
      .select({ pseudonym: forgottenPeople.pseudonym })
      .from(forgottenPeople)
      .where(eq(forgottenPeople.isForLater, true)),
  );
  if (people.length === 0) return () => undefined;
  const known = new Set(people.map(({ pseudonym }) => pseudonym));
  const { id } = await readInstallation(db);
  return (name) => {
    const pseudonym = pseudonymOf(id, name);
    return known.has(pseudonym) ? pseudonym : undefined;
  };
}
