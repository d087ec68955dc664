/**
 * Recorded blocks: which of them are unfinished, what they contain, when they are done. The ledger records and stores
 * them.
 */
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import { ingestBlocks, ingestClaims } from '../postgres/schema.ts';
import { unpackIds } from './claims.ts';

const decompress = promisify(zstdDecompress);

/** A stored block that is not evaluated yet. */
export interface BlockLines {
  blockId: number;
  lines: string;
  /** The state of the tests counts it already: an evaluation was cut off. */
  isCounted: boolean;
}

export class BlockStore {
  constructor(private readonly db: Database) {}

  /** Blocks older than `ageSeconds` that are not stored or not evaluated, oldest first. */
  async leftBehind(
    ageSeconds: number,
    limit: number,
  ): Promise<{ blockId: number; executions: number; isStored: boolean }[]> {
    const rows = await onPostgres(() =>
      this.db
        .select({
          blockId: ingestBlocks.blockId,
          executions: ingestBlocks.executions,
          storedAt: ingestBlocks.storedAt,
        })
        .from(ingestBlocks)
        .where(and(isNull(ingestBlocks.evaluatedAt), sql`created_at <= now() - make_interval(secs => ${ageSeconds})`))
        .orderBy(ingestBlocks.blockId)
        .limit(limit),
    );
    return rows.map(({ storedAt, ...block }) => ({ ...block, isStored: storedAt !== null }));
  }

  /** Blocks that are stored, but not evaluated, oldest first. */
  async storedOnly(limit: number): Promise<number[]> {
    const rows = await onPostgres(() =>
      this.db
        .select({ blockId: ingestBlocks.blockId })
        .from(ingestBlocks)
        .where(and(isNull(ingestBlocks.evaluatedAt), isNotNull(ingestBlocks.storedAt)))
        .orderBy(ingestBlocks.blockId)
        .limit(limit),
    );
    return rows.map(({ blockId }) => blockId);
  }

  /** What a block holds, unless it is evaluated. */
  async lines(blockId: number): Promise<BlockLines | undefined> {
    const [row] = await onPostgres(() =>
      this.db
        .select({ body: ingestBlocks.body, countedAt: ingestBlocks.countedAt })
        .from(ingestBlocks)
        .where(and(eq(ingestBlocks.blockId, blockId), isNull(ingestBlocks.evaluatedAt))),
    );
    return row && { blockId, lines: await linesOf(row.body), isCounted: row.countedAt !== null };
  }

  /** Whether blocks that are not evaluated yet are counted. No other process changes that until the end of the transaction. */
  async lockCounted(tx: Executor, blockIds: readonly number[]): Promise<ReadonlyMap<number, boolean>> {
    const rows = await tx
      .select({ blockId: ingestBlocks.blockId, countedAt: ingestBlocks.countedAt })
      .from(ingestBlocks)
      .where(and(inArray(ingestBlocks.blockId, [...blockIds]), isNull(ingestBlocks.evaluatedAt)))
      .orderBy(ingestBlocks.blockId)
      .for('update');
    return new Map(rows.map(({ blockId, countedAt }) => [blockId, countedAt !== null]));
  }

  /**
   * Reads the ids of all executions in blocks that are not counted yet, but for these blocks: some are in ClickHouse. Every
   * call adds what was stored since the last one. What others counted meanwhile stays among them: it is not of repositories
   * whose evaluation lock the caller holds.
   */
  uncountedExecutions(tx: Executor, except: readonly number[]): () => Promise<ReadonlySet<bigint>> {
    const known = new Set(except);
    const uncounted = new Set<bigint>();
    return async () => {
      const waiting = await tx
        .select({ blockId: ingestBlocks.blockId })
        .from(ingestBlocks)
        .where(and(isNull(ingestBlocks.evaluatedAt), isNull(ingestBlocks.countedAt)));
      const added = waiting.flatMap(({ blockId }) => (known.has(blockId) ? [] : [blockId]));
      if (added.length === 0) return uncounted;
      const rows = await tx
        .select({ ids: ingestClaims.ids })
        .from(ingestClaims)
        .where(inArray(ingestClaims.blockId, added));
      for (const { ids } of rows) for (const id of unpackIds(ids)) uncounted.add(id);
      for (const blockId of added) known.add(blockId);
      return uncounted;
    };
  }

  /** In the transaction that counts their executions. */
  async markCounted(tx: Executor, blockIds: readonly number[]): Promise<void> {
    await tx
      .update(ingestBlocks)
      .set({ countedAt: sql`now()` })
      .where(and(inArray(ingestBlocks.blockId, [...blockIds]), isNull(ingestBlocks.countedAt)));
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
