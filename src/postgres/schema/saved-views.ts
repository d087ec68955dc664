/** Views of list pages that people keep under a name (src/postgres/saved-views.ts). */
import { sql } from 'drizzle-orm';
import { index, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { VIEW_PAGES } from '../../domain/saved-views.ts';
import { moment, schema } from './columns.ts';

export const savedViews = schema.table(
  'saved_views',
  {
    id: uuid().primaryKey(),
    repositoryId: uuid('repository_id').notNull(),
    /** Whose it is, or `EVERYONE`. */
    holder: uuid().notNull(),
    /** The key whose it is, with which it leaves; null: a person's, or everyone's. */
    keyId: uuid('key_id'),
    name: text().notNull(),
    /** Not the whole address, so that it outlives a rename of the repository. */
    page: text({ enum: VIEW_PAGES }).notNull(),
    /** Without the question mark. */
    query: text().notNull(),
    /** Who saved it: the name of a key, or a login. */
    actor: text().notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [
    // A name is once among those of a holder, in any case of letters. Its beginning also finds those that a page lists.
    uniqueIndex('saved_views_name').on(table.repositoryId, table.holder, sql`lower(${table.name})`),
    // Those whose key may have ended.
    index('saved_views_key').on(table.keyId).where(sql`${table.keyId} is not null`),
  ],
);
