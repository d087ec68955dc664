/**
 * Carries events from the outbox to the event log in ClickHouse: each once, in order, within a second of its commit.
 *
 * The contents of a batch are recorded before it is inserted under the batch's token. So if a crash interrupts the
 * insert, the next relay sends the same bytes again and ClickHouse drops the repeat. One process relays at a time; the
 * others try again later.
 */
import { sql } from 'drizzle-orm';
import type { ClickHouse } from '../src/clickhouse/client.ts';
import { eventLine } from '../src/ledger/event-line.ts';
import type { Logger } from '../src/observability/log.ts';
import { eventsRelayed } from '../src/observability/metrics.ts';
import { type Database, type Executor, onPostgres } from '../src/postgres/client.ts';
import { type Installation, readInstallation } from '../src/postgres/installation.ts';
import { RELAY_LOCK } from '../src/postgres/locks.ts';
import { eventsOfBatch, finishBatch, nextBatch } from '../src/postgres/outbox.ts';
import { Loop } from './loop.ts';

/** How often the outbox is read without a notification. */
const EVERY_MS = 500;
const RETRY_MS = 250;
const RETRY_MS_MAX = 10_000;

export interface RelayDeps {
  db: Database;
  clickhouse: ClickHouse;
  log: Logger;
}

export class Relay {
  readonly loop: Loop;
  #installation: Installation | undefined;

  constructor(private readonly deps: RelayDeps) {
    this.loop = new Loop({
      name: 'relay',
      log: deps.log,
      run: () => this.drain(),
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
      retryMsMax: RETRY_MS_MAX,
    });
  }

  /** Carries everything that waits now, unless another process is relaying. Throws if a store does not respond. */
  async drain(): Promise<void> {
    while (await this.#carryBatch());
  }

  /** Records the batch in one transaction; inserts it and removes it from the outbox in a second. */
  async #carryBatch(): Promise<boolean> {
    const batchId = await this.#alone((tx) => nextBatch(tx));
    if (batchId === undefined) return false;
    this.#installation ??= await readInstallation(this.deps.db);
    const token = `e${batchId}-${this.#installation.id}`;
    const carried = await this.#alone(async (tx) => {
      const events = await eventsOfBatch(tx, batchId);
      if (events.length > 0) await this.deps.clickhouse.insert('ci.events', events.map(eventLine).join('\n'), token);
      await finishBatch(tx, batchId, events);
      return events.length;
    });
    if (carried !== undefined) eventsRelayed.inc(carried);
    return carried !== undefined;
  }

  /** Runs in a transaction that excludes every other relay; undefined if one is running now. */
  #alone<T>(run: (tx: Executor) => Promise<T>): Promise<T | undefined> {
    return onPostgres(() =>
      this.deps.db.transaction(async (tx) => {
        const { rows } = await tx.execute<{ locked: boolean }>(
          sql`select pg_try_advisory_xact_lock(${RELAY_LOCK}) as locked`,
        );
        return rows[0]?.locked ? run(tx) : undefined;
      }),
    );
  }
}
