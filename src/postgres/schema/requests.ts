/** Long work that people ask for, and a worker does while the service runs. */
import { sql } from 'drizzle-orm';
import { index, integer, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { moment, schema } from './columns.ts';

/** Comparisons of everything derived with the executions, which a worker makes while the service runs. */
export const verifications = schema.table(
  'verifications',
  {
    id: uuid().primaryKey(),
    requestedAt: moment('requested_at').notNull(),
    /** How many repositories were compared, and how many there are; 0 before it begins. */
    compared: integer().notNull().default(0),
    repositories: integer().notNull().default(0),
    finishedAt: moment('finished_at'),
    /** JSON; null until it is finished, or if it failed. */
    report: text(),
    /** Why it has no report. */
    failure: text(),
  },
  // One at a time.
  (table) => [
    uniqueIndex('verifications_open').on(sql`(${table.finishedAt} is null)`).where(sql`${table.finishedAt} is null`),
  ],
);

/** Replays of policies of automatic quarantine, which a worker makes while the service runs. */
export const backtests = schema.table(
  'backtests',
  {
    id: uuid().primaryKey(),
    repositoryId: uuid('repository_id').notNull(),
    requestedAt: moment('requested_at').notNull(),
    /** The login, or the name of the key. */
    requestedBy: text('requested_by').notNull(),
    /** JSON (src/domain/backtest-policy.ts). */
    policy: text().notNull(),
    /** How many tests were replayed, and how many there are; 0 before it begins. */
    replayed: integer().notNull().default(0),
    tests: integer().notNull().default(0),
    finishedAt: moment('finished_at'),
    /** JSON; null until it is finished, or if it failed. */
    report: text(),
    /** The report in a sentence, for the list: reports are long. */
    summary: text(),
    /** Why it has no report. */
    failure: text(),
  },
  (table) => [
    // Lists those of a repository, the newest first.
    index('backtests_repository').on(table.repositoryId, table.id),
    // One at a time of each repository. The worker looks for the oldest.
    uniqueIndex('backtests_open').on(table.repositoryId).where(sql`${table.finishedAt} is null`),
    // Finds backtests that are due to be forgotten.
    index('backtests_finished').on(table.finishedAt),
  ],
);
