/** Repositories that were deleted. */
import { sql } from 'drizzle-orm';
import { index, jsonb, text, uuid } from 'drizzle-orm/pg-core';
import { moment, schema } from './columns.ts';

/**
 * What is left of a deleted repository: its path, so that an upload from before the deletion does not bring it back; its id,
 * which is not given again; and the receipt.
 */
export const deletedRepositories = schema.table(
  'deleted_repositories',
  {
    /** The id that it had. */
    id: uuid().primaryKey(),
    /** The path that it had. */
    host: text().notNull(),
    owner: text().notNull(),
    name: text().notNull(),
    deletedAt: moment('deleted_at').notNull(),
    /** The name of who deleted it, as in the trail. */
    deletedBy: text('deleted_by').notNull(),
    /** Rows that were removed so far, by table. */
    removed: jsonb().$type<Record<string, number>>().notNull().default({}),
    /** Null: some rows may still be there. */
    finishedAt: moment('finished_at'),
  },
  (table) => [
    // The deletions at a path: asked by each upload of a repository that is not known.
    index('deleted_repositories_path').on(sql`lower(${table.owner})`, sql`lower(${table.name})`, table.deletedAt),
    // A worker continues these; there is nearly always none.
    index('deleted_repositories_unfinished').on(table.deletedAt).where(sql`${table.finishedAt} is null`),
  ],
);
