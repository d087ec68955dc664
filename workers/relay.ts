/**
 * Carries events from the outbox to ClickHouse: each once, in order, within a second of the commit that wrote it.
 *
 * A batch is written down before it is inserted, under a token of its own, so whoever finishes what a crash left behind
 * sends the same bytes again and ClickHouse drops the repeat. One process at a time; the others look again later.
 */
import { sql } from 'drizzle-orm';
import type { ClickHouse } from '../src/clickhouse/client.ts';
import { StoreUnavailable } from '../src/errors.ts';
import type { Logger } from '../src/observability/log.ts';
import { eventsRelayed, storeUnavailable } from '../src/observability/metrics.ts';
import { type Database, type Executor, onPostgres } from '../src/postgres/client.ts';
import { type Installation, readInstallation } from '../src/postgres/installation.ts';
import { RELAY_LOCK } from '../src/postgres/locks.ts';
import { eventsOfBatch, finishBatch, nextBatch, type PendingEvent } from '../src/postgres/outbox.ts';

/** How often the outbox is looked at without being told of events. */
const EVERY_MS = 500;
/** After a store did not answer; doubled up to the most. */
const RETRY_MS = 250;
const RETRY_MS_MAX = 10_000;

export class Relay {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #isWanted = false;
  #isStopped = false;
  #failures = 0;
  #installation: Installation | undefined;

  constructor(
    private readonly db: Database,
    private readonly clickhouse: ClickHouse,
    private readonly log: Logger,
  ) {}

  start(): void {
    this.wake();
  }

  /** There may be events; safe to call at any time. */
  readonly wake = (): void => {
    if (this.#isStopped) return;
    this.#isWanted = true;
    if (this.#failures === 0) this.#run();
  };

  /** Finishes what is in hand. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** Carries everything that waits now, unless another process is at it. Throws when a store does not answer. */
  async drain(): Promise<void> {
    while (await this.#carryBatch());
  }

  #run(): void {
    clearTimeout(this.#timer);
    this.#running ??= this.#round().finally(() => {
      this.#running = undefined;
      if (this.#isStopped) return;
      if (this.#isWanted && this.#failures === 0) return this.#run();
      const wait =
        this.#failures === 0 ? EVERY_MS : Math.min(RETRY_MS * 2 ** Math.min(this.#failures - 1, 10), RETRY_MS_MAX);
      this.#timer = setTimeout(() => this.#run(), wait);
    });
  }

  async #round(): Promise<void> {
    this.#isWanted = false;
    try {
      await this.drain();
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      if (error instanceof StoreUnavailable) storeUnavailable.inc({ store: error.store, needed_by: 'relay' });
      const level = error instanceof StoreUnavailable ? 'warn' : 'error';
      this.log[level]({ err: error }, 'events could not be carried to the log, it is tried again');
    }
  }

  /** Two transactions: the batch is written down in the first, inserted and taken off in the second. */
  async #carryBatch(): Promise<boolean> {
    const batchId = await this.#alone((tx) => nextBatch(tx));
    if (batchId === undefined) return false;
    this.#installation ??= await readInstallation(this.db);
    const token = `e${batchId}-${this.#installation.id}`;
    const carried = await this.#alone(async (tx) => {
      const events = await eventsOfBatch(tx, batchId);
      if (events.length > 0) await this.clickhouse.insert('ci.events', events.map(lineOf).join('\n'), token);
      await finishBatch(tx, batchId, events);
      return events.length;
    });
    if (carried !== undefined) eventsRelayed.inc(carried);
    return carried !== undefined;
  }

  /** In a transaction that no other relay runs beside; undefined when one is at it now. */
  #alone<T>(run: (tx: Executor) => Promise<T>): Promise<T | undefined> {
    return onPostgres(() =>
      this.db.transaction(async (tx) => {
        const { rows } = await tx.execute<{ locked: boolean }>(
          sql`select pg_try_advisory_xact_lock(${RELAY_LOCK}) as locked`,
        );
        return rows[0]?.locked ? run(tx) : undefined;
      }),
    );
  }
}

const lineOf = (event: PendingEvent): string =>
  JSON.stringify({
    repository_id: event.repositoryId,
    received_at: event.receivedAt.toISOString().replace('T', ' ').replace('Z', ''),
    id: event.id,
    type: event.type,
    trigger: event.trigger,
    pull_request: event.pullRequest,
    base_ref: event.baseRef,
    metadata: event.metadata,
  });
