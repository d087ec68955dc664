/** Totals of repositories, which are kept up to date. */
import { bigint, integer, primaryKey, uuid } from 'drizzle-orm/pg-core';
import { schema } from './columns.ts';

/**
 * How many tests of a repository are in which health now, and when it last ran. Whatever changes that adds the difference
 * in the same transaction (src/postgres/repository-totals.ts). A repository in which nothing ran has no row.
 */
export const repositoryCounts = schema.table('repository_counts', {
  repositoryId: uuid('repository_id').primaryKey(),
  tests: integer().notNull().default(0),
  flaky: integer().notNull().default(0),
  broken: integer().notNull().default(0),
  /** Flaky tests by the UTC day on which they last failed on their own: day (days since the epoch), tests, day, … */
  flakyDays: integer('flaky_days').array().notNull().default([]),
  /** When the newest execution on any branch finished; milliseconds since the epoch. */
  newestMs: bigint('newest_ms', { mode: 'number' }).notNull().default(0),
  /** The same of what CI has sent, without imported results: of the default branch, pull requests, and other branches. */
  liveDefaultMs: bigint('live_default_ms', { mode: 'number' }).notNull().default(0),
  livePullMs: bigint('live_pull_ms', { mode: 'number' }).notNull().default(0),
  liveOtherMs: bigint('live_other_ms', { mode: 'number' }).notNull().default(0),
});

/**
 * Tests by health and failures of a repository on each UTC day (src/domain/repository-stats.ts), and on days to come if
 * nothing more runs: a test counts on the day on which it ran and the 13 days after.
 */
export const repositoryDays = schema.table(
  'repository_days',
  {
    repositoryId: uuid('repository_id').notNull(),
    /** Days since the epoch. */
    day: integer().notNull(),
    /** Tests by their health at the end of the day. */
    healthy: integer().notNull(),
    flaky: integer().notNull(),
    broken: integer().notNull(),
    /** Failed executions. */
    failures: integer().notNull(),
  },
  // By repository first: a series is one range of it.
  (table) => [primaryKey({ columns: [table.repositoryId, table.day] })],
);
