/** What was loaded a moment ago, from memory: for what every request asks for, and what may be known a little late. */
import type { MaybePromise } from './maybe-promise.ts';

interface Entry<V> {
  /** When its loading began, by the monotonic clock. */
  at: number;
  /** On its way, then at hand. */
  found: MaybePromise<V>;
}

export class Remembered<V> {
  readonly #entries = new Map<string, Entry<V>>();

  /**
   * @param maxAgeMs how old a value may be, from the moment that its loading began
   * @param entriesMax when there are more, all are forgotten: they last for moments anyway
   */
  constructor(
    private readonly maxAgeMs: number,
    private readonly entriesMax: number,
  ) {}

  /** The value of a key: at hand where it can be, and loaded once for all who ask meanwhile. A failure is not remembered. */
  get(key: string, load: () => Promise<V>): MaybePromise<V> {
    const known = this.#entries.get(key);
    if (known && performance.now() - known.at < this.maxAgeMs) return known.found;
    if (this.#entries.size >= this.entriesMax) this.#entries.clear();
    const found = load();
    const entry: Entry<V> = { at: performance.now(), found };
    this.#entries.set(key, entry);
    found.then(
      (value) => {
        entry.found = value;
      },
      () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
      },
    );
    return found;
  }

  /** The next who asks has it loaded, also when it is on its way now. */
  forget(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
