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

export class Batch<K, V> {
  readonly #load: Load<K, V>;
  readonly #sizeMax: number;
  /** Of the next run. */
  #waiting: Caller<K, V>[] = [];
  /** Of the one that runs. */
  #taken = new Set<Caller<K, V>>();
  #running: AbortController | undefined;

  constructor(load: Load<K, V>, { sizeMax = 256 }: { sizeMax?: number } = {}) {
    this.#load = load;
    this.#sizeMax = sizeMax;
  }

  /** @param signal aborted when the caller waits no more */
  get(key: K, signal?: AbortSignal): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const caller: Caller<K, V> = { key, resolve, reject };
      signal?.addEventListener('abort', () => this.#leave(caller, signal.reason), { once: true });
      this.#waiting.push(caller);
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    let callers: Caller<K, V>[] | undefined;
    let hasEnded = false;
    const take = (): K[] => {
      if (hasEnded) return [];
      callers = this.#waiting.splice(0, this.#sizeMax);
      this.#taken = new Set(callers);
      return callers.map(({ key }) => key);
    };
    try {
      const values = await this.#load(take, running.signal);
      for (const [i, { resolve }] of (callers ?? []).entries()) resolve(values[i]);
    } catch (error) {
      hasEnded = true;
      for (const { reject } of callers ?? this.#waiting.splice(0, this.#sizeMax)) reject(error);
    }
    this.#taken.clear();
    this.#running = undefined;
    if (this.#waiting.length > 0) void this.#run();
  }

  #leave(caller: Caller<K, V>, reason: unknown): void {
    caller.reject(reason);
    this.#waiting = this.#waiting.filter((other) => other !== caller);
    const wasTaken = this.#taken.delete(caller);
    if (this.#taken.size === 0 && (wasTaken || this.#waiting.length === 0)) this.#running?.abort(reason);
  }
}
