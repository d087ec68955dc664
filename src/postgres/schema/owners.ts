/** Who owns tests. */
import { index, integer, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core';
import { CODEOWNERS_HOSTS } from '../../domain/codeowners-pattern.ts';
import { byteText, moment, schema } from './columns.ts';

/** The CODEOWNERS of each repository that has sent one. */
export const codeowners = schema.table('codeowners', {
  repositoryId: uuid('repository_id').primaryKey(),
  host: text({ enum: CODEOWNERS_HOSTS }).notNull(),
  /** Of the file in the repository. */
  path: text().notNull(),
  content: text().notNull(),
  /** Files that may hold tests, one a line; empty: not known. */
  files: text().notNull(),
  changedAt: moment('changed_at').notNull(),
  /** The name of the key or person that sent it. */
  changedBy: text('changed_by').notNull(),
  /** Lines whose patterns match the file of a test. */
  matchedLines: integer('matched_lines').array().notNull().default([]),
});

/** Tests whose owners are derived, each with the file that they follow from. Can be derived again. */
export const ownedTests = schema.table(
  'owned_tests',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    /** As the newest execution reports it; empty when unknown. */
    file: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.repositoryId, table.testId] })],
);

/** The owners of each test. One that has none has a row with an empty owner, so that a search finds it by the same index. */
export const testOwners = schema.table(
  'test_owners',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    owner: byteText().notNull(),
    /** From 0, in the order in which they are named. The first owns new quarantines. */
    position: smallint().notNull(),
  },
  (table) => [
    // The owners of a test are a range.
    primaryKey({ columns: [table.repositoryId, table.testId, table.owner] }),
    // So are the tests of an owner. By owner first: a planner without statistics takes no index for the other.
    index('test_owners_owner').on(table.owner, table.repositoryId, table.testId),
  ],
);
