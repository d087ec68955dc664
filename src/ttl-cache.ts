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
   * @param options `loadShareMax`: the share of the time that loading a value again and again may take. One that is slow to
   *   load is kept for longer
   */
  constructor(
    private readonly ttlMs: number,
    entriesMax: number,
    private readonly options: { loadShareMax?: number } = {},
  ) {
    this.#entries = new LRUCache({ ttl: ttlMs, max: entriesMax });
  }

  /** The value of a key, loaded once for everyone who asks meanwhile. A failure is not kept. */
  get(key: string, load: () => Promise<V>): Promise<V> {
    const known = this.#entries.get(key);
    if (known) return known.loading;
    const start = performance.now();
    const entry: Entry<V> = { loading: load(), loaded: undefined };
    this.#entries.set(key, entry, { start });
    entry.loading.then(
      (value) => {
        entry.loaded = { value };
        this.#keepForLonger(key, entry, start);
      },
      () => {
        if (this.#entries.peek(key) === entry) this.#entries.delete(key);
      },
    );
    return entry.loading;
  }

  #keepForLonger(key: string, entry: Entry<V>, start: number): void {
    const { loadShareMax } = this.options;
    if (loadShareMax === undefined || this.#entries.peek(key, { allowStale: true }) !== entry) return;
    const ttl = Math.max(this.ttlMs, (performance.now() - start) / loadShareMax);
    this.#entries.set(key, entry, { start, ttl });
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
