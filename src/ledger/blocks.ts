/** Recorded blocks that are not stored yet. The ledger records and stores them. */
import { and, isNull, notInArray, sql } from 'drizzle-orm';
import { type Database, onPostgres } from '../postgres/client.ts';
import { ingestBlocks } from '../postgres/schema.ts';

/** A block and the shard that is to store it. */
export interface UnstoredBlock {
  blockId: number;
  shard: number;
}

/** Blocks older than `ageSeconds` that are not stored, oldest first, except for those of some shards. */
export function unstoredBlocks(
  db: Database,
  ageSeconds: number,
  { limit, exceptShards }: { limit: number; exceptShards: readonly number[] },
): Promise<UnstoredBlock[]> {
  return onPostgres(() =>
    db
      .select({ blockId: ingestBlocks.blockId, shard: ingestBlocks.shard })
      .from(ingestBlocks)
      .where(
        and(
          isNull(ingestBlocks.storedAt),
          sql`created_at <= now() - make_interval(secs => ${ageSeconds})`,
          notInArray(ingestBlocks.shard, [...exceptShards]),
        ),
      )
      .orderBy(ingestBlocks.blockId)
      .limit(limit),
  );
}
