/** How often something may happen in a window of time, by name: for what anyone may ask. */
import { LRUCache } from 'lru-cache';

const NAMES_MAX = 10_000;

export class Budget {
  readonly #windows: LRUCache<string, { since: number; count: number }>;

  constructor(
    private readonly max: number,
    private readonly windowMs: number,
  ) {
    this.#windows = new LRUCache({ max: NAMES_MAX });
  }

  /** Counts one. Undefined if there is room for it, or in how many seconds there is. */
  take(name: string, now: number): number | undefined {
    const known = this.#windows.get(name);
    const isCurrent = known !== undefined && now >= known.since && now - known.since < this.windowMs;
    const window = isCurrent ? known : { since: now, count: 0 };
    if (!isCurrent) this.#windows.set(name, window);
    if (window.count >= this.max) return Math.max(1, Math.ceil((window.since + this.windowMs - now) / 1_000));
    window.count++;
    return undefined;
  }
}
