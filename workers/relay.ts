/**
 * Carries events from the outbox to the event log in ClickHouse, each once: a batch that is sent again after a crash has
 * the same bytes and the same token, so that ClickHouse drops the repeat.
 */
import type { ClickHouse } from '../src/clickhouse/client.ts';
import { eventLine } from '../src/ledger/event-line.ts';
import type { Logger } from '../src/observability/log.ts';
import { eventsRelayed } from '../src/observability/metrics.ts';
import type { Database } from '../src/postgres/client.ts';
import { type Installation, readInstallation } from '../src/postgres/installation.ts';
import { RELAY } from '../src/postgres/outbox-consumers.ts';
import { OutboxConsumer } from './outbox-consumer.ts';

export interface RelayDeps {
  db: Database;
  clickhouse: ClickHouse;
  log: Logger;
}

export class Relay extends OutboxConsumer {
  constructor({ db, clickhouse, log }: RelayDeps) {
    let installation: Installation | undefined;
    super({
      db,
      log,
      name: RELAY,
      take: async ({ after, end, events }) => {
        installation ??= await readInstallation(db);
        const token = `e${after}-${end}-${installation.id}`;
        await clickhouse.insert('ci.events', events.map(eventLine).join('\n'), token);
      },
      onTaken: ({ events }) => eventsRelayed.inc(events.length),
    });
  }
}
