/**
 * Puts reads of one kind that wait at the same time into one. A lone read is sent at once. What arrives while it runs
 * waits for its answer and goes out together, so batches grow with the load and no answer is older than its question.
 */

interface Caller<K, V> {
  key: K;
  resolve(value: V | undefined): void;
  reject(error: unknown): void;
}

/**
 * Finds the values of some keys, in their order. It calls `take` once, as late as it can: what arrives before that is
 * read, too; after it has failed, there is nothing to take. The signal is aborted when no caller waits for the values any
 * more.
 */
export type Load<K, V> = (take: () => K[], signal: AbortSignal) => Promise<readonly (V | undefined)[]>;

export interface BatchLimits<K> {
  /** Keys of one read. */
  sizeMax?: number;
  /** Names what a key is about: a read takes one key about each thing, and others wait for the next read. */
  thingOf?: (key: K) => string;
  /** Reads at the same time, which share what waits: for a store that answers two as quickly as one. */
  atOnce?: number;
}

/** A read that has begun. */
interface Run<K, V> {
  abort: AbortController;
  /** Callers that still wait for it; undefined before it has taken their keys. */
  taken: Set<Caller<K, V>> | undefined;
}

export class Batch<K, V> {
  readonly #load: Load<K, V>;
  readonly #sizeMax: number;
  readonly #atOnce: number;
  readonly #thingOf: ((key: K) => string) | undefined;
  /** Callers of the next run. */
  #waiting: Caller<K, V>[] = [];
  readonly #runs = new Set<Run<K, V>>();

  constructor(load: Load<K, V>, { sizeMax = 256, atOnce = 1, thingOf }: BatchLimits<K> = {}) {
    this.#load = load;
    this.#thingOf = thingOf;
    this.#sizeMax = sizeMax;
    this.#atOnce = atOnce;
  }

  /** @param signal aborted when the caller waits no more */
  get(key: K, signal?: AbortSignal): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const caller: Caller<K, V> = { key, resolve, reject };
      signal?.addEventListener('abort', () => this.#leave(caller, signal.reason), { once: true });
      this.#waiting.push(caller);
      this.#begin();
    });
  }

  /** Begins a read if there is room, and something waits that none of those that have begun will take. */
  #begin(): void {
    if (this.#runs.size < this.#atOnce && this.#waiting.length > this.#untaken.length) void this.#run();
  }

  /** Runs that will still take keys. */
  get #untaken(): Run<K, V>[] {
    return [...this.#runs].filter(({ taken, abort }) => taken === undefined && !abort.signal.aborted);
  }

  /**
   * An equal share of all that waits and is being read, so that no read is left with a few keys; and no more than leaves
   * one for each of the others that will still take keys.
   */
  #takeShare(): Caller<K, V>[] {
    const reading = [...this.#runs].reduce((sum, { taken }) => sum + (taken?.size ?? 0), 0);
    const share = Math.ceil((this.#waiting.length + reading) / this.#atOnce);
    const count = Math.min(share, this.#sizeMax, this.#waiting.length - (this.#untaken.length - 1));
    if (!this.#thingOf) return this.#waiting.splice(0, count);
    const taken = new Map<string, Caller<K, V>>();
    const left: Caller<K, V>[] = [];
    for (const caller of this.#waiting) {
      const thing = this.#thingOf(caller.key);
      if (taken.size < count && !taken.has(thing)) taken.set(thing, caller);
      else left.push(caller);
    }
    this.#waiting = left;
    return [...taken.values()];
  }

  async #run(): Promise<void> {
    const run: Run<K, V> = { abort: new AbortController(), taken: undefined };
    this.#runs.add(run);
    let callers: Caller<K, V>[] | undefined;
    let hasEnded = false;
    const take = (): K[] => {
      if (hasEnded || run.abort.signal.aborted) return [];
      callers = this.#takeShare();
      run.taken = new Set(callers);
      return callers.map(({ key }) => key);
    };
    try {
      const values = await this.#load(take, run.abort.signal);
      for (const [i, { resolve }] of (callers ?? []).entries()) resolve(values[i]);
    } catch (error) {
      hasEnded = true;
      // No caller waited for a read that was aborted.
      if (!run.abort.signal.aborted) for (const { reject } of callers ?? this.#takeShare()) reject(error);
    }
    this.#runs.delete(run);
    this.#begin();
  }

  #leave(caller: Caller<K, V>, reason: unknown): void {
    caller.reject(reason);
    this.#waiting = this.#waiting.filter((other) => other !== caller);
    for (const { taken, abort } of this.#runs) if (taken?.delete(caller) && taken.size === 0) abort.abort(reason);
    const [idle] = this.#untaken.slice(this.#waiting.length);
    idle?.abort.abort(reason);
  }
}
