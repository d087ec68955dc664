/**
 * Consumers of the outbox: who reads events after their commit. Each has its own position, and takes the events after it in
 * batches, in order, each at least once. An event leaves the outbox when every consumer has taken it, so one that is
 * slow or fails costs room and holds up no other.
 *
 * A position is a *place*, and not an id: ids are given while transactions are open. One that stays open may commit an id
 * that is lower than those that a consumer has taken by then, and its event would never be read. So an event gets its place
 * after its commit. One process at a time gives places, in the order of the ids that it sees, and the next begins when its
 * places are committed: places become visible in their order. Those of a repository follow its ids, because its row is
 * locked until the commit. (Numbers of transactions, `xid8`, would not do: they tell which events are complete, but do not
 * keep that order, and one long transaction of any database on the server would hold up all events.)
 */
import { and, asc, eq, gt, inArray, lte, sql } from 'drizzle-orm';
import type { Executor, Transactor } from './client.ts';
import { PLACES_LOCK } from './locks.ts';
import { nextValueOf } from './schema/columns.ts';
import { eventOutbox, eventPlaces, outboxConsumers } from './schema.ts';

/** Carries the events to the event log (workers/relay.ts). The migration registers it: it takes every event since then. */
export const RELAY = 'relay';
/** The consumers of this version. workers/main.ts has what each does. */
export const OUTBOX_CONSUMERS = [RELAY] as const;
export type OutboxConsumerName = (typeof OUTBOX_CONSUMERS)[number];

/** Each shard of a cluster has a relay: a shard that does not answer keeps only its own events waiting. */
export const relayOf = (shard: number): string => (shard === 0 ? RELAY : `${RELAY}-${shard + 1}`);
export const isRelay = (name: string): boolean => /^relay(-\d+)?$/.test(name);

/** Limits of one batch. */
const BATCH_EVENTS_MAX = 5_000;
const BATCH_METADATA_BYTES_MAX = 8 * 1024 * 1024;

export type PendingEvent = typeof eventOutbox.$inferSelect;

/** Events that a consumer has in hand. */
export interface EventBatch {
  /** The place before the first event, and that of the last. No other batch of the consumer has the same two. */
  after: number;
  end: number;
  events: PendingEvent[];
}

/**
 * Called at start with the consumers that the code has; a new one begins after the newest event. The migration of a version that
 * no longer has one deletes its row, so that no event waits for it. Not the start: during an update, an older version that
 * starts again would delete a newer one's.
 */
export async function registerConsumers(db: Transactor, names: readonly string[]): Promise<void> {
  await db.transaction(async (tx) => {
    const known = await tx.select({ name: outboxConsumers.name }).from(outboxConsumers);
    const added = names.filter((name) => !known.some((one) => one.name === name));
    if (added.length === 0) return;
    while ((await placeEvents(tx)) > 0);
    // Under the lock that places are given under: above every place so far, and below those to come.
    const position = nextValueOf(eventPlaces);
    await tx
      .insert(outboxConsumers)
      .values(added.map((name) => ({ name, position })))
      .onConflictDoNothing();
  });
}

/**
 * Registers the relays of all shards, where the first one is: what it has not taken yet, they have not taken either. Those of
 * shards that are no longer there go, so that no event waits for them.
 */
export async function registerRelays(db: Transactor, shards: number): Promise<void> {
  const names = Array.from({ length: shards }, (_, shard) => relayOf(shard)).filter((name) => name !== RELAY);
  await db.transaction(async (tx) => {
    const relays = (await tx.select().from(outboxConsumers).orderBy(asc(outboxConsumers.name)).for('update')).filter(
      ({ name }) => isRelay(name),
    );
    const first = relays.find(({ name }) => name === RELAY);
    const known = relays.filter((relay) => relay !== first);
    const position = first?.position ?? 0;
    const added = names.filter((name) => !known.some((one) => one.name === name));
    const gone = known.map(({ name }) => name).filter((name) => !names.includes(name));
    if (added.length > 0) await tx.insert(outboxConsumers).values(added.map((name) => ({ name, position })));
    if (gone.length > 0) await tx.delete(outboxConsumers).where(inArray(outboxConsumers.name, gone));
  });
}

/** Gives places to events that have none, up to a batch. Others wait for it until the transaction ends. */
async function placeEvents(tx: Executor): Promise<number> {
  await tx.execute(sql`select pg_advisory_xact_lock(${PLACES_LOCK})`);
  // Materialized: each number is drawn once, in the order of the ids.
  const { rowCount } = await tx.execute(sql`
    with placed as materialized (
      select id, ${nextValueOf(eventPlaces)} as place from (
        select id from ${eventOutbox} where place is null order by id limit ${BATCH_EVENTS_MAX}
      ) as next
    )
    update ${eventOutbox} set place = placed.place from placed where ${eventOutbox.id} = placed.id`);
  return rowCount ?? 0;
}

/** Whether a consumer has anything to take. It only reads, so that an idle consumer writes nothing. */
export async function isAnythingWaiting(db: Executor, name: string): Promise<boolean> {
  const { rows } = await db.execute<{ is_waiting: boolean }>(sql`
    select batch_end is not null
      or exists (select from ${eventOutbox} where place is null)
      or exists (select from ${eventOutbox} where place > position) as is_waiting
    from ${outboxConsumers} where name = ${name}`);
  const [row] = rows;
  if (!row)
    throw new Error(
      `the outbox has no consumer ${name}: another version has started since this process, so restart it`,
    );
  return row.is_waiting;
}

/**
 * Writes down the next batch of a consumer, unless it has one in hand. The transaction must commit before the batch is
 * handled: so a repeat after a crash has the same events. False if nothing waits, or another process is at it.
 */
export async function takeBatch(tx: Executor, name: string): Promise<boolean> {
  const consumer = await lockConsumer(tx, name);
  if (!consumer) return false;
  if (consumer.batchEnd !== null) return true;
  await placeEvents(tx);
  const { rowCount } = await tx.execute(sql`
    update ${outboxConsumers} set batch_end = batch.last from (
      select max(place) as last from (
        select place, row_number() over (order by place) as number,
          sum(octet_length(metadata)) over (order by place) as bytes
        from (
          select place, metadata from ${eventOutbox} where place > ${consumer.position}
          order by place limit ${BATCH_EVENTS_MAX}
        ) as next
      ) as counted
      where number = 1 or bytes <= ${BATCH_METADATA_BYTES_MAX}
    ) as batch
    where name = ${name} and batch.last is not null`);
  return (rowCount ?? 0) > 0;
}

/** The batch that a consumer has in hand, which is this transaction's alone until it ends. */
export async function batchInHand(tx: Executor, name: string): Promise<EventBatch | undefined> {
  const consumer = await lockConsumer(tx, name);
  if (!consumer || consumer.batchEnd === null) return undefined;
  const { position: after, batchEnd: end } = consumer;
  const events = await tx
    .select()
    .from(eventOutbox)
    .where(and(gt(eventOutbox.place, after), lte(eventOutbox.place, end)))
    .orderBy(asc(eventOutbox.place));
  return { after, end, events };
}

/** The consumer has taken the batch. */
export async function acknowledge(tx: Executor, name: string, { end }: EventBatch): Promise<void> {
  await tx.update(outboxConsumers).set({ position: end, batchEnd: null }).where(eq(outboxConsumers.name, name));
}

/** Deletes what every consumer has taken. Call it after the commit of what was acknowledged. */
export async function deleteTaken(db: Executor): Promise<void> {
  await db.execute(sql`
    delete from ${eventOutbox} where id in (
      select id from ${eventOutbox} where place <= (select min(position) from ${outboxConsumers})
      for update skip locked
    )`);
}

/** Waits until every consumer has let go of the batch that it has in hand. */
export async function awaitBatches(db: Executor): Promise<void> {
  await db.select().from(outboxConsumers).orderBy(asc(outboxConsumers.name)).for('update');
}

/** The row of the consumer until the end of the transaction; undefined if another process has it. */
async function lockConsumer(tx: Executor, name: string): Promise<typeof outboxConsumers.$inferSelect | undefined> {
  const [row] = await tx
    .select()
    .from(outboxConsumers)
    .where(eq(outboxConsumers.name, name))
    .for('update', { skipLocked: true });
  return row;
}
