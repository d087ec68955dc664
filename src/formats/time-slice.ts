/**
 * Yields to the event loop while a large upload is parsed, so that other requests, such as quarantine lists, do not
 * wait.
 */

/** How long parsing may hold the event loop at a stretch. */
const SLICE_MS = 15;

/** @example if (slice.isUsedUp()) await slice.yieldToOthers(); */
export class TimeSlice {
  #startedAt = performance.now();

  isUsedUp(): boolean {
    return performance.now() - this.#startedAt > SLICE_MS;
  }

  /** Resolves once everything that waits for the event loop had a turn; then the next slice begins. */
  async yieldToOthers(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#startedAt = performance.now();
  }
}
