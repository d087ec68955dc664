/** Recorded blocks that are not stored yet. The ledger records and stores them. */
import { and, isNull, sql } from 'drizzle-orm';
import { type Database, onPostgres } from '../postgres/client.ts';
import { ingestBlocks } from '../postgres/schema.ts';

/** Blocks older than `ageSeconds` that are not stored, oldest first. */
export async function unstoredBlocks(db: Database, ageSeconds: number, limit: number): Promise<number[]> {
  const rows = await onPostgres(() =>
    db
      .select({ blockId: ingestBlocks.blockId })
      .from(ingestBlocks)
      .where(and(isNull(ingestBlocks.storedAt), sql`created_at <= now() - make_interval(secs => ${ageSeconds})`))
      .orderBy(ingestBlocks.blockId)
      .limit(limit),
  );
  return rows.map(({ blockId }) => blockId);
}
