/** Blocks that ClickHouse refuses to store. They wait, with the jobs behind them, until it takes them. */
import { and, eq, isNull, or, sql } from 'drizzle-orm';
import { z } from 'zod';
import { cutText } from '../domain/text.ts';
import { type Executor, onPostgres } from './client.ts';
import { ingestBlocks } from './schema.ts';

export interface RefusedBlocks {
  count: number;
  /** The oldest of them, a few. */
  ids: readonly number[];
  /** Age of the oldest; 0 if there is none. */
  seconds: number;
  /** The last refusal of ClickHouse; null if there is none. */
  reason: string | null;
}

const REASON_BYTES_MAX = 1_000;
/** A store that refuses does so many times a second. */
const NOTED_EVERY_SECONDS = 10;
const IDS_MAX = 5;
const COUNT_MAX = 10_000;

/** Notes that ClickHouse has refused a block, unless that was noted just now. */
export async function noteRefusal(db: Executor, blockId: number, reason: string): Promise<void> {
  await onPostgres(() =>
    db
      .update(ingestBlocks)
      .set({ refusedAt: sql`now()`, refusal: cutText(reason, REASON_BYTES_MAX) })
      .where(
        and(
          eq(ingestBlocks.blockId, blockId),
          isNull(ingestBlocks.storedAt),
          or(
            isNull(ingestBlocks.refusedAt),
            sql`${ingestBlocks.refusedAt} < now() - make_interval(secs => ${NOTED_EVERY_SECONDS})`,
          ),
        ),
      ),
  );
}

const rowSchema = z.object({
  count: z.coerce.number(),
  ids: z.array(z.coerce.number()),
  seconds: z.coerce.number(),
  reason: z.string().nullable(),
});

export async function readRefusedBlocks(db: Executor): Promise<RefusedBlocks> {
  const { rows } = await onPostgres(() =>
    db.execute(sql`
      with refused as (
        select block_id, created_at, refused_at, refusal from ${ingestBlocks}
        where stored_at is null and refused_at is not null order by created_at limit ${COUNT_MAX}
      )
      select
        (select count(*) from refused) as count,
        array(select block_id from refused order by created_at, block_id limit ${IDS_MAX}) as ids,
        (select coalesce(extract(epoch from now() - min(created_at)), 0) from refused) as seconds,
        (select refusal from refused order by refused_at desc limit 1) as reason`),
  );
  return rowSchema.parse(rows[0]);
}

/** A refusal that passes within this time is nothing to tell anyone. */
const TOLD_AFTER_SECONDS = 60;

/** Whether ClickHouse takes what is to be stored, or has refused it for a short time only. */
export async function isStoring(db: Executor): Promise<boolean> {
  return (await readRefusedBlocks(db)).seconds < TOLD_AFTER_SECONDS;
}
