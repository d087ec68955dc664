/** How long a queue will take to be empty, judged by how much has waited in the last minutes. */

interface Reading {
  at: number;
  waiting: number;
}

/** Long enough to even out bursts, short enough to notice within minutes that a worker has stopped. */
const WINDOW_MS = 300_000;
/** Two readings this close say nothing about a rate. */
const APART_MS_MIN = 1_000;

export class DrainEstimate {
  readonly #readings: Reading[] = [];

  /**
   * Seconds until the queue is empty: 0 if nothing waits, Infinity if the queue does not get shorter, undefined if it
   * is too early to say. Uploads that keep arriving are part of the rate.
   *
   * @param at milliseconds; readings come in ascending order
   */
  observe(at: number, waiting: number): number | undefined {
    if (waiting === 0) {
      this.#readings.length = 0;
      return 0;
    }
    this.#readings.push({ at, waiting });
    while (this.#readings.length > 2 && at - (this.#readings[0]?.at ?? at) > WINDOW_MS) this.#readings.shift();
    const [first] = this.#readings;
    if (!first || at - first.at < APART_MS_MIN) return undefined;
    const drained = first.waiting - waiting;
    if (drained <= 0) return Number.POSITIVE_INFINITY;
    return (waiting * (at - first.at)) / drained / 1_000;
  }
}
