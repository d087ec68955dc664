/** Completes the batch of events that the relay had in hand; see repair.ts. */
import { v7 as uuid7 } from 'uuid';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import { onPostgres } from '../postgres/client.ts';
import { acknowledge, batchInHand, deleteTaken, type PendingEvent, RELAY } from '../postgres/outbox-consumers.ts';
import { eventLine } from './event-line.ts';
import type { RepairDeps } from './repair.ts';

const stored = defineQuery(
  'events/stored',
  { repository_ids: 'Array(UUID)', from_ms: 'Int64', to_ms: 'Int64', ids: 'Array(UInt64)' },
  z.object({ id: z.number() }),
);

/** All of the batch before anybody reads: no event becomes visible before an earlier one. */
export async function repairEvents({ clickhouse, db, log }: RepairDeps): Promise<void> {
  await onPostgres(() =>
    db.transaction(async (tx) => {
      const batch = await batchInHand(tx, RELAY);
      if (!batch) return;
      const isStored = await storedOf(clickhouse, batch.events);
      const missing = batch.events.filter(({ id }) => !isStored.has(id));
      if (missing.length > 0)
        await clickhouse.insert('ci.events', missing.map(eventLine).join('\n'), `repair-${uuid7()}`);
      await acknowledge(tx, RELAY, batch);
      log.info(
        { events: batch.events.length, missing: missing.length },
        'completed a batch of events that was being stored when the service stopped',
      );
    }),
  );
  await onPostgres(() => deleteTaken(db));
}

async function storedOf(clickhouse: ClickHouse, events: readonly PendingEvent[]): Promise<ReadonlySet<number>> {
  if (events.length === 0) return new Set();
  const times = events.map(({ receivedAt }) => receivedAt.getTime());
  const rows = await clickhouse.select(stored, {
    repository_ids: [...new Set(events.map(({ repositoryId }) => repositoryId))],
    from_ms: Math.min(...times),
    to_ms: Math.max(...times),
    ids: events.map(({ id }) => id),
  });
  return new Set(rows.map(({ id }) => id));
}
