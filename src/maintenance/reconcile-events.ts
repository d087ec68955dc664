/**
 * The event log as part of `reconcile`: it gives up events that PostgreSQL does not know, and frees the keys of events that the
 * log lacks, so that these are recorded when they are sent again.
 *
 * Events of a repository are written one transaction after the other, and carried into the log in that order. So what PostgreSQL
 * does not know is what came after its newest event of the repository. (Two transactions of a repository in one millisecond are
 * taken for one: if a backup was taken between them, the event of the second counts twice.) Events that wait in the outbox are
 * handed over again, under another token: the log must not have them yet.
 */
import { and, eq, gte, inArray, isNotNull } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { HOUR_MS } from '../domain/time.ts';
import { piecesOf } from '../pieces.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { noteMerges } from '../postgres/pull-requests.ts';
import { eventKeys, eventOutbox, pullRequests, repositories } from '../postgres/schema.ts';

const newestEvents = defineLongQuery(
  'maintenance/newest_events',
  {},
  z.object({ repository_id: z.string(), newest_ms: z.number() }),
);
const eventsUnknown = defineLongQuery(
  'maintenance/events_unknown',
  { repository_id: 'UUID', after_ms: 'Int64', ids: 'Array(UInt64)' },
  z.object({ events: z.number() }),
);
const eventsAmong = defineLongQuery(
  'maintenance/events_among',
  { since_ms: 'Int64', ids: 'Array(UInt64)' },
  z.object({ id: z.number() }),
);
const loggedMerges = defineLongQuery(
  'maintenance/logged_merges',
  {},
  z.object({ repository_id: z.string(), numbers: z.array(z.number()) }),
);

const IDS_AT_ONCE = 2_000;
/** The log is in the order of each repository, not of all: an event that it lacks may be a little older than its newest. */
const DISORDER_MS = HOUR_MS;

interface Stores {
  db: Database;
  clickhouse: ClickHouse;
}

/** Events of a repository that leave the log: after a moment, and some by their ids. */
interface Unknown {
  repository_id: string;
  after_ms: number;
  ids: number[];
}

export interface EventDifference {
  /** The events that leave the log, and their number. */
  unknown: Unknown[];
  removed: number;
  /** Keys of events that the log lacks. */
  lost: string[];
}

export async function eventDifference(stores: Stores): Promise<EventDifference> {
  const newest = await stores.clickhouse.select(newestEvents, {});
  const outbox = await onPostgres(() =>
    stores.db.select({ id: eventOutbox.id, repositoryId: eventOutbox.repositoryId }).from(eventOutbox),
  );
  const waiting = Map.groupBy(outbox, ({ repositoryId }) => repositoryId);
  const known = await onPostgres(() =>
    stores.db.select({ id: repositories.id, lastEventAt: repositories.lastEventAt }).from(repositories),
  );
  const lastOf = new Map(known.map(({ id, lastEventAt }) => [id, lastEventAt?.getTime() ?? 0]));
  const difference: EventDifference = { unknown: [], removed: 0, lost: await lostKeys(stores, newest, outbox) };
  for (const { repository_id } of newest) {
    const ids = (waiting.get(repository_id) ?? []).map(({ id }) => id);
    const unknown = { repository_id, after_ms: lastOf.get(repository_id) ?? 0, ids };
    const [found] = await stores.clickhouse.select(eventsUnknown, unknown);
    if (!found?.events) continue;
    difference.unknown.push(unknown);
    difference.removed += found.events;
  }
  return difference;
}

async function lostKeys(
  { db, clickhouse }: Stores,
  newest: readonly { newest_ms: number }[],
  outbox: readonly { id: number }[],
): Promise<string[]> {
  const since = newest.reduce((max, { newest_ms: at }) => Math.max(max, at), 0) - DISORDER_MS;
  const isWaiting = new Set(outbox.map(({ id }) => id));
  const taken = await onPostgres(() =>
    db
      .select({ key: eventKeys.key, id: eventKeys.eventId })
      .from(eventKeys)
      .where(gte(eventKeys.takenAt, new Date(Math.max(since, 0)))),
  );
  const lost: string[] = [];
  for (const some of piecesOf(taken, IDS_AT_ONCE)) {
    const ids = some.map(({ id }) => id);
    const rows = await clickhouse.select(eventsAmong, { since_ms: Math.max(since - DISORDER_MS, 0), ids });
    const stored = new Set(rows.map(({ id }) => id));
    lost.push(...some.flatMap(({ key, id }) => (stored.has(id) || isWaiting.has(id) ? [] : [key])));
  }
  return lost;
}

/** Each step may be done again. */
export async function giveUpEvents({ db, clickhouse }: Stores, { unknown, lost }: EventDifference): Promise<void> {
  for (const which of unknown)
    await clickhouse.command(
      `ALTER TABLE ci.events DELETE
       WHERE repository_id = {repository_id: UUID}
         AND (received_at > fromUnixTimestamp64Milli({after_ms: Int64}, 'UTC') OR id IN {ids: Array(UInt64)})
       SETTINGS mutations_sync = 2`,
      { ...which },
    );
  for (const some of piecesOf(lost, IDS_AT_ONCE)) {
    await onPostgres(() => db.delete(eventKeys).where(inArray(eventKeys.key, some)));
  }
}

/** Notes again of which pull requests the log has the merge, or is about to get it: an import adds only what is missing. */
export async function renoteMerges({ db, clickhouse }: Stores): Promise<void> {
  const logged = await clickhouse.select(loggedMerges, {});
  await onPostgres(() =>
    db.transaction(async (tx) => {
      await tx.update(pullRequests).set({ isMergeLogged: false }).where(eq(pullRequests.isMergeLogged, true));
      const waiting = await tx
        .select({ repositoryId: eventOutbox.repositoryId, number: eventOutbox.pullRequest })
        .from(eventOutbox)
        .where(and(eq(eventOutbox.type, 'action.merge'), isNotNull(eventOutbox.pullRequest)));
      const known = [
        ...logged.map(({ repository_id: id, numbers }) => ({ id, numbers })),
        ...waiting.map(({ repositoryId: id, number }) => ({ id, numbers: number === null ? [] : [number] })),
      ];
      for (const { id, numbers } of known)
        for (const some of piecesOf(numbers, IDS_AT_ONCE)) await noteMerges(tx, id, some);
    }),
  );
}
