/** Splits of lists of tests, which the shards of a run share. */
import { index, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { moment, schema } from './columns.ts';

/** Written by the shard that asks first. Forgotten after some days (src/postgres/splits.ts). */
export const splits = schema.table(
  'splits',
  {
    /** `owner/name` in lower case: a repository may get its first result, and with it its id, between two shards. */
    repository: text().notNull(),
    /** Names the run, the leg, and how its list is split. */
    runKey: uuid('run_key').notNull(),
    /** Names the list. */
    listKey: uuid('list_key').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** JSON (src/insights/split.ts). */
    split: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.repository, table.runKey, table.listKey] }),
    // Finds those that are due to be forgotten.
    index('splits_created').on(table.createdAt),
  ],
);
