/**
 * Work that repeats in the background. It never runs twice at once.
 *
 *     waiting ──woken, or `everyMs` after the last run──► running ──► waiting
 *                                                           │
 *                                                           └─fails─► backing off ──`retryMs`, doubling──► running
 *
 * A wake during a run, a pause or a backoff starts no second run and shortens nothing: it asks for one run after it.
 */
import { failingStore } from '../src/clickhouse/failing-store.ts';
import { ShardsUnavailable } from '../src/clickhouse/shards.ts';
import { StoreUnavailable } from '../src/errors.ts';
import type { Logger } from '../src/observability/log.ts';
import { storeUnavailable } from '../src/observability/metrics.ts';
import { outagesOf } from '../src/observability/outages.ts';

export interface LoopOptions {
  /** For the log and the metrics. */
  name: string;
  log: Logger;
  run(): Promise<unknown>;
  /** How long after a run the next one begins if nothing wakes the loop; without this it waits to be woken. */
  everyMs?: number;
  /** The shortest time between the end of a run and the next one; asked for after each run. */
  pauseMs?(): number;
  /** How long after a failed run it is tried again; doubled with each further failure up to `retryMsMax`. */
  retryMs: number;
  retryMsMax?: number;
}

export class Loop {
  readonly #options: LoopOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #idle: PromiseWithResolvers<void> | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #isWoken = false;
  #isStopped = false;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** There may be work. The first wake starts the loop; later ones are safe at any time. */
  readonly wake = (): void => {
    if (this.#isStopped) return;
    this.#isWoken = true;
    if (this.#running === undefined) this.#schedule();
  };

  /** Returns when the work that it was woken for is done, or when the loop is stopped. */
  async idle(): Promise<void> {
    if (this.#isStopped || !this.#isBusy()) return this.#running;
    this.#idle ??= Promise.withResolvers();
    await this.#idle.promise;
  }

  /** A run that may take long looks at this now and then. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Lets the current run finish, and starts no other. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    this.#settle();
  }

  #isBusy(): boolean {
    return this.#running !== undefined || this.#isWoken || this.#failures > 0;
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    if (!this.#isBusy()) this.#settle();
    const waitMs = this.#waitMs();
    if (waitMs === undefined) return;
    if (waitMs <= 0) this.#start();
    else this.#timer = setTimeout(() => this.#start(), waitMs);
  }

  /** How long until the next run; undefined until the loop is woken. */
  #waitMs(): number | undefined {
    const { everyMs, pauseMs, retryMs, retryMsMax = retryMs } = this.#options;
    const sinceMs = performance.now() - this.#endedAt;
    if (this.#failures > 0) return Math.min(retryMs * 2 ** Math.min(this.#failures - 1, 20), retryMsMax) - sinceMs;
    if (this.#isWoken) return (pauseMs?.() ?? 0) - sinceMs;
    return everyMs === undefined ? undefined : everyMs - sinceMs;
  }

  #start(): void {
    this.#isWoken = false;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      this.#endedAt = performance.now();
      this.#schedule();
    });
  }

  async #run(): Promise<void> {
    const { name, log, run } = this.#options;
    try {
      await run();
      this.#failures = 0;
      outagesOf(log).worked(name);
    } catch (error) {
      // The work of the other shards is done, and new work for them does not wait until the failed one is tried again.
      this.#failures = error instanceof ShardsUnavailable ? 0 : this.#failures + 1;
      if (error instanceof StoreUnavailable) storeUnavailable.inc({ store: error.store, needed_by: name });
      const store = failingStore(error);
      if (store !== undefined) outagesOf(log).failed(store, name, error);
      else log.error({ err: error }, `${name} failed; will retry`);
    }
  }

  #settle(): void {
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}
