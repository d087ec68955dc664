/** Tests that were forgotten. */
import { sql } from 'drizzle-orm';
import { index, integer, jsonb, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { bytea, moment, schema } from './columns.ts';

/** A request to forget some tests of a repository, and its receipt afterwards. */
export const forgottenTests = schema.table(
  'forgotten_tests',
  {
    id: uuid().primaryKey(),
    repositoryId: uuid('repository_id').notNull(),
    testIds: uuid('test_ids').array().notNull(),
    requestedAt: moment('requested_at').notNull(),
    /** The name of who asked, as in the trail. */
    requestedBy: text('requested_by').notNull(),
    /** Rows that were removed so far, by table. */
    removed: jsonb().$type<Record<string, number>>().notNull().default({}),
    /** Null: some rows may still be there. */
    finishedAt: moment('finished_at'),
  },
  (table) => [
    // The receipts of a repository, newest first.
    index('forgotten_tests_listed').on(table.repositoryId, table.requestedAt.desc()),
    // A worker continues these; there is nearly always none.
    index('forgotten_tests_unfinished').on(table.requestedAt).where(sql`${table.finishedAt} is null`),
  ],
);

/**
 * Executions that left with a forgotten test, in eight bytes each. Their claims stay, so that the same report does not bring them
 * back; these rows say that they are not missing. They leave with the month, as the claims do.
 */
export const forgottenExecutions = schema.table(
  'forgotten_executions',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    /** Such as 202611. */
    month: integer().notNull(),
    ids: bytea().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.testId, table.month] }),
    // A month leaves at once; also finds those that are compared with what is stored.
    index('forgotten_executions_month').on(table.month),
  ],
);
