/** Merges the chunks of many jobs into large blocks: ClickHouse's cost is per insert, not per row. */

import type { ClickHouse } from '../src/clickhouse/client.ts';
import type { WriteOutcome } from '../src/ledger/ledger.ts';
import type { PreparedChunk } from '../src/ledger/prepare.ts';

/** Blocks of this size take at most 290 MiB of memory; blocks twice as large take 518 MiB. */
export const BLOCK_EXECUTIONS_MAX = 10_000;
const BLOCK_BYTES_MAX = 8 * 1024 * 1024;
/** A worker has so many small chunks in hand: it fetches no more before these are written. */
const BLOCK_CHUNKS_MAX = 256;
/** How long a block that is not full waits for more chunks. */
const LINGER_MS = 60;
/**
 * How long it waits while small chunks keep arriving. A block costs as much as thousands of executions, and with one
 * every 60 ms, an execution in uploads of 40 cost eight times as much as in uploads of 2,000.
 */
const BUSY_LINGER_MS_MAX = 500;
/** The last block held so many chunks, not long ago: more will come. */
const BUSY_CHUNKS_MIN = 4;
const BUSY_MS = 1_000;
/** Blocks written at a time: one is claimed while another is inserted. */
const WRITES_MAX = 2;

type Write = (chunks: readonly PreparedChunk[]) => Promise<WriteOutcome[]>;

/** A batcher for each shard: while one does not answer, the blocks of the others go on. */
export class Batchers {
  readonly #ofShards = new Map<number, Batcher>();

  constructor(
    private readonly clickhouse: Pick<ClickHouse, 'shardOf'>,
    private readonly write: (chunks: readonly PreparedChunk[], shard: number) => Promise<WriteOutcome[]>,
  ) {}

  /** Returns when the chunk is stored, and throws the reason if it is not. */
  async add(chunk: PreparedChunk, bytes: number): Promise<void> {
    const shard = await this.clickhouse.shardOf(chunk.repositoryId);
    const batcher = this.#ofShards.get(shard) ?? new Batcher((chunks) => this.write(chunks, shard));
    this.#ofShards.set(shard, batcher);
    return batcher.add(chunk, bytes);
  }
}

interface Waiting {
  chunk: PreparedChunk;
  bytes: number;
  resolve(): void;
  reject(error: unknown): void;
}

export class Batcher {
  #waiting: Waiting[] = [];
  #executions = 0;
  #bytes = 0;
  #writes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = { chunks: 0, tookMs: 0, endedAt: 0 };

  constructor(private readonly write: Write) {}

  /** Returns when the chunk is stored, and throws the reason if it is not. */
  add(chunk: PreparedChunk, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ chunk, bytes, resolve, reject });
      this.#executions += chunk.executions.length;
      this.#bytes += bytes;
      this.#next();
    });
  }

  /** Writes what fills a block now, the rest a little later. */
  #next(): void {
    if (this.#isFull()) this.#flush();
    else if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#flush(), this.#lingerMs());
  }

  /** While blocks of many chunks follow each other, about a third of the time is spent on writing them. */
  #lingerMs(): number {
    const { chunks, tookMs, endedAt } = this.#last;
    const isBusy = chunks >= BUSY_CHUNKS_MIN && performance.now() - endedAt < BUSY_MS;
    return isBusy ? Math.min(Math.max(2 * tookMs, LINGER_MS), BUSY_LINGER_MS_MAX) : LINGER_MS;
  }

  #isFull(): boolean {
    return (
      this.#executions >= BLOCK_EXECUTIONS_MAX ||
      this.#bytes >= BLOCK_BYTES_MAX ||
      this.#waiting.length >= BLOCK_CHUNKS_MAX
    );
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // A block that is not full waits for the write in progress, and grows meanwhile.
    while (this.#waiting.length > 0 && this.#writes < (this.#isFull() ? WRITES_MAX : 1)) {
      const batch = this.#take();
      this.#writes++;
      const startedAt = performance.now();
      void this.#settle(batch).finally(() => {
        const endedAt = performance.now();
        this.#last = { chunks: batch.length, tookMs: endedAt - startedAt, endedAt };
        this.#writes--;
        this.#next();
      });
    }
  }

  /** Takes as many waiting chunks as fit into one block, and at least one. */
  #take(): Waiting[] {
    let executions = 0;
    let bytes = 0;
    let count = 0;
    for (const { chunk, bytes: size } of this.#waiting) {
      executions += chunk.executions.length;
      bytes += size;
      if (count > 0 && (executions > BLOCK_EXECUTIONS_MAX || bytes > BLOCK_BYTES_MAX)) break;
      if (count === BLOCK_CHUNKS_MAX) break;
      count++;
    }
    const batch = this.#waiting.splice(0, count);
    for (const { chunk, bytes: size } of batch) {
      this.#executions -= chunk.executions.length;
      this.#bytes -= size;
    }
    return batch;
  }

  async #settle(batch: Waiting[]): Promise<void> {
    try {
      const outcomes = await this.write(batch.map(({ chunk }) => chunk));
      for (const [i, { resolve, reject }] of batch.entries()) {
        const error = outcomes[i]?.error;
        if (error === undefined) resolve();
        else reject(error);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
