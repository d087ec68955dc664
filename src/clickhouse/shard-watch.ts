/**
 * Knows which shards of a cluster answer. One that hangs takes connections and answers nothing, so whatever asks it would
 * wait for its own limit, and hold connections, turns and jobs meanwhile that other repositories need. So each process looks
 * at every shard now and then. While one does not answer, what needs it fails at once, also what was sent before.
 *
 * A shard that refuses connections is not noted here: what asks it fails at once anyway.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../errors.ts';
import { isLate } from './trouble.ts';

/** After how long without an answer a look counts as unanswered. */
export const LOOK_MS_MAX = 5_000;
const EVERY_MS = 2_000;

/** The numbers of shards, from 0; every shard; or none, which is what a statement asks that runs where it arrives. */
export type Needed = ReadonlySet<number> | 'every shard' | 'none';

export interface ShardWatchOptions {
  /** How many shards there are. Throws while that cannot be read. */
  count(): Promise<number>;
  /** Asks a shard for next to nothing; throws {@link StoreUnavailable} when there is no answer within {@link LOOK_MS_MAX}. */
  look(shard: number): Promise<void>;
}

interface Running {
  needed: Needed;
  abort(reason: StoreUnavailable): void;
}

export class ShardWatch {
  readonly #away = new Map<number, StoreUnavailable>();
  readonly #running = new Set<Running>();
  readonly #stopped = new AbortController();

  constructor(private readonly options: ShardWatchOptions) {}

  /** Looks until {@link stop}; nothing waits for it, and it keeps no process alive. */
  start(): void {
    void this.#start();
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** The shards that do not answer. */
  get away(): number[] {
    return [...this.#away.keys()];
  }

  /**
   * Runs what needs some shards. Its signal is aborted with a {@link StoreUnavailable} when one of them does not answer, at
   * once if that is known, and with the reason of the given signal when that is aborted.
   */
  async during<T>(
    needed: Needed,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const ended = new AbortController();
    const running: Running = { needed, abort: (reason) => ended.abort(reason) };
    const pass = (): void => ended.abort(signal?.reason);
    signal?.addEventListener('abort', pass, { once: true });
    this.#running.add(running);
    if (signal?.aborted) pass();
    for (const [shard, reason] of this.#away) if (isNeeded(needed, shard)) running.abort(reason);
    try {
      return await work(ended.signal);
    } finally {
      this.#running.delete(running);
      signal?.removeEventListener('abort', pass);
    }
  }

  async #start(): Promise<void> {
    let count: number | undefined;
    while (count === undefined && (await this.#pause())) count = await this.options.count().catch(() => undefined);
    for (let shard = 0; shard < (count ?? 0); shard++) void this.#watch(shard, count ?? 0);
  }

  async #watch(shard: number, count: number): Promise<void> {
    while (await this.#pause()) {
      const failed = await this.options.look(shard).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failed === undefined) this.#away.delete(shard);
      else if (isLate(failed)) this.#note(shard, count);
    }
  }

  #note(shard: number, count: number): void {
    if (this.#away.has(shard)) return;
    const reason = unansweredBy(shard, count);
    this.#away.set(shard, reason);
    for (const running of [...this.#running]) if (isNeeded(running.needed, shard)) running.abort(reason);
  }

  /** Returns false once it is stopped. */
  #pause(): Promise<boolean> {
    return sleep(EVERY_MS, true, { ref: false, signal: this.#stopped.signal }).catch(() => false);
  }
}

const isNeeded = (needed: Needed, shard: number): boolean =>
  typeof needed === 'string' ? needed === 'every shard' : needed.has(shard);

/** Shards have numbers from 1 in ClickHouse's own lists. */
const unansweredBy = (shard: number, count: number): StoreUnavailable =>
  new StoreUnavailable(
    'clickhouse',
    new Error(`shard ${shard + 1} of ${count} does not answer`),
    `Shard ${shard + 1} of ${count} of the ClickHouse cluster does not answer. What is on it waits until it does; nothing is lost.`,
  );
