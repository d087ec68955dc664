/** Numbers of a repository that are kept up to date. */
import { bigint, integer, uuid } from 'drizzle-orm/pg-core';
import { schema } from './columns.ts';

/**
 * How many tests of a repository are in which health, for the list of repositories. Whatever writes identities raises
 * `changes` in the same transaction; who reads the list counts again where that differs from `counted`. So a run costs
 * one small row, and a look at ten thousand repositories counts only those in which something ran since the last look.
 */
export const repositoryCounts = schema.table('repository_counts', {
  repositoryId: uuid('repository_id').primaryKey(),
  changes: bigint({ mode: 'number' }).notNull(),
  /** The changes that the numbers below include; 0 before the first count. */
  counted: bigint({ mode: 'number' }).notNull().default(0),
  tests: integer().notNull().default(0),
  flaky: integer().notNull().default(0),
  broken: integer().notNull().default(0),
});
