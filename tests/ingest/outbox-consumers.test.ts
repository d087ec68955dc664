/** Consumers of the outbox: none waits for another, and each takes every event in order, whatever commits when. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import { inArray, ne } from 'drizzle-orm';
import { newEvent } from '../../src/domain/events.ts';
import { readBacklog } from '../../src/postgres/backlog.ts';
import { recordEvents } from '../../src/postgres/outbox.ts';
import {
  deleteTaken,
  OUTBOX_CONSUMERS,
  type PendingEvent,
  RELAY,
  registerConsumers,
} from '../../src/postgres/outbox-consumers.ts';
import { eventOutbox, outboxConsumers } from '../../src/postgres/schema.ts';
import { OutboxConsumer, type OutboxConsumerOptions } from '../../workers/outbox-consumer.ts';
import { Relay } from '../../workers/relay.ts';
import { randomFrom } from '../support/random.ts';
import { openTestStores, uniqueRepository } from '../support/stores.ts';

const KILLED = fileURLToPath(new URL('../support/killed-consumer.ts', import.meta.url));

const stores = await openTestStores();
const { db } = stores.postgres;
const relay = new Relay({ db, clickhouse: stores.clickhouse, log: stores.log });

/** A second consumer, which the product does not have, and the labels of the events that it took. */
const consumerOf = (name: string, take?: OutboxConsumerOptions['take']) => {
  const taken: PendingEvent[] = [];
  const consumer = new OutboxConsumer({
    db,
    log: stores.log,
    name,
    take: async (batch) => {
      await take?.(batch);
      taken.push(...batch.events);
    },
  });
  return { consumer, taken, labels: () => taken.map(labelOf) };
};

const labelOf = ({ metadata }: { metadata: string }): string =>
  (JSON.parse(metadata) as { added: string[] }).added.join();
const labelled = (label: string) => newEvent('action.label', { added: [label] }, { trigger: 'test' });

const recordRepository = async (): Promise<string> => (await stores.repositories.record(uniqueRepository())).id;
const write = (repositoryId: string, ...labels: string[]): Promise<void> =>
  db.transaction((tx) => recordEvents(tx, repositoryId, labels.map(labelled), stores.clock.now()));

/** A transaction that has written an event, and stays open until it is told to commit. */
async function writeHeldOpen(repositoryId: string, label: string): Promise<() => Promise<void>> {
  const written = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  const ended = db.transaction(async (tx) => {
    await recordEvents(tx, repositoryId, [labelled(label)], stores.clock.now());
    written.resolve();
    await commit.promise;
  });
  await written.promise;
  return () => {
    commit.resolve();
    return ended;
  };
}

const inOutbox = async (...repositoryIds: string[]): Promise<string[]> => {
  const rows = await db
    .select()
    .from(eventOutbox)
    .where(inArray(eventOutbox.repositoryId, repositoryIds))
    .orderBy(eventOutbox.id);
  return rows.map(labelOf);
};

const inLog = async (repositoryId: string): Promise<string[]> => {
  const rows = await stores.clickhouse.rows(
    'SELECT metadata FROM ci.events WHERE repository_id = {id: UUID} ORDER BY id',
    { id: repositoryId },
  );
  return (rows as { metadata: string }[]).map(labelOf);
};

let names = 0;
let name = '';
beforeEach(async () => {
  name = `test-${++names}`;
  await registerConsumers(db, [RELAY, name]);
});

/** The migration of a version that no longer has them does this. */
const removeOthers = () => db.delete(outboxConsumers).where(ne(outboxConsumers.name, RELAY));

afterEach(async () => {
  await removeOthers();
});

afterAll(async () => {
  await relay.drain();
});

describe('two consumers', () => {
  test('one that fails does not hold up the other, and what it has not taken stays', async () => {
    const id = await recordRepository();
    const failing = consumerOf(name, () => Promise.reject(new Error('not today')));
    await write(id, 'a', 'b');
    expect(failing.consumer.drain()).rejects.toThrow('not today');
    await failing.consumer.drain().catch(() => {});
    await relay.drain();
    await write(id, 'c');
    await relay.drain();
    expect(await inLog(id)).toEqual(['a', 'b', 'c']);
    expect(await inOutbox(id)).toEqual(['a', 'b', 'c']);
    expect(await readBacklog(db, stores.clock.now() + 1)).toMatchObject({
      eventsWaiting: { [RELAY]: 0, [name]: 3 },
      relayLagSeconds: 0,
    });

    const working = consumerOf(name);
    await working.consumer.drain();
    expect(working.labels()).toEqual(['a', 'b', 'c']);
    expect(await inOutbox(id)).toEqual([]);
    expect(await inLog(id)).toEqual(['a', 'b', 'c']);
  });

  test('one that is slow does not hold up the other, and nothing that it has in hand is deleted', async () => {
    const id = await recordRepository();
    const started = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = consumerOf(name, () => {
      started.resolve();
      return goOn.promise;
    });
    await write(id, 'a');
    const drained = slow.consumer.drain();
    await started.promise;
    await write(id, 'b');
    await relay.drain();
    expect(await inLog(id)).toEqual(['a', 'b']);
    expect(await inOutbox(id)).toEqual(['a', 'b']);
    goOn.resolve();
    await drained;
    expect(slow.labels()).toEqual(['a', 'b']);
    expect(await inOutbox(id)).toEqual([]);
  });

  test('an event that the relay has not carried stays, however far the other is', async () => {
    const id = await recordRepository();
    const { consumer, labels } = consumerOf(name);
    await write(id, 'a');
    await consumer.drain();
    expect(labels()).toEqual(['a']);
    expect(await inOutbox(id)).toEqual(['a']);
    await relay.drain();
    expect(await inLog(id)).toEqual(['a']);
    expect(await inOutbox(id)).toEqual([]);
  });
});

describe('what commits late', () => {
  test('an event of a transaction that stays open while later ids commit is not lost, and holds up none of them', async () => {
    const [early, late] = [await recordRepository(), await recordRepository()];
    const { consumer, labels } = consumerOf(name);
    const commit = await writeHeldOpen(early, 'lower id');
    await write(late, 'higher id');
    await consumer.drain();
    await relay.drain();
    expect(labels()).toEqual(['higher id']);
    expect(await inLog(late)).toEqual(['higher id']);
    await commit();
    await consumer.drain();
    await relay.drain();
    expect(labels()).toEqual(['higher id', 'lower id']);
    expect(await inLog(early)).toEqual(['lower id']);
    expect(await inOutbox(early, late)).toEqual([]);
  });

  test('events of a repository are taken in order, also when the transaction of the later one began first', async () => {
    const [id, elsewhere] = [await recordRepository(), await recordRepository()];
    const { consumer, labels } = consumerOf(name);
    const commit = await writeHeldOpen(elsewhere, 'held');
    await db.transaction(async (tx) => {
      await tx.execute('select pg_current_xact_id()');
      await write(id, 'first');
      await recordEvents(tx, id, [labelled('second')], stores.clock.now());
    });
    await consumer.drain();
    expect(labels()).toEqual(['first', 'second']);
    await commit();
    await consumer.drain();
    expect(labels()).toEqual(['first', 'second', 'held']);
  });

  test('while many transactions write, each consumer takes every event once, and those of a repository in order', async () => {
    const random = randomFrom(7);
    const ids = await Promise.all([1, 2, 3].map(recordRepository));
    const other = consumerOf(name);
    // Several processes may work for one consumer.
    let isWriting = true;
    const draining = [relay, other.consumer, other.consumer].map(async (consumer) => {
      while (isWriting) await consumer.drain();
    });
    await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let i = 0; i < 12; i++)
          await db.transaction(async (tx) => {
            await tx.execute('select pg_current_xact_id()');
            await Bun.sleep(random() * 4);
            await recordEvents(
              tx,
              ids[Math.floor(random() * ids.length)] ?? '',
              ['a', 'b'].map((part) => labelled(`${writer}-${i}-${part}`)),
              stores.clock.now(),
            );
            await Bun.sleep(random() * 4);
          });
      }),
    );
    isWriting = false;
    await Promise.all(draining);
    await other.consumer.drain();
    await relay.drain();
    expect(new Set(other.labels()).size).toBe(8 * 12 * 2);
    expect(other.taken).toHaveLength(8 * 12 * 2);
    for (const id of ids) {
      const own = other.taken.filter(({ repositoryId }) => repositoryId === id);
      expect(own.map((event) => event.id)).toEqual(own.map((event) => event.id).toSorted((a, b) => a - b));
      expect(await inLog(id)).toEqual(own.map(labelOf));
    }
    expect(await inOutbox(...ids)).toEqual([]);
  });
});

test('killed between taking and acknowledging, a consumer is given the same batch again, and then the next', async () => {
  const id = await recordRepository();
  await write(id, 'a', 'b');
  const killed = Bun.spawn([process.execPath, KILLED, stores.databaseUrl, name], { stdout: 'pipe', stderr: 'inherit' });
  const ids = JSON.parse(await new Response(killed.stdout).text()) as number[];
  await killed.exited;
  expect(killed.signalCode).toBe('SIGKILL');
  expect(ids).toHaveLength(2);
  await write(id, 'c');
  await relay.drain();
  expect(await inOutbox(id)).toEqual(['a', 'b', 'c']);

  const batches: number[][] = [];
  const next = consumerOf(name, async ({ events }) => {
    batches.push(events.map((event) => event.id));
  });
  // PostgreSQL may take a moment to notice that the process is gone.
  while (next.taken.length < 3) await next.consumer.drain();
  expect(batches[0]).toEqual(ids);
  expect(next.labels()).toEqual(['a', 'b', 'c']);
  expect(await inOutbox(id)).toEqual([]);
});

test('more events than a batch holds are taken in several, in order', async () => {
  const id = await recordRepository();
  const labels = Array.from({ length: 5_500 }, (_, i) => `event ${i}`);
  await write(id, ...labels);
  const sizes: number[] = [];
  const { consumer, labels: taken } = consumerOf(name, async ({ events }) => {
    sizes.push(events.length);
  });
  await consumer.drain();
  await relay.drain();
  expect(taken()).toEqual(labels);
  expect(sizes.length).toBeGreaterThan(1);
  expect(await inOutbox(id)).toEqual([]);
});

describe('registration', () => {
  test('a new consumer begins after the newest event, and takes what commits later, whatever its id', async () => {
    const [id, elsewhere] = [await recordRepository(), await recordRepository()];
    await write(id, 'before, without a place yet');
    const commit = await writeHeldOpen(elsewhere, 'open meanwhile');
    const added = `${name}-added`;
    await registerConsumers(db, [RELAY, name, added]);
    const { consumer, labels } = consumerOf(added);
    await consumer.drain();
    expect(labels()).toEqual([]);
    await write(id, 'after');
    await commit();
    await consumer.drain();
    expect(labels().toSorted()).toEqual(['after', 'open meanwhile']);
  });

  test('registered again, as at every start, a consumer keeps its position', async () => {
    const id = await recordRepository();
    await write(id, 'a');
    await registerConsumers(db, [RELAY, name]);
    const { consumer, labels } = consumerOf(name);
    await consumer.drain();
    expect(labels()).toEqual(['a']);
  });

  test('a consumer that an older version does not know keeps its position when that starts', async () => {
    const id = await recordRepository();
    await registerConsumers(db, OUTBOX_CONSUMERS);
    await write(id, 'a');
    await relay.drain();
    const { consumer, labels } = consumerOf(name);
    await consumer.drain();
    expect(labels()).toEqual(['a']);
  });

  test('a consumer that is removed holds back nothing, and one of an older version says why it stands', async () => {
    const id = await recordRepository();
    await write(id, 'a');
    await relay.drain();
    expect(await inOutbox(id)).toEqual(['a']);
    await removeOthers();
    await relay.drain();
    expect(await inOutbox(id)).toEqual([]);
    expect(consumerOf(name).consumer.drain()).rejects.toThrow(`the outbox has no consumer ${name}`);
  });
});

test('without any consumer, nothing is deleted', async () => {
  const id = await recordRepository();
  await write(id, 'a');
  await relay.drain();
  let left = 0;
  await db
    .transaction(async (tx) => {
      await tx.delete(outboxConsumers);
      await deleteTaken(tx);
      left = await tx.$count(eventOutbox);
      tx.rollback();
    })
    .catch(() => {});
  expect(left).toBeGreaterThan(0);
});
