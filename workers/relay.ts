/**
 * Carries events from the outbox to the event log in ClickHouse, each once: a batch that is sent again after a crash has
 * the same bytes and the same token, so that ClickHouse drops the repeat.
 *
 * On a cluster, each shard has a separate consumer, which takes the events of its repositories and passes over the others.
 */
import type { ClickHouse } from '../src/clickhouse/client.ts';
import { ShardByShard } from '../src/clickhouse/shards.ts';
import { eventLine } from '../src/ledger/event-line.ts';
import type { Logger } from '../src/observability/log.ts';
import { eventsRelayed } from '../src/observability/metrics.ts';
import type { Database } from '../src/postgres/client.ts';
import { type Installation, readInstallation } from '../src/postgres/installation.ts';
import {
  type EventBatch,
  type PendingEvent,
  RELAY,
  registerRelays,
  relayOf,
} from '../src/postgres/outbox-consumers.ts';
import { drainOutbox, OutboxConsumer } from './outbox-consumer.ts';

export interface RelayDeps {
  db: Database;
  clickhouse: ClickHouse;
  log: Logger;
}

export class Relay extends OutboxConsumer {
  #installation: Installation | undefined;
  #shards: number | undefined;

  constructor(private readonly deps: RelayDeps) {
    super({ db: deps.db, log: deps.log, name: RELAY, take: (batch) => this.#take(batch, 0) });
  }

  /** A shard that does not answer keeps its own events waiting, and no others. */
  override async drain(): Promise<void> {
    const { db, clickhouse } = this.deps;
    this.#shards ??= await this.#registered();
    const shards = new ShardByShard(clickhouse);
    const drains = Array.from({ length: this.#shards }, (_, shard) =>
      shards.attempt(shard, () => drainOutbox({ db, name: relayOf(shard), take: (batch) => this.#take(batch, shard) })),
    );
    for (const drained of await Promise.allSettled(drains)) if (drained.status === 'rejected') throw drained.reason;
    shards.rethrow();
  }

  /** Before anything is taken: an event stays until the relays of all shards have passed it. */
  async #registered(): Promise<number> {
    const { db, clickhouse } = this.deps;
    const count = await clickhouse.shardCount();
    await registerRelays(db, count);
    return count;
  }

  async #take({ after, end, events }: EventBatch, shard: number): Promise<void> {
    const { db, clickhouse } = this.deps;
    const own: PendingEvent[] = [];
    for (const event of events) if ((await clickhouse.shardOf(event.repositoryId)) === shard) own.push(event);
    if (own.length === 0) return;
    this.#installation ??= await readInstallation(db);
    const token = `e${after}-${end}-${this.#installation.id}${shard === 0 ? '' : `-${shard}`}`;
    await clickhouse.insert('ci.events', own.map(eventLine).join('\n'), token, shard);
    eventsRelayed.inc(own.length);
  }
}
