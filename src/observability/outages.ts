/**
 * The log lines of an outage. While a store is away or refuses, hundreds of jobs fail in seconds, all for the same reason.
 * So an outage has one line when it begins, one a minute while it lasts, and one when it ends. Each failure has a line at
 * the level `debug`, and is counted in the metrics.
 */
import type { Logger } from './log.ts';

const SUMMARY_MS = 60_000;
/** An outage has ended when what failed has worked again, and nothing has failed for so long: some work may still fail. */
const QUIET_MS = 10_000;
/** Nothing tries any more. */
const FORGOTTEN_MS = 600_000;
const TICK_MS = 5_000;

interface Outage {
  startedAt: number;
  failedAt: number;
  workedAt: number;
  saidAt: number;
  failures: number;
  /** Since the last line. */
  unsaid: number;
  error: unknown;
  /** The loops and queues that failed in it. */
  work: Set<string>;
}

export class Outages {
  readonly #open = new Map<string, Outage>();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly log: Logger,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @param work names what failed: a queue, a loop */
  failed(store: string, work: string, error: unknown): void {
    const now = this.now();
    this.log.debug({ err: error, store, work }, `${work} failed; will retry`);
    const known = this.#open.get(store);
    if (known) {
      known.failures++;
      known.unsaid++;
      known.failedAt = now;
      known.error = error;
      known.work.add(work);
      return;
    }
    this.#open.set(store, {
      ...{ startedAt: now, failedAt: now, saidAt: now, workedAt: Number.NEGATIVE_INFINITY },
      ...{ failures: 1, unsaid: 0, error, work: new Set([work]) },
    });
    this.log.warn(
      { err: error, store, work },
      `${store} is away or refuses; what failed is tried again until it works`,
    );
    this.#timer ??= setInterval(() => this.look(), TICK_MS).unref();
  }

  /** A loop or queue that may have failed before has worked. */
  worked(work: string): void {
    if (this.#open.size === 0) return;
    for (const outage of this.#open.values()) if (outage.work.has(work)) outage.workedAt = this.now();
  }

  /** Says what there is to say by now. */
  look(): void {
    const now = this.now();
    for (const [store, outage] of this.#open) {
      const { startedAt, failedAt, workedAt, failures } = outage;
      const hasWorked = workedAt > failedAt && now - failedAt >= QUIET_MS;
      const seconds = Math.round((failedAt - startedAt) / 1_000);
      if (hasWorked || now - failedAt >= FORGOTTEN_MS) {
        this.#open.delete(store);
        this.log.warn({ store, failures, seconds }, `${store} works again`);
      } else if (outage.unsaid > 0 && now - outage.saidAt >= SUMMARY_MS) {
        this.log.warn({ err: outage.error, store, failures, seconds, work: [...outage.work] }, `${store} still fails`);
        outage.unsaid = 0;
        outage.saidAt = now;
      }
    }
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

const byLog = new WeakMap<Logger, Outages>();

/** The outages of a process: everything that logs to the same place shares them. */
export function outagesOf(log: Logger): Outages {
  const known = byLog.get(log) ?? new Outages(log);
  byLog.set(log, known);
  return known;
}
