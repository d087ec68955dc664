/** A small cache whose entries expire, and which shares loads in flight. */
import { LRUCache } from 'lru-cache';

interface Entry<V> {
  loading: Promise<V>;
  loaded: { value: V } | undefined;
}

export class TtlCache<V> {
  readonly #entries: LRUCache<string, Entry<V>>;

  /**
   * @param ttlMs how old a value may be, counted from when its loading began. lru-cache's `fetchMethod` would count from
   *   its end, and let a caller join a load of any age
   */
  constructor(ttlMs: number, entriesMax: number) {
    this.#entries = new LRUCache({ ttl: ttlMs, max: entriesMax });
  }

  /** The value of a key, loaded once for everyone who asks meanwhile. A failure is not kept. */
  get(key: string, load: () => Promise<V>): Promise<V> {
    const known = this.#entries.get(key);
    if (known) return known.loading;
    const entry: Entry<V> = { loading: load(), loaded: undefined };
    this.#entries.set(key, entry);
    entry.loading.then(
      (value) => {
        entry.loaded = { value };
      },
      () => {
        if (this.#entries.peek(key) === entry) this.#entries.delete(key);
      },
    );
    return entry.loading;
  }

  /** The value of a key if it is in memory now. */
  recall(key: string): V | undefined {
    return this.#entries.get(key)?.loaded?.value;
  }

  /** The next caller loads the value, even if a load is in flight now. */
  forget(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
