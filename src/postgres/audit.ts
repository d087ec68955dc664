/** The trail of who changed what (src/domain/audit.ts): written beside each change, read in pages, forgotten by age. */
import { and, asc, desc, gte, inArray, lt, type SQL, sql } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import { type AuditAction, type AuditActor, type AuditDeed, briefDetails, briefText } from '../domain/audit.ts';
import type { Window } from '../domain/window.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { audit } from './schema.ts';

export type AuditEntry = typeof audit.$inferSelect;

/** Milliseconds since the epoch, and the id of the entry. */
export type AuditKey = [atMs: number, id: string];

interface AuditFilters {
  /** The name of an actor, or the id of a key or of a session. */
  actor: string | undefined;
  actions: readonly AuditAction[];
  /** Without a name: of the owner and all of its repositories. */
  repository: { owner: string; name: string | undefined } | undefined;
}

export interface AuditRequest extends AuditFilters {
  window: Window;
  key: AuditKey | null;
  direction: 'next' | 'previous';
  rows: number;
}

/** Writes an entry. `tx` is the transaction of what it tells. */
export const recordAudit = (tx: Executor, by: AuditActor, deed: AuditDeed, now: number): Promise<void> =>
  recordAudits(tx, by, [deed], now);

/** The same of several deeds. */
export async function recordAudits(
  tx: Executor,
  { kind, name, keyId, sessionId, subject, requestId }: AuditActor,
  deeds: readonly AuditDeed[],
  now: number,
): Promise<void> {
  if (deeds.length === 0) return;
  const actor = {
    actorKind: kind,
    actorName: briefText(name),
    keyId: keyId ?? null,
    sessionId: sessionId ?? null,
    subject: textOf(subject),
    requestId: textOf(requestId),
  };
  await tx.insert(audit).values(
    deeds.map(({ action, objectId, objectName, owner, repository, before, after }) => ({
      id: uuid7(),
      at: new Date(now),
      ...actor,
      action,
      objectId: textOf(objectId),
      objectName: textOf(objectName),
      owner: owner ?? null,
      repository: repository ?? null,
      before: before ? JSON.stringify(briefDetails(before)) : null,
      after: after ? JSON.stringify(briefDetails(after)) : null,
    })),
  );
}

const textOf = (text: string | null | undefined): string | null => (text ? briefText(text) : null);

/** Entries beyond a key, nearest first. */
export function listAudit(db: Database, request: AuditRequest): Promise<AuditEntry[]> {
  const { window, key, direction, rows } = request;
  const isNext = direction === 'next';
  const inOrder = isNext ? desc : asc;
  const conditions = [
    gte(audit.at, new Date(window.start)),
    lt(audit.at, new Date(window.end)),
    ...filtersOf(request),
    ...(key === null
      ? []
      : [
          sql`(${audit.at}, ${audit.id}) ${isNext ? sql`<` : sql`>`} (${new Date(key[0]).toISOString()}::timestamptz, ${key[1]}::uuid)`,
        ]),
  ];
  return onPostgres(() =>
    db
      .select()
      .from(audit)
      .where(and(...conditions))
      .orderBy(inOrder(audit.at), inOrder(audit.id))
      .limit(rows),
  );
}

function filtersOf({ actor, actions, repository }: AuditFilters): SQL[] {
  return [
    ...(actor === undefined
      ? []
      : [
          sql`(${audit.actorName} = ${actor} or ${audit.keyId}::text = ${actor} or ${audit.sessionId}::text = ${actor})`,
        ]),
    ...(actions.length === 0 ? [] : [inArray(audit.action, [...actions])]),
    ...(repository === undefined ? [] : [sql`lower(${audit.owner}) = ${repository.owner.toLowerCase()}`]),
    ...(repository?.name === undefined ? [] : [sql`lower(${audit.repository}) = ${repository.name.toLowerCase()}`]),
  ];
}

/** Forgets the entries of before a moment. */
export async function forgetAudit(db: Database, before: number): Promise<void> {
  await onPostgres(() => db.delete(audit).where(lt(audit.at, new Date(before))));
}
