/**
 * Replaces the names of forgotten people in both stores. PostgreSQL first: events of the outbox are on their way to the event
 * log. Each step may be done again, so one that is cut off continues.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { REPOSITORIES_MAX } from '../clickhouse/cluster.ts';
import { failingStore } from '../clickhouse/failing-store.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { ShardByShard } from '../clickhouse/shards.ts';
import type { Clock } from '../clock.ts';
import { patternInJson, patternOfText } from '../domain/pseudonym.ts';
import { piecesOf } from '../pieces.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { endForgetting, noteEvents, replaceInRows, unfinishedPeople } from '../postgres/forgotten-people.ts';
import { awaitBatches } from '../postgres/outbox-consumers.ts';
import { everyRepositoryId } from '../postgres/repositories.ts';
import { removeAlone } from './leaving.ts';

const eventsOfPerson = defineLongQuery(
  'maintenance/events_of_person',
  { text_pattern: 'String', json_pattern: 'String', repository_ids: 'Array(UUID)' },
  z.object({ events: z.number() }),
);

export interface ForgettingDeps {
  db: Database;
  clickhouse: ClickHouse;
  clock: Clock;
}

/**
 * Continues with every person that is not forgotten yet, unless another process does. While a shard of a cluster does not answer,
 * the names leave what is on the others; then it throws, and a later call does the rest.
 */
export async function forgetPeople({ db, clickhouse, clock }: ForgettingDeps): Promise<void> {
  if ((await unfinishedPeople(db)).length === 0) return;
  await removeAlone(db, async () => {
    let failed: unknown;
    for (const { name, pseudonym } of await unfinishedPeople(db)) {
      if (name === null) continue;
      await replaceInRows(db, name, pseudonym);
      await onPostgres(() => awaitBatches(db));
      try {
        await replaceInEvents({ db, clickhouse }, name, pseudonym);
        await endForgetting(db, pseudonym, clock.now());
      } catch (error) {
        if (!clickhouse.isSharded || failingStore(error) !== 'clickhouse') throw error;
        failed ??= error;
      }
    }
    if (failed !== undefined) throw failed;
    return true;
  });
}

type Stores = Pick<ForgettingDeps, 'db' | 'clickhouse'>;

async function replaceInEvents(stores: Stores, name: string, pseudonym: string): Promise<void> {
  try {
    await replaceInEventsOf(stores, [], name, pseudonym);
  } catch (error) {
    if (!stores.clickhouse.isSharded || failingStore(error) !== 'clickhouse') throw error;
    await replaceWhereItAnswers(stores, name, pseudonym);
    throw error;
  }
}

async function replaceWhereItAnswers({ db, clickhouse }: Stores, name: string, pseudonym: string): Promise<void> {
  const onShards = new Map<number, string[]>();
  for (const id of await everyRepositoryId(db)) {
    const shard = await clickhouse.shardOf(id);
    onShards.set(shard, [...(onShards.get(shard) ?? []), id]);
  }
  const shards = new ShardByShard(clickhouse);
  for (const [shard, ids] of onShards)
    for (const some of piecesOf(ids, REPOSITORIES_MAX))
      await shards.attempt(shard, () => replaceInEventsOf({ db, clickhouse }, some, name, pseudonym));
}

/** @param repositoryIds none: in all */
async function replaceInEventsOf(
  { db, clickhouse }: Stores,
  repositoryIds: readonly string[],
  name: string,
  pseudonym: string,
): Promise<void> {
  const patterns = { text_pattern: `(?i)${patternOfText(name)}`, json_pattern: `(?i)${patternInJson(name)}` };
  const [found] = await clickhouse.select(eventsOfPerson, { ...patterns, repository_ids: [...repositoryIds] });
  if (!found?.events) return;
  await noteEvents(db, pseudonym, found.events, clickhouse.isSharded);
  await clickhouse.command(
    `ALTER TABLE ci.events UPDATE
       trigger = replaceRegexpOne(trigger, {text_pattern: String}, {text: String}),
       metadata = replaceRegexpAll(metadata, {json_pattern: String}, {json: String})
     WHERE match(trigger, {text_pattern: String}) OR match(metadata, {json_pattern: String})
     SETTINGS mutations_sync = 2`,
    { ...patterns, text: `\\1${pseudonym}`, json: `"\\1${pseudonym}"` },
  );
}
