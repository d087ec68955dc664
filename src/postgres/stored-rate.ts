/** How fast results are being stored, by all processes together: from the ledger's newest blocks and receipts. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Executor, onPostgres } from './client.ts';
import { ingestBlocks, uploadChunks } from './schema.ts';

/** Minutes of the series. */
export const RATE_MINUTES = 30;
/** Blocks read at most, by their primary key: half an hour of a service that stores eleven a second. */
const BLOCKS_MAX = 20_000;
/** The newest receipts, whose times say how long an upload takes. */
const RECEIPTS_MAX = 1_000;

export interface StoredRate {
  /** By the clock of PostgreSQL; milliseconds since the epoch. */
  now: number;
  /** Executions that were stored in each of the last minutes, the newest first. Fewer minutes if there are very many blocks. */
  minutes: readonly number[];
  /** From arrival to storage, of the newest uploads of these minutes; null if there are none. */
  seconds: { median: number; p95: number } | null;
}

const rowSchema = z.object({
  now_ms: z.coerce.number(),
  minutes: z.record(z.string(), z.coerce.number()).nullable(),
  complete: z.coerce.number(),
  median: z.coerce.number().nullable(),
  p95: z.coerce.number().nullable(),
});

export async function readStoredRate(db: Executor): Promise<StoredRate> {
  const { rows } = await onPostgres(() => db.execute(storedRateStatement));
  const { now_ms: now, minutes, complete, median, p95 } = rowSchema.parse(rows[0]);
  return {
    now,
    minutes: Array.from({ length: Math.min(RATE_MINUTES, complete) }, (_, ago) => minutes?.[ago] ?? 0),
    seconds: median === null || p95 === null ? null : { median: Math.max(median, 0), p95: Math.max(p95, 0) },
  };
}

/** Blocks are numbered as they are made, so the newest are a range of the primary key. */
const storedRateStatement = sql`
  with newest as (
    select executions, floor(extract(epoch from now() - stored_at) / 60)::int as minutes_ago
    from ${ingestBlocks} order by block_id desc limit ${BLOCKS_MAX}
  ), minutes as (
    select minutes_ago, sum(executions) as executions from newest
    where minutes_ago between 0 and ${RATE_MINUTES - 1} group by minutes_ago
  ), uploads as (
    select extract(epoch from stored_at - received_at) as seconds from ${uploadChunks}
    where received_at > now() - make_interval(mins => ${RATE_MINUTES}) and stored_at is not null
    order by received_at desc limit ${RECEIPTS_MAX}
  )
  select extract(epoch from now()) * 1000 as now_ms,
    (select json_object_agg(minutes_ago, executions) from minutes) as minutes,
    (select case when count(*) < ${BLOCKS_MAX} then ${RATE_MINUTES} else coalesce(max(minutes_ago), 0) end from newest)
      as complete,
    (select percentile_cont(0.5) within group (order by seconds) from uploads) as median,
    (select percentile_cont(0.95) within group (order by seconds) from uploads) as p95`;
