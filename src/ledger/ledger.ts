/**
 * Makes ingestion exactly-once in effect. One PostgreSQL transaction claims executions and records their block. The
 * block is then inserted under its own deduplication token, and any process may replay it.
 *
 *     claimed and recorded ──insert, own token──► stored ──evaluation, part by part──► evaluated (the parts are deleted)
 *
 * Everything else relies on these invariants (docs/architecture.md says why each holds):
 * 1. An execution is claimed by at most one block: claims of a source are read and written under its lock.
 * 2. A block's lines never change between its first insert and its last replay.
 * 3. A job completes only when every block that claims one of its executions is stored.
 * 4. A block that is not stored can be retracted whole, claims included: by (3) its jobs are still in the queue.
 */
import { and, eq, isNull, sql } from 'drizzle-orm';
import { type ClickHouse, isPermanentInsertError } from '../clickhouse/client.ts';
import { insertRefusal } from '../clickhouse/trouble.ts';
import type { Clock } from '../clock.ts';
import {
  blockBytes,
  blockExecutions,
  blockInsertSeconds,
  executionsDuplicate,
  executionsStored,
} from '../observability/metrics.ts';
import { type Database, type Executor, isRefusedData, onPostgres, sqlState } from '../postgres/client.ts';
import { type Closed, closedAmong } from '../postgres/closed-repositories.ts';
import { type Installation, readInstallation } from '../postgres/installation.ts';
import { LEDGER_LOCK, REBUILD_LOCK } from '../postgres/locks.ts';
import { notifyStored } from '../postgres/partitions.ts';
import { noteRefusal } from '../postgres/refused-blocks.ts';
import { blockParts, ingestBlocks, uploadChunks } from '../postgres/schema.ts';
import { valuesOf } from './block.ts';
import { confirmReceipts, receiptOf, recordReceipts } from './chunk-receipts.ts';
import { readClaims, recordClaims, retractClaims } from './claim-store.ts';
import { lockBuckets } from './claims.ts';
import { recordConflicts } from './conflicts.ts';
import { inBlockOrder, type NewPart, readBlock, writeParts } from './parts.ts';
import type { PreparedChunk, PreparedExecution } from './prepare.ts';
import { UnclaimedExecutions } from './unclaimed.ts';

/** A store will always refuse this chunk: it becomes a dead letter. The message says which store, and why. */
export class UnstorableChunk extends Error {
  override name = 'UnstorableChunk';
}

/** The repository of this chunk was deleted after the chunk was prepared. */
export class RepositoryDeleted extends Error {
  override name = 'RepositoryDeleted';
}

/** Stored rows of this chunk's repository are being moved: the chunk is stored afterwards. */
export class RepositoryMoving extends Error {
  override name = 'RepositoryMoving';
  constructor() {
    super('tests of the repository are being renamed, which takes some seconds');
  }
}

/** Null for trouble with a store, which passes. PostgreSQL's own message quotes the statement with its values. */
function refusalOf(error: unknown): string | null {
  if (isPermanentInsertError(error)) return `ClickHouse refuses the chunk: ${error.message}`;
  return isRefusedData(error) ? `PostgreSQL refuses the chunk (SQLSTATE ${sqlState(error)})` : null;
}

interface StoredBlock {
  blockId: number;
  executions: number;
}

/** The result of one chunk. With an error, it is unstorable, of a repository that takes none, or will be retried. */
export type WriteOutcome = { chunk: PreparedChunk; error?: unknown };

interface RecordedBlock {
  blockId: number;
  lines: string;
}

interface Claimed {
  recorded?: RecordedBlock;
  /** Other blocks, not stored yet, that claim some of the executions. */
  pending: number[];
  duplicates: number;
  closed: ReadonlyMap<string, Closed>;
}

export interface LedgerDeps {
  db: Database;
  clickhouse: ClickHouse;
  clock: Clock;
  /** Called with every block that this process has stored. */
  onStored?: (block: StoredBlock) => void;
}

export class Ledger {
  #installation: Installation | undefined;

  constructor(private readonly deps: LedgerDeps) {}

  /**
   * Stores what is new in the chunks as one block. Returns once everything in them, new or claimed before, is stored.
   * Throws {@link StoreUnavailable} when a store does not answer; repeating the call finishes the work.
   *
   * @param shard that stores the repositories of all chunks: a block on several would wait for each of them
   */
  async write(chunks: readonly PreparedChunk[], shard = 0): Promise<WriteOutcome[]> {
    try {
      const closed = await this.#writeTogether(chunks, shard);
      return chunks.map((chunk) => {
        const why = closed.get(chunk.repositoryId);
        if (why === undefined) return { chunk };
        return { chunk, error: why === 'deleted' ? new RepositoryDeleted() : new RepositoryMoving() };
      });
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === null) throw error;
      const [only] = chunks;
      if (chunks.length === 1 && only) return [{ chunk: only, error: new UnstorableChunk(refusal, { cause: error }) }];
      // One chunk spoils the block. Write each alone, so that the others are stored.
      const outcomes: WriteOutcome[] = [];
      for (const chunk of chunks) outcomes.push(...(await this.write([chunk], shard)));
      return outcomes;
    }
  }

  /** @returns the closed repositories among those of the chunks; nothing is stored for them */
  async #writeTogether(chunks: readonly PreparedChunk[], shard: number): Promise<ReadonlyMap<string, Closed>> {
    const { recorded, pending, duplicates, closed } = await onPostgres(() =>
      this.deps.db.transaction((tx) => this.#claim(tx, chunks, shard)),
    );
    executionsDuplicate.inc(duplicates);
    // When ClickHouse refuses another process's block, it is retracted with its claims, and we claim its executions.
    for (const blockId of pending) if (!(await this.replay(blockId))) return this.#writeTogether(chunks, shard);
    if (recorded) await this.#store(recorded.blockId, recorded);
    await this.#confirm(chunks.filter(({ repositoryId }) => !closed.has(repositoryId)));
    return closed;
  }

  /** Claims what is new and records its block. Also returns the unstored blocks that claim the rest. */
  async #claim(tx: Executor, all: readonly PreparedChunk[], shard: number): Promise<Claimed> {
    const sources = new Set<string>();
    for (const { executions } of all) for (const { sourceKey } of executions) sources.add(sourceKey);
    const sourceKeys = [...sources];
    await tx.execute(
      sql`select pg_advisory_xact_lock(${LEDGER_LOCK}, bucket) from unnest(${sql.param(lockBuckets(sourceKeys))}::int[]) as bucket`,
    );
    // Under the locks: who closes a repository waits for those that were taken before (`awaitClaims`).
    const closed = await closedAmong(tx, [...new Set(all.map(({ repositoryId }) => repositoryId))]);
    const chunks = all.filter(({ repositoryId }) => !closed.has(repositoryId));
    const { claimed, unstored } = await readClaims(tx, sourceKeys);
    const unclaimed = new UnclaimedExecutions(claimed);
    const parts = new Map<string, NewPart>();
    const conflicts: PreparedChunk[] = [];
    const receipts = chunks.map((chunk) => {
      const { byLeg, hasNewConflict, ...counts } = unclaimed.of(chunk);
      for (const [leg, executions] of byLeg) addTo(parts, chunk, executions, leg);
      if (hasNewConflict && !chunk.isImported) conflicts.push(chunk);
      return receiptOf(chunk, counts);
    });
    const recorded =
      parts.size === 0 ? undefined : await recordBlock(tx, shard, inBlockOrder(parts.values()), unclaimed);
    const duplicates = await recordReceipts(tx, receipts, recorded?.blockId ?? null);
    const pending = [...unclaimed.duplicatesIn(unstored)];
    await recordConflicts(tx, conflicts, this.deps.clock.now());
    return { ...(recorded && { recorded }), pending, duplicates, closed };
  }

  /**
   * Inserts a block that is not stored yet. The row lock saves others the same work, and the token makes it harmless.
   */
  async #store(blockId: number, known?: RecordedBlock): Promise<void> {
    try {
      const done = await onPostgres(() =>
        this.deps.db.transaction(async (tx) => {
          await tx.execute(sql`select pg_advisory_xact_lock_shared(${REBUILD_LOCK})`);
          // The process that recorded the block still has its lines; reading them back would cost as much as the
          // insert.
          const [block] = await tx
            .select({ executions: ingestBlocks.executions, shard: ingestBlocks.shard })
            .from(ingestBlocks)
            .where(and(eq(ingestBlocks.blockId, blockId), isNull(ingestBlocks.storedAt)))
            .for('update');
          if (!block) return undefined;
          const lines = known?.lines ?? (await readBlock(tx, blockId));
          const sentAt = performance.now();
          await this.deps.clickhouse.insert('ci.ingest', lines, await this.#token(blockId), block.shard);
          blockInsertSeconds.observe((performance.now() - sentAt) / 1_000);
          await tx.update(ingestBlocks).set({ storedAt: sql`now()` }).where(eq(ingestBlocks.blockId, blockId));
          await notifyStored(tx);
          return { executions: block.executions, bytes: Buffer.byteLength(lines) };
        }),
      );
      if (!done) return;
      executionsStored.inc(done.executions);
      blockExecutions.observe(done.executions);
      blockBytes.observe(done.bytes);
      this.deps.onStored?.({ blockId, executions: done.executions });
    } catch (error) {
      if (isPermanentInsertError(error)) await this.#retract(blockId);
      else await this.#noteRefusal(blockId, error);
      throw error;
    }
  }

  /** For those who ask why nothing is stored. */
  async #noteRefusal(blockId: number, error: unknown): Promise<void> {
    const reason = insertRefusal(error);
    if (reason === undefined) return;
    // The insert has failed already, and is tried again whether this is noted or not.
    await noteRefusal(this.deps.db, blockId, reason).catch(() => {});
  }

  /** Identifies the block for good, and among the blocks of every PostgreSQL that this ClickHouse has ever served. */
  async #token(blockId: number): Promise<string> {
    this.#installation ??= await readInstallation(this.deps.db);
    return `b${blockId}-${this.#installation.id}`;
  }

  /**
   * Removes a block that ClickHouse refuses, with its claims and receipts. Its jobs will be written again, one by one.
   */
  async #retract(blockId: number): Promise<void> {
    await onPostgres(() =>
      this.deps.db.transaction(async (tx) => {
        const removed = await tx
          .delete(ingestBlocks)
          .where(and(eq(ingestBlocks.blockId, blockId), isNull(ingestBlocks.storedAt)))
          .returning({ blockId: ingestBlocks.blockId });
        if (removed.length === 0) return;
        await tx.delete(blockParts).where(eq(blockParts.blockId, blockId));
        await retractClaims(tx, blockId);
        await tx.delete(uploadChunks).where(eq(uploadChunks.blockId, blockId));
      }),
    );
  }

  /** Marks the receipts of the chunks as stored. */
  async #confirm(chunks: readonly PreparedChunk[]): Promise<void> {
    await onPostgres(() => confirmReceipts(this.deps.db, chunks, this.deps.clock.now()));
  }

  /** Stores a block that another process left behind. Returns false when ClickHouse refused it and it was retracted. */
  async replay(blockId: number): Promise<boolean> {
    try {
      await this.#store(blockId);
      return true;
    } catch (error) {
      if (isPermanentInsertError(error)) return false;
      throw error;
    }
  }
}

function addTo(
  parts: Map<string, NewPart>,
  chunk: PreparedChunk,
  executions: readonly PreparedExecution[],
  leg: number,
): void {
  const { repositoryId } = chunk;
  const part = parts.get(repositoryId) ?? { repositoryId, isImported: true, executions: 0, lines: '' };
  parts.set(repositoryId, part);
  part.isImported &&= chunk.isImported;
  part.executions += executions.length;
  part.lines += `${JSON.stringify(valuesOf(chunk, executions, leg))}\n`;
}

/** Records a block with its parts and claims. */
async function recordBlock(
  tx: Executor,
  shard: number,
  parts: readonly NewPart[],
  unclaimed: UnclaimedExecutions,
): Promise<RecordedBlock> {
  const [block] = await tx
    .insert(ingestBlocks)
    .values({ shard, executions: unclaimed.count })
    .returning({ blockId: ingestBlocks.blockId });
  if (!block) throw new Error('the block was not inserted');
  await writeParts(tx, block.blockId, parts);
  await recordClaims(tx, block.blockId, unclaimed.claims);
  return { blockId: block.blockId, lines: parts.map(({ lines }) => lines).join('') };
}
