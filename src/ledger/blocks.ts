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

export interface UnfinishedBlock {
  blockId: number;
  executions: number;
  /** Stored, but not evaluated. */
  isStored: boolean;
}

export class BlockStore {
  constructor(private readonly db: Database) {}

  /** Blocks older than `ageSeconds` that are not stored or not evaluated, oldest first. */
  async leftBehind(ageSeconds: number, limit: number): Promise<UnfinishedBlock[]> {
    return onPostgres(() =>
      this.db
        .select({
          blockId: ingestBlocks.blockId,
          executions: ingestBlocks.executions,
          isStored: sql<boolean>`stored_at is not null`,
        })
        .from(ingestBlocks)
        .where(and(isNull(ingestBlocks.evaluatedAt), sql`created_at <= now() - make_interval(secs => ${ageSeconds})`))
        .orderBy(ingestBlocks.blockId)
        .limit(limit),
    );
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
