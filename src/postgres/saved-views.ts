/** Saved views: those of everyone, and those that one person or key has for itself. */
import { and, asc, eq, inArray, isNotNull, sql } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import { z } from 'zod';
import type { AuditActor } from '../domain/audit.ts';
import { VIEWS_ALL_MAX, VIEWS_MAX } from '../domain/limits.ts';
import { EVERYONE, holderIdOf, type ViewHolder } from '../domain/saved-views.ts';
import { recordAudit } from './audit.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { VIEWS_LOCK } from './locks.ts';
import type { Repository } from './repositories.ts';
import { applicationKeys, savedViews } from './schema.ts';

export type SavedView = typeof savedViews.$inferSelect;
type Place = Pick<Repository, 'id' | 'owner' | 'name'>;

const seenBy = (repositoryId: string, holder: ViewHolder) =>
  and(eq(savedViews.repositoryId, repositoryId), inArray(savedViews.holder, [EVERYONE, holderIdOf(holder)]));

/** Reads the views of everyone and of one holder, in order of name. */
export const listViews = (db: Database, repositoryId: string, holder: ViewHolder): Promise<SavedView[]> =>
  onPostgres(() =>
    db
      .select()
      .from(savedViews)
      .where(seenBy(repositoryId, holder))
      .orderBy(asc(sql`lower(${savedViews.name})`), asc(savedViews.id)),
  );

/** One that the holder sees. */
export async function findView(
  db: Database,
  repositoryId: string,
  holder: ViewHolder,
  id: string,
): Promise<SavedView | undefined> {
  const [found] = await onPostgres(() =>
    db
      .select()
      .from(savedViews)
      .where(and(seenBy(repositoryId, holder), eq(savedViews.id, id))),
  );
  return found;
}

export interface NewView extends Pick<SavedView, 'name' | 'page' | 'query'> {
  isShared: boolean;
}

/** `taken`: the name is in use; else the limit that one more would exceed. */
export type ViewRefusal = 'taken' | 'VIEWS_MAX' | 'VIEWS_ALL_MAX';

const countsRow = z.object({ named: z.number(), held: z.number(), all: z.number() });

/** Saves a view, for the holder or for everyone. What everyone sees leaves an entry in the trail. */
export function saveView(
  db: Database,
  { id: repositoryId, owner, name: repository }: Place,
  { isShared, ...view }: NewView,
  holder: ViewHolder,
  { by, now }: { by: AuditActor; now: number },
): Promise<SavedView | ViewRefusal> {
  const row: SavedView = {
    ...{ id: uuid7(), repositoryId, ...view, actor: by.name, createdAt: new Date(now) },
    holder: isShared ? EVERYONE : holderIdOf(holder),
    keyId: !isShared && holder.kind === 'key' ? holder.keyId : null,
  };
  return onPostgres(() =>
    db.transaction(async (tx) => {
      const refusal = await refusalOf(tx, row);
      if (refusal) return refusal;
      await tx.insert(savedViews).values(row);
      const deed = { action: 'view.create', objectId: row.id, objectName: row.name, owner, repository } as const;
      if (isShared) await recordAudit(tx, by, { ...deed, after: shownOf(row) }, now);
      return row;
    }),
  );
}

/** From here on to its end, the transaction is the only one that saves a view of the repository. */
async function refusalOf(tx: Executor, { repositoryId, holder, name }: SavedView): Promise<ViewRefusal | undefined> {
  await tx.execute(sql`select pg_advisory_xact_lock(${VIEWS_LOCK}, hashtext(${repositoryId}))`);
  const isHeld = sql`${savedViews.holder} = ${holder}`;
  const { rows } = await tx.execute(sql`
    select count(*) filter (where ${isHeld} and lower(${savedViews.name}) = lower(${name}))::int as named,
      count(*) filter (where ${isHeld})::int as held, count(*)::int as "all"
    from ${savedViews} where ${savedViews.repositoryId} = ${repositoryId}`);
  const { named, held, all } = countsRow.parse(rows[0]);
  if (named > 0) return 'taken';
  if (held >= VIEWS_MAX) return 'VIEWS_MAX';
  return all >= VIEWS_ALL_MAX ? 'VIEWS_ALL_MAX' : undefined;
}

/** Whether it was still there. */
export function removeView(
  db: Database,
  { owner, name: repository }: Place,
  view: SavedView,
  { by, now }: { by: AuditActor; now: number },
): Promise<boolean> {
  return onPostgres(() =>
    db.transaction(async (tx) => {
      const removed = await tx.delete(savedViews).where(eq(savedViews.id, view.id)).returning({ id: savedViews.id });
      if (removed.length === 0) return false;
      const deed = { action: 'view.remove', objectId: view.id, objectName: view.name, owner, repository } as const;
      if (isForEveryone(view)) await recordAudit(tx, by, { ...deed, before: shownOf(view) }, now);
      return true;
    }),
  );
}

export const isForEveryone = ({ holder }: Pick<SavedView, 'holder'>): boolean => holder === EVERYONE;

const shownOf = ({ name, page, query }: SavedView) => ({ name, page, query });

/** Forgets the views of keys that have ended: no one sees them any more. */
export async function forgetViewsOfEndedKeys(db: Database, now: number): Promise<void> {
  await onPostgres(() =>
    db.delete(savedViews).where(
      and(
        isNotNull(savedViews.keyId),
        sql`not exists (select from ${applicationKeys} as key where key.id = ${savedViews.keyId} and key.revoked_at is null
          and (key.expires_at is null or key.expires_at > ${new Date(now).toISOString()}::timestamptz))`,
      ),
    ),
  );
}
