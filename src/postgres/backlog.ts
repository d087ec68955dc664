/** Work that PostgreSQL knows of and that is not finished: for metrics and `ci-insights doctor`. One statement, bounded. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';

/** What PostgreSQL knows of work that is not finished. */
export interface BacklogReading {
  /** Blocks that are written down and not stored, and those stored and not evaluated. */
  blocksUnstored: number;
  blocksUnevaluated: number;
  /** Age of the oldest stored block that is not evaluated, in seconds; 0 without one. */
  evaluationLagSeconds: number;
  /** Events in the outbox, and the age of the oldest in seconds. */
  eventsWaiting: number;
  relayLagSeconds: number;
  deadLettersWaiting: number;
}

import { type Executor, onPostgres } from './client.ts';
import { deadLetters, eventOutbox, ingestBlocks } from './schema.ts';

/** Counting further would cost more than it tells. */
const COUNT_MAX = 10_000;

const rowSchema = z.object({
  blocks_unstored: z.coerce.number(),
  blocks_unevaluated: z.coerce.number(),
  evaluation_lag: z.coerce.number(),
  events_waiting: z.coerce.number(),
  relay_lag: z.coerce.number(),
  dead_letters: z.coerce.number(),
});

/** @param now Milliseconds since the epoch, by the clock that stamped the events. */
export async function readBacklog(db: Executor, now: number): Promise<BacklogReading> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      with blocks as (
        select stored_at from ${ingestBlocks} where evaluated_at is null limit ${COUNT_MAX}
      )
      select
        (select count(*) from blocks where stored_at is null) as blocks_unstored,
        (select count(stored_at) from blocks) as blocks_unevaluated,
        (select coalesce(extract(epoch from now() - min(stored_at)), 0) from blocks) as evaluation_lag,
        (select count(*) from (select 1 from ${eventOutbox} limit ${COUNT_MAX}) as events) as events_waiting,
        coalesce((
          select extract(epoch from ${new Date(now).toISOString()}::timestamptz - received_at)
          from ${eventOutbox} order by id limit 1
        ), 0) as relay_lag,
        (select count(*) from (
          select 1 from ${deadLetters} where replayed_at is null limit ${COUNT_MAX}
        ) as letters) as dead_letters`),
  );
  const row = rowSchema.parse(rows[0]);
  return {
    blocksUnstored: row.blocks_unstored,
    blocksUnevaluated: row.blocks_unevaluated,
    evaluationLagSeconds: Math.max(row.evaluation_lag, 0),
    eventsWaiting: row.events_waiting,
    relayLagSeconds: Math.max(row.relay_lag, 0),
    deadLettersWaiting: row.dead_letters,
  };
}
