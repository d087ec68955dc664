/** People whose names were replaced by pseudonyms. */
import { sql } from 'drizzle-orm';
import { boolean, index, jsonb, text } from 'drizzle-orm/pg-core';
import { moment, schema } from './columns.ts';

export const forgottenPeople = schema.table(
  'forgotten_people',
  {
    /** Follows from the name (src/domain/pseudonym.ts), and no name from it. */
    pseudonym: text().primaryKey(),
    /** Null once every row is changed. */
    name: text(),
    /** Whether the name is replaced in what arrives from now on. */
    isForLater: boolean('is_for_later').notNull(),
    requestedAt: moment('requested_at').notNull(),
    /** Rows that were changed so far, by table. */
    changed: jsonb().$type<Record<string, number>>().notNull().default({}),
    finishedAt: moment('finished_at'),
  },
  (table) => [
    // A worker continues these; there is nearly always none.
    index('forgotten_people_unfinished').on(table.requestedAt).where(sql`${table.finishedAt} is null`),
  ],
);
