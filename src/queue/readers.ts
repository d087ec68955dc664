/** Whether a worker reads a queue: workers of older versions do not read the queues that came after them. */
import type { Queue } from 'bullmq';

/** How long an answer is believed. The backend lists its clients for it. */
const FRESH_MS = 15_000;

export class QueueReaders {
  #isRead = false;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly queue: Pick<Queue, 'getWorkersCount'>) {}

  /** As far as is known: asked in the background, so the first answer is no. No also where the backend does not tell. */
  isRead(): boolean {
    if (performance.now() - this.#askedAt > FRESH_MS) void this.ask();
    return this.#isRead;
  }

  async ask(): Promise<void> {
    this.#askedAt = performance.now();
    try {
      this.#isRead = (await this.queue.getWorkersCount()) > 0;
    } catch {
      this.#isRead = false;
    }
  }
}
