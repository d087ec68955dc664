/**
 * Replaces the names of forgotten people in both stores. PostgreSQL first: events of the outbox are on their way to the event
 * log. Each step may be done again, so one that is cut off continues.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import type { Clock } from '../clock.ts';
import { patternInJson, patternOfText } from '../domain/pseudonym.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { endForgetting, noteEvents, replaceInRows, unfinishedPeople } from '../postgres/forgotten-people.ts';
import { awaitBatches } from '../postgres/outbox-consumers.ts';
import { removeAlone } from './leaving.ts';

const eventsOfPerson = defineLongQuery(
  'maintenance/events_of_person',
  { text_pattern: 'String', json_pattern: 'String' },
  z.object({ events: z.number() }),
);

export interface ForgettingDeps {
  db: Database;
  clickhouse: ClickHouse;
  clock: Clock;
}

/** Continues with every person that is not forgotten yet, unless another process does. */
export async function forgetPeople({ db, clickhouse, clock }: ForgettingDeps): Promise<void> {
  if ((await unfinishedPeople(db)).length === 0) return;
  await removeAlone(db, async () => {
    for (const { name, pseudonym } of await unfinishedPeople(db)) {
      if (name === null) continue;
      await replaceInRows(db, name, pseudonym);
      await onPostgres(() => awaitBatches(db));
      await replaceInEvents({ db, clickhouse }, name, pseudonym);
      await endForgetting(db, pseudonym, clock.now());
    }
    return true;
  });
}

async function replaceInEvents(
  { db, clickhouse }: Pick<ForgettingDeps, 'db' | 'clickhouse'>,
  name: string,
  pseudonym: string,
): Promise<void> {
  const patterns = { text_pattern: `(?i)${patternOfText(name)}`, json_pattern: `(?i)${patternInJson(name)}` };
  const [found] = await clickhouse.select(eventsOfPerson, patterns);
  if (!found?.events) return;
  await noteEvents(db, pseudonym, found.events);
  await clickhouse.command(
    `ALTER TABLE ci.events UPDATE
       trigger = replaceRegexpOne(trigger, {text_pattern: String}, {text: String}),
       metadata = replaceRegexpAll(metadata, {json_pattern: String}, {json: String})
     WHERE match(trigger, {text_pattern: String}) OR match(metadata, {json_pattern: String})
     SETTINGS mutations_sync = 2`,
    { ...patterns, text: `\\1${pseudonym}`, json: `"\\1${pseudonym}"` },
  );
}
