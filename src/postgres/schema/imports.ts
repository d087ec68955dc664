/** Imports that were started from the page (src/postgres/imports.ts). */
import { text, uuid } from 'drizzle-orm/pg-core';
import { moment, schema } from './columns.ts';

export const IMPORT_STATUSES = ['running', 'finished', 'failed', 'cancelled', 'interrupted'] as const;

/** The last one of each repository. The token of the host is not in it: it is in the memory of who imports. */
export const imports = schema.table('imports', {
  /** Of the repository, in lower case: nothing may have arrived of it yet, so it need not be known. */
  path: text().primaryKey(),
  id: uuid().notNull(),
  /** The name of a configured host, and the repository there. */
  host: text().notNull(),
  source: text().notNull(),
  since: moment('since').notNull(),
  status: text({ enum: IMPORT_STATUSES }).notNull(),
  startedAt: moment('started_at').notNull(),
  /** The login, or the name of the key. */
  startedBy: text('started_by').notNull(),
  /** When who imports last said that it does: it may be gone. */
  seenAt: moment('seen_at').notNull(),
  finishedAt: moment('finished_at'),
  /** JSON (src/domain/import-progress.ts). */
  progress: text().notNull(),
  /** JSON, as the command writes it; null until it is finished. */
  receipt: text(),
  failure: text(),
});
