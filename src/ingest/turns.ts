/** Lets other requests have the event loop while a large upload is parsed: a quarantine list must not wait for it. */

/** How long parsing may go on at a stretch. */
const STRETCH_MS_MAX = 15;

export class Turns {
  #since = performance.now();

  /** Whether it is someone else's turn. */
  isOver(): boolean {
    return performance.now() - this.#since > STRETCH_MS_MAX;
  }

  /** Goes on once everyone else had a turn. */
  async rest(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}
