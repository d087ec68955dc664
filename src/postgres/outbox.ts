/**
 * The outbox: events are written in the transaction of the change that they describe, and consumers take them from there
 * (outbox-consumers.ts).
 *
 * Writing events locks the row of their repository until the commit, so only one transaction at a time writes events of
 * a repository. Ids and times therefore increase together and become visible in that order, which lets a poller follow
 * the log (docs/api.md).
 */
import { eq, sql } from 'drizzle-orm';
import { type NewEvent, outcomeOf } from '../domain/events.ts';
import { eventKeyOf } from '../domain/identity.ts';
import { piecesOf } from '../pieces.ts';
import type { Executor } from './client.ts';
import { eventKeys, eventOutbox, repositories } from './schema.ts';

/** Consumers listen here; the payload is empty. */
export const EVENTS_CHANNEL = 'ci_insights_events';

/** Rows per statement: each row binds nine parameters, and a statement takes 65,535. */
const ROWS_MAX = 5_000;

/** An event with the time that the log shows it at. */
export interface DatedEvent {
  event: NewEvent;
  receivedAt: Date;
  /** Without one, it gets the next. */
  id?: number;
}

const at =
  (receivedAt: Date) =>
  (event: NewEvent): DatedEvent => ({ event, receivedAt });

/** Writes events in order. Call it last in a transaction: it locks the repository's row until the commit. */
export async function recordEvents(
  tx: Executor,
  repositoryId: string,
  events: readonly NewEvent[],
  now: number,
): Promise<void> {
  if (events.length === 0) return;
  const receivedAt = await lockRepository(tx, repositoryId, now);
  await insertEvents(tx, repositoryId, events.map(at(receivedAt)), now);
}

/** Events of the past, with the times at which they would have been received. They come between those that are there. */
export async function recordPastEvents(
  tx: Executor,
  repositoryId: string,
  events: readonly DatedEvent[],
  now: number,
): Promise<void> {
  if (events.length > 0) await insertEvents(tx, repositoryId, events, now);
}

/** The same as {@link recordEvents} for events that may be resent: each key counts once. Returns how many were new. */
export async function recordKeyedEvents(
  tx: Executor,
  repositoryId: string,
  events: readonly { key: string; event: NewEvent }[],
  now: number,
): Promise<number> {
  const byKey = new Map(events.map(({ key, event }) => [eventKeyOf(repositoryId, key), event]));
  if (byKey.size === 0) return 0;
  const receivedAt = await lockRepository(tx, repositoryId, now);
  const taken = await tx
    .insert(eventKeys)
    .values([...byKey.keys()].map((key) => ({ key, takenAt: new Date(now) })))
    .onConflictDoNothing()
    .returning({ key: eventKeys.key, id: eventKeys.eventId });
  const idOf = new Map(taken.map(({ key, id }) => [key, id]));
  const newEvents = [...byKey].flatMap(([key, event]): DatedEvent[] => {
    const id = idOf.get(key);
    return id === undefined ? [] : [{ event, receivedAt, id }];
  });
  await insertEvents(tx, repositoryId, newEvents, now);
  return newEvents.length;
}

/** Forgets the keys of events that have left the log. */
export async function forgetEventKeys(db: Executor, before: number): Promise<void> {
  await db.delete(eventKeys).where(sql`${eventKeys.takenAt} < ${new Date(before).toISOString()}::timestamptz`);
}

/** Locks the repository's row. Returns the time of its next event, which is never before its last event. */
async function lockRepository(tx: Executor, repositoryId: string, now: number): Promise<Date> {
  const [row] = await tx
    .update(repositories)
    .set({ lastEventAt: sql`greatest(${repositories.lastEventAt}, ${new Date(now).toISOString()}::timestamptz)` })
    .where(eq(repositories.id, repositoryId))
    .returning({ at: repositories.lastEventAt });
  if (!row?.at) throw new Error(`repository ${repositoryId} is not recorded`);
  return row.at;
}

async function insertEvents(
  tx: Executor,
  repositoryId: string,
  events: readonly DatedEvent[],
  now: number,
): Promise<void> {
  for (const some of piecesOf(events, ROWS_MAX))
    await tx.insert(eventOutbox).values(
      some.map(({ event, ...dated }) => ({
        ...event,
        ...dated,
        repositoryId,
        writtenAt: new Date(now),
        outcome: outcomeOf(event),
        metadata: JSON.stringify(event.metadata),
      })),
    );
  if (events.length > 0) await tx.execute(sql`select pg_notify(${EVENTS_CHANNEL}, '')`);
}
