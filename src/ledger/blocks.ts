/**
 * Recorded blocks: which of them are unfinished, what they contain, when they are done. The ledger records and stores
 * them.
 */
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import { type Database, onPostgres } from '../postgres/client.ts';
import { ingestBlocks } from '../postgres/schema.ts';

const decompress = promisify(zstdDecompress);

export class BlockStore {
  constructor(private readonly db: Database) {}

  /** Blocks older than `ageSeconds` that are not stored or not evaluated, oldest first. */
  async leftBehind(ageSeconds: number, limit: number): Promise<{ blockId: number; isStored: boolean }[]> {
    const rows = await onPostgres(() =>
      this.db
        .select({ blockId: ingestBlocks.blockId, storedAt: ingestBlocks.storedAt })
        .from(ingestBlocks)
        .where(and(isNull(ingestBlocks.evaluatedAt), sql`created_at <= now() - make_interval(secs => ${ageSeconds})`))
        .orderBy(ingestBlocks.blockId)
        .limit(limit),
    );
    return rows.map((row) => ({ blockId: row.blockId, isStored: row.storedAt !== null }));
  }

  /** The lines of a block, or undefined once it is evaluated. */
  async lines(blockId: number): Promise<string | undefined> {
    const [block] = await onPostgres(() =>
      this.db.select({ body: ingestBlocks.body }).from(ingestBlocks).where(eq(ingestBlocks.blockId, blockId)),
    );
    return block?.body ? linesOf(block.body) : undefined;
  }

  /** Nothing is left to do for these blocks, so their bodies are deleted. */
  async markEvaluated(blockIds: readonly number[]): Promise<void> {
    if (blockIds.length === 0) return;
    await onPostgres(() =>
      this.db
        .update(ingestBlocks)
        .set({ evaluatedAt: sql`now()`, body: null })
        .where(inArray(ingestBlocks.blockId, [...blockIds])),
    );
  }
}

/** Throws for an evaluated block, whose body has been deleted. */
export async function linesOf(body: Uint8Array | null): Promise<string> {
  if (!body) throw new Error('a block without a body cannot be replayed');
  return (await decompress(body)).toString('utf8');
}
