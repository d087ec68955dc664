/** Runs and commits as the evaluation knows them. Can be derived again from the executions. */
import { sql } from 'drizzle-orm';
import { bigint, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { schema } from './columns.ts';

/**
 * Runs (an attempt of a CI job, limited to a UTC day), and what each means for a test that fails in it
 * (src/domain/judge-runs.ts). Written with the state of the tests, because each follows from the other. Off the default
 * branch, only runs that a contradiction names.
 */
export const judgedRuns = schema.table(
  'judged_runs',
  {
    repositoryId: uuid('repository_id').notNull(),
    pipelineName: text('pipeline_name').notNull(),
    jobName: text('job_name').notNull(),
    axes: text().notNull(),
    /** Days since the epoch. */
    day: integer().notNull(),
    runId: text('run_id').notNull(),
    runAttempt: bigint('run_attempt', { mode: 'number' }).notNull(),
    /** Empty on the default branch: there, a run is named without its commit. */
    commitSha: text('commit_sha').notNull(),
    /** When its first execution finished; milliseconds since the epoch. */
    startedMs: bigint('started_ms', { mode: 'number' }).notNull(),
    /** Passed and failed. */
    executions: integer().notNull(),
    /**
     * The tests that failed in it, or passed only after failed attempts: those that were healthy before it, and the others.
     */
    unexpected: uuid().array().notNull(),
    expected: uuid().array().notNull(),
    /** The failed ones that kept failing. */
    again: uuid().array().notNull(),
    /** The length of `unexpected`, for readers that do not need the tests. */
    unexpectedCount: integer('unexpected_count').notNull(),
    /** Null if nothing went wrong in it; else numbers as JSON (src/postgres/judged-runs.ts). */
    meaning: text(),
  },
  (table) => [
    primaryKey({
      columns: [
        table.repositoryId,
        table.pipelineName,
        table.jobName,
        table.axes,
        table.day,
        table.runId,
        table.runAttempt,
        table.commitSha,
      ],
    }),
    // The runs before and after a moment, in order.
    index('judged_runs_started').on(table.repositoryId, table.startedMs),
    // Finds the runs of a commit that gets new runs; there are few.
    index('judged_runs_commits').on(table.repositoryId, table.commitSha).where(sql`${table.commitSha} <> ''`),
  ],
);

/**
 * The clues of commits about identities (src/domain/clues.ts). Written with the state of the tests, which takes it in; leaves with
 * the month of its executions.
 */
export const clues = schema.table(
  'clues',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    pipelineName: text('pipeline_name').notNull(),
    jobName: text('job_name').notNull(),
    axes: text().notNull(),
    commitSha: text('commit_sha').notNull(),
    /** The execution that showed it; milliseconds since the epoch. */
    atMs: bigint('at_ms', { mode: 'number' }).notNull(),
    runId: text('run_id').notNull(),
    runAttempt: bigint('run_attempt', { mode: 'number' }).notNull(),
    executionId: text('execution_id').notNull(),
    /** The failure, or the pass after failed attempts: the same execution, or one before it. */
    failedMs: bigint('failed_ms', { mode: 'number' }).notNull(),
    failedExecutionId: text('failed_execution_id').notNull(),
    /** The run of the failure: `pullRequestRunKeyOf` it. */
    failedRun: text('failed_run').notNull(),
    /** Other legs, before and after; empty for a contradiction. The run of a failure that these are about is empty. */
    otherLegs: text('other_legs').notNull(),
  },
  (table) => [
    // Judged by test.
    primaryKey({
      columns: [
        table.repositoryId,
        table.testId,
        table.pipelineName,
        table.jobName,
        table.axes,
        table.commitSha,
        table.atMs,
        table.failedExecutionId,
      ],
    }),
    // Finds the clues of a commit that gets new runs.
    index('clues_commits').on(table.repositoryId, table.commitSha),
  ],
);

/**
 * Commits on which something failed. Only these can have clues, so that the others cost one look here and no statement in
 * ClickHouse.
 */
export const failedCommits = schema.table(
  'failed_commits',
  {
    repositoryId: uuid('repository_id').notNull(),
    commitSha: text('commit_sha').notNull(),
    /** When the newest failure finished; milliseconds since the epoch. Leaves with its month. */
    newestMs: bigint('newest_ms', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.repositoryId, table.commitSha] })],
);

/**
 * The runs of a commit on which a test failed, and the results of these tests, as one text (src/commits/commit-record.ts):
 * every CI job asks for them, and ClickHouse takes longer to plan the statements than PostgreSQL to find a row. Follows from
 * what ClickHouse has, so a row may be missing: then that is asked. A pass removes the records that it outdates, and a
 * refresh writes them again.
 */
export const commitRecords = schema.table(
  'commit_records',
  {
    repositoryId: uuid('repository_id').notNull(),
    commitSha: text('commit_sha').notNull(),
    /** When its first execution finished; milliseconds since the epoch. */
    firstMs: bigint('first_ms', { mode: 'number' }).notNull(),
    record: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.commitSha] }),
    // Retention removes the oldest.
    index('commit_records_first_ms').on(table.firstMs),
  ],
);
