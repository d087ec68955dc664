/** Merges the chunks of many jobs into large blocks: ClickHouse's cost is per insert, not per row. */

import type { WriteOutcome } from '../src/ledger/ledger.ts';
import type { PreparedChunk } from '../src/ledger/prepare.ts';

/** Blocks of this size take at most 290 MiB of memory; blocks twice as large take 518 MiB. */
export const BLOCK_EXECUTIONS_MAX = 10_000;
const BLOCK_BYTES_MAX = 8 * 1024 * 1024;
/** How long a block that is not full waits for more chunks. */
const LINGER_MS = 60;
/** Blocks written at a time: one is claimed while another is inserted. */
const WRITES_MAX = 2;

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

  constructor(private readonly write: (chunks: readonly PreparedChunk[]) => Promise<WriteOutcome[]>) {}

  /** Returns when the chunk is stored, and throws the reason if it is not. */
  add(chunk: PreparedChunk, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ chunk, bytes, resolve, reject });
      this.#executions += chunk.executions.length;
      this.#bytes += bytes;
      if (this.#isFull()) this.#flush();
      else this.#timer ??= setTimeout(() => this.#flush(), LINGER_MS);
    });
  }

  #isFull(): boolean {
    return this.#executions >= BLOCK_EXECUTIONS_MAX || this.#bytes >= BLOCK_BYTES_MAX;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting.length > 0 && this.#writes < WRITES_MAX) {
      const batch = this.#take();
      this.#writes++;
      void this.#settle(batch).finally(() => {
        this.#writes--;
        if (this.#waiting.length > 0) this.#flush();
      });
    }
  }

  /** As many waiting chunks as fit into one block, and at least one. */
  #take(): Waiting[] {
    let executions = 0;
    let bytes = 0;
    let count = 0;
    for (const { chunk, bytes: size } of this.#waiting) {
      executions += chunk.executions.length;
      bytes += size;
      if (count > 0 && (executions > BLOCK_EXECUTIONS_MAX || bytes > BLOCK_BYTES_MAX)) break;
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
