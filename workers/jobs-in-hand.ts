/**
 * Bounds what the jobs of a worker take in memory. Many small jobs fill a block as well as a few large ones, so a worker
 * fetches more of them while they are small together. A fetched job is packed; it is unpacked when there is room for it.
 */
import type { Worker } from 'bullmq';
import { roughBytes } from '../src/queue/encoding.ts';
import type { JobKind } from '../src/queue/job-kind.ts';

/** Payloads as JSON: as much as the blocks that are written at a time, and the next one. */
export const BYTES_MAX = 8 * 1024 * 1024;

interface Waiting {
  bytes: number;
  admit(): void;
}

/** The room that a job has. */
export interface Room {
  /** How much it takes, now that it is unpacked. */
  takes(bytes: number): void;
  leave(): void;
}

export class JobsInHand {
  /** Bytes of the jobs that are fetched, and of these, of those that have room. */
  #fetched = 0;
  #admitted = 0;
  readonly #waiting: Waiting[] = [];

  constructor(
    private readonly kind: Pick<JobKind, 'concurrency' | 'concurrencySmall'>,
    private readonly worker: Pick<Worker, 'concurrency' | 'on'>,
  ) {
    // While it is emitted, the worker has not decided yet whether to fetch another.
    worker.on('active', ({ data }) => this.#fetch(roughBytes(data)));
  }

  /** Waits until there is room to unpack a fetched job; a job that is larger than all of it gets its turn alone. */
  async room(data: unknown): Promise<Room> {
    const room = { bytes: roughBytes(data) };
    await new Promise<void>((admit) => {
      this.#waiting.push({ bytes: room.bytes, admit });
      this.#next();
    });
    const change = (bytes: number): void => {
      this.#fetch(bytes - room.bytes);
      this.#admitted += bytes - room.bytes;
      room.bytes = bytes;
    };
    return {
      takes: change,
      leave: () => {
        change(0);
        this.#next();
      },
    };
  }

  #fetch(bytes: number): void {
    this.#fetched += bytes;
    const { concurrency, concurrencySmall = concurrency } = this.kind;
    this.worker.concurrency = this.#fetched < BYTES_MAX ? concurrencySmall : concurrency;
  }

  #next(): void {
    for (let next = this.#waiting[0]; next && this.#admitted < BYTES_MAX; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#admitted += next.bytes;
      next.admit();
    }
  }
}
