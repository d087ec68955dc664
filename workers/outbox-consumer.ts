/**
 * Takes events from the outbox in batches and hands them on: in order, each at least once, within a second of its commit.
 *
 * A batch is written down before it is handed on, and acknowledged in the transaction that it is handed on in. So after a
 * crash in between, the next process hands on the same batch again. One process at a time works for a consumer; the others
 * try again later. Consumers do not wait for each other.
 */
import type { Logger } from '../src/observability/log.ts';
import { type Database, onPostgres } from '../src/postgres/client.ts';
import {
  acknowledge,
  batchInHand,
  deleteTaken,
  type EventBatch,
  isAnythingWaiting,
  takeBatch,
} from '../src/postgres/outbox-consumers.ts';
import { Loop } from './loop.ts';

/** How often the outbox is read without a notification. */
const EVERY_MS = 500;
const RETRY_MS = 250;
const RETRY_MS_MAX = 10_000;

export interface OutboxConsumerOptions {
  db: Database;
  log: Logger;
  /** The name under which it is registered. */
  name: string;
  /** Takes a batch, or throws to be given the same batch again. */
  take(batch: EventBatch): Promise<void>;
  /** A batch is acknowledged. */
  onTaken?(batch: EventBatch): void;
}

export class OutboxConsumer {
  readonly loop: Loop;

  constructor(protected readonly options: OutboxConsumerOptions) {
    this.loop = new Loop({
      name: options.name,
      log: options.log,
      run: () => this.drain(),
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
      retryMsMax: RETRY_MS_MAX,
    });
  }

  /** Takes all that waits now, unless another process is at it. Throws if a store does not respond. */
  async drain(): Promise<void> {
    await drainOutbox(this.options);
  }
}

/** Gives a consumer all that waits now, unless another process is at it. Throws if a store does not respond. */
export async function drainOutbox(consumer: Omit<OutboxConsumerOptions, 'log'>): Promise<void> {
  for (let isMore = true; isMore; ) {
    isMore = await takeNext(consumer);
    await onPostgres(() => deleteTaken(consumer.db));
  }
}

async function takeNext({ db, name, take, onTaken }: Omit<OutboxConsumerOptions, 'log'>): Promise<boolean> {
  if (!(await onPostgres(() => isAnythingWaiting(db, name)))) return false;
  if (!(await onPostgres(() => db.transaction((tx) => takeBatch(tx, name))))) return false;
  const taken = await onPostgres(() =>
    db.transaction(async (tx) => {
      const batch = await batchInHand(tx, name);
      if (!batch) return undefined;
      if (batch.events.length > 0) await take(batch);
      await acknowledge(tx, name, batch);
      return batch;
    }),
  );
  if (taken) onTaken?.(taken);
  return taken !== undefined;
}
