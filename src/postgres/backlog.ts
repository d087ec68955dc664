/** Unfinished work that PostgreSQL knows about, for metrics and `ci-insights doctor`. One bounded statement. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Executor, onPostgres } from './client.ts';
import { isRelay, RELAY } from './outbox-consumers.ts';
import { failingPulls } from './pull-comments.ts';
import { type RefusedBlocks, readRefusedBlocks } from './refused-blocks.ts';
import { readFailedRenames } from './renames.ts';
import { blockParts, deadLetters, eventOutbox, formerGroups, ingestBlocks, outboxConsumers } from './schema.ts';

/** Events that wait for the event log, or for that of the shard for which most wait. */
export const waitingForLog = (waiting: Readonly<Record<string, number>>): number =>
  Math.max(0, ...Object.entries(waiting).flatMap(([name, events]) => (isRelay(name) ? [events] : [])));

export interface Backlog {
  /** Blocks written down but not stored, and blocks stored but not evaluated. */
  blocksUnstored: number;
  blocksUnevaluated: number;
  /** Age of the oldest block that is not stored; 0 if there is none. */
  unstoredSeconds: number;
  refused: RefusedBlocks;
  /** Age of the oldest block stored but not evaluated; 0 if there is none. */
  evaluationLagSeconds: number;
  /** Events that each consumer of the outbox has yet to take. */
  eventsWaiting: Readonly<Record<string, number>>;
  /** Age of the oldest that the event log does not show yet; 0 if there is none. */
  relayLagSeconds: number;
  deadLettersWaiting: number;
  /** Pull requests whose comment or check could not be written yet, and one reason. */
  pullsFailing: { count: number; reason: string | null };
  /** Renames of tests that could not be applied, and why one could not. */
  renamesFailed: { count: number; reason: string | null };
  /** Former failure groups of tests whose state waits to be derived, after an upgrade of the fingerprint. */
  groupsMoving: number;
  /** Connections of the service that wait for a lock. */
  lockWaits: number;
}

/** Counting further would cost more than the number is worth. */
const COUNT_MAX = 10_000;

const rowSchema = z.object({
  blocks_unstored: z.coerce.number(),
  blocks_unevaluated: z.coerce.number(),
  unstored_seconds: z.coerce.number(),
  evaluation_lag: z.coerce.number(),
  events_waiting: z.record(z.string(), z.number()),
  relay_lag: z.coerce.number(),
  dead_letters: z.coerce.number(),
  groups_moving: z.coerce.number(),
  lock_waits: z.coerce.number(),
});

/** @param now Milliseconds since the epoch, by the clock that stamped the events. */
export async function readBacklog(db: Executor, now: number): Promise<Backlog> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      with blocks as (
        select created_at, stored_at from ${ingestBlocks} where stored_at is null
          or block_id in (select block_id from ${blockParts}) limit ${COUNT_MAX}
      )
      select
        (select count(*) from blocks where stored_at is null) as blocks_unstored,
        (select count(stored_at) from blocks) as blocks_unevaluated,
        (select coalesce(extract(epoch from now() - min(created_at)), 0) from blocks where stored_at is null)
          as unstored_seconds,
        (select coalesce(extract(epoch from now() - min(stored_at)), 0) from blocks) as evaluation_lag,
        (select coalesce(json_object_agg(name, least(${COUNT_MAX}, unplaced + (
          select count(*) from (select from ${eventOutbox} where place > position limit ${COUNT_MAX}) as placed
        ))), '{}') from ${outboxConsumers}, (
          select count(*) as unplaced from (select from ${eventOutbox} where place is null limit ${COUNT_MAX}) as events
        ) as newest) as events_waiting,
        coalesce(extract(epoch from ${new Date(now).toISOString()}::timestamptz - least(
          (select written_at from ${eventOutbox} where place is null order by id limit 1),
          (
            select written_at from ${eventOutbox}
            where place > (select min(position) from ${outboxConsumers} where name = ${RELAY} or name like ${`${RELAY}-%`}) order by place limit 1
          )
        )), 0) as relay_lag,
        (select count(*) from (
          select 1 from ${deadLetters} where replayed_at is null limit ${COUNT_MAX}
        ) as letters) as dead_letters,
        (select count(*) from (
          select 1 from ${formerGroups} where is_pending limit ${COUNT_MAX}
        ) as moving) as groups_moving,
        (select count(*) from pg_stat_activity
          where datname = current_database() and application_name = 'ci-insights' and wait_event_type = 'Lock') as lock_waits`),
  );
  const row = rowSchema.parse(rows[0]);
  return {
    blocksUnstored: row.blocks_unstored,
    blocksUnevaluated: row.blocks_unevaluated,
    unstoredSeconds: Math.max(row.unstored_seconds, 0),
    refused: await readRefusedBlocks(db),
    evaluationLagSeconds: Math.max(row.evaluation_lag, 0),
    eventsWaiting: row.events_waiting,
    relayLagSeconds: Math.max(row.relay_lag, 0),
    deadLettersWaiting: row.dead_letters,
    pullsFailing: await failingPulls(db),
    renamesFailed: await readFailedRenames(db, now),
    groupsMoving: row.groups_moving,
    lockWaits: row.lock_waits,
  };
}
