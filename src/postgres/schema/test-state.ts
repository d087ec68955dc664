/** The state of tests as the evaluation knows it. Can be derived again from the executions. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, numeric, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core';
import { HEALTHS } from '../../domain/status.ts';
import { byteText, moment, schema } from './columns.ts';

/** In characters, as PostgreSQL counts them. */
export const NAME_START_LENGTH = 64;

/** Same as `left(name, 64)`: counts characters, not halves of them. */
export const startOfName = (name: string): string =>
  name.length <= NAME_START_LENGTH
    ? name
    : [...name.slice(0, 2 * NAME_START_LENGTH)].slice(0, NAME_START_LENGTH).join('');

/**
 * Every test that ever ran on a default branch. Written once, so the index of names is not touched by results. Its first
 * failure outlives retention.
 */
export const tests = schema.table(
  'tests',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    name: text().notNull(),
    firstFailedAt: moment('first_failed_at'),
    /** Text, because ids go up to 2^64. */
    firstFailedExecution: text('first_failed_execution'),
    firstFailedCommit: text('first_failed_commit'),
  },
  (table) => [
    // By repository first: the lookup of every read, and the key to spread the table by.
    primaryKey({ columns: [table.repositoryId, table.testId] }),
    // Search by pattern. Both columns in one index, so that names of other repositories cost nothing. Every search
    // reads the list of pending names, so it is short. Without one, a new name would cost twice as much.
    index('tests_name')
      .using('gin', table.repositoryId, sql`${table.name} gin_trgm_ops`)
      .with({ gin_pending_list_limit: 512 }),
    // A page of tests in the order of names. An index cannot hold names of 10,000 characters.
    index('tests_start').on(
      table.repositoryId,
      sql`left(${table.name}, ${sql.raw(String(NAME_START_LENGTH))}) collate "C"`,
    ),
  ],
);

/**
 * How often each identity (test, pipeline, CI job) ran. Every pass of the evaluation adds to the rows of its tests, in any
 * order, and reads nothing (src/postgres/count-identities.ts). A fill factor of 85 leaves room to rewrite a row on its page.
 */
export const identities = schema.table(
  'identities',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    pipelineName: text('pipeline_name').notNull(),
    jobName: text('job_name').notNull(),
    axes: text().notNull(),
    /** Whether another row, whose axes are `*`, stands for it in lists: its CI job has had several legs. */
    isFolded: boolean('is_folded').notNull(),
    /** How the name of the test begins: the order of as many executions. */
    nameStart: text('name_start').notNull(),
    /** Retained executions, skipped ones included. */
    executions: bigint({ mode: 'number' }).notNull(),
    /** The newest UTC day on which it passed or failed (days since the epoch; 0: none is retained), and how often it did. */
    day: integer().notNull(),
    dayPassed: integer('day_passed').notNull(),
    dayFailed: integer('day_failed').notNull(),
    /** Other days: day, passed, failed, day, … in any order. A day may be there several times: readers add it up. */
    days: integer().array().notNull(),
    /** The newest month (YYYYMM) with retained executions: how many, and when the first of them finished. */
    month: integer().notNull(),
    monthExecutions: bigint('month_executions', { mode: 'number' }).notNull(),
    monthFirstMs: bigint('month_first_ms', { mode: 'number' }).notNull(),
    /** Other months: month, executions, first, month, … in any order, like `days`. */
    months: bigint({ mode: 'number' }).array().notNull(),
    /**
     * When it last passed, and when an attempt of it last failed, as far as that is retained; milliseconds since the epoch,
     * 0 for never.
     */
    lastSuccessMs: bigint('last_success_ms', { mode: 'number' }).notNull(),
    lastFailureMs: bigint('last_failure_ms', { mode: 'number' }).notNull(),
    /** When the newest retained execution finished, and what is shown of it; 0 and empty if none is retained. */
    newestMs: bigint('newest_ms', { mode: 'number' }).notNull(),
    newest: byteText().notNull(),
    /** Clean passes ever, retained or not: of an identity that is not a suspect, all there is to believe. */
    passes: bigint({ mode: 'number' }).notNull(),
    /** The last clean pass: when it finished, and its place among those that finished at the same time. */
    passMs: bigint('pass_ms', { mode: 'number' }).notNull(),
    passPlace: byteText('pass_place').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.testId, table.pipelineName, table.jobName, table.axes] }),
    // The first page of "most executions first", without reading every identity of the repository. To keep it exact costs
    // 1.0 of some 50 processor seconds for a million executions.
    index('identities_executions')
      .on(table.repositoryId, table.executions.desc().nullsFirst(), sql`${table.nameStart} collate "C"`)
      .where(sql`not ${table.isFolded}`),
  ],
);

/**
 * The legs that CI jobs have had on the default branch, which are few. With the second leg of a job, rows that add its
 * legs up begin (src/postgres/job-legs.ts).
 */
export const jobLegs = schema.table(
  'job_legs',
  {
    repositoryId: uuid('repository_id').notNull(),
    pipelineName: text('pipeline_name').notNull(),
    jobName: text('job_name').notNull(),
    axes: text().notNull(),
  },
  // All legs of a job are a range.
  (table) => [primaryKey({ columns: [table.repositoryId, table.pipelineName, table.jobName, table.axes] })],
);

/**
 * Suspects (src/domain/suspect.ts): the few identities that have failed, passed only after failed attempts, or been
 * contradicted by a commit. All others are healthy. Outlives retention.
 */
export const suspects = schema.table(
  'suspects',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    pipelineName: text('pipeline_name').notNull(),
    jobName: text('job_name').notNull(),
    axes: text().notNull(),
    /** The shown health: healthy while the identity has not run on the default branch. */
    health: text({ enum: HEALTHS }).notNull(),
    /** The rank of its level, for filters and orders of lists. */
    confidence: smallint().notNull(),
    /** When it last failed on its own (src/domain/activity.ts); milliseconds since the epoch, 0 for never. */
    ownFailureMs: bigint('own_failure_ms', { mode: 'number' }).notNull(),
    /** Beliefs before the recent executions and after them (src/postgres/belief-text.ts); empty: nothing yet. */
    before: text().notNull(),
    after: text().notNull(),
    /** The executions of its last day (src/postgres/suspect-text.ts). */
    recent: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.testId, table.pipelineName, table.jobName, table.axes] }),
    // Flaky and broken tests, which are few: what people look for most, and which of some tests they are.
    index('suspects_unhealthy')
      .on(table.repositoryId, table.health, table.testId)
      .where(sql`${table.health} <> 'healthy'`),
  ],
);

/**
 * Beliefs about each identity at the end of the newest month that has left: where a fold of its retained executions
 * begins. Written by retention alone.
 */
export const baselines = schema.table(
  'baselines',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    pipelineName: text('pipeline_name').notNull(),
    jobName: text('job_name').notNull(),
    axes: text().notNull(),
    belief: text().notNull(),
    /** Whether it ran on the default branch. Of others, only pull requests have shown something. */
    hasRun: boolean('has_run').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.testId, table.pipelineName, table.jobName, table.axes] }),
  ],
);

/** Executions on the default branch that count as flaky. They leave with their month. */
export const flakyExecutions = schema.table(
  'flaky_executions',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    /** Milliseconds since the epoch. */
    finishedMs: bigint('finished_ms', { mode: 'number' }).notNull(),
    /** Ids go up to 2^64. */
    executionId: numeric('execution_id', { precision: 20, scale: 0 }).notNull(),
  },
  // A test in a window is a range.
  (table) => [primaryKey({ columns: [table.repositoryId, table.testId, table.finishedMs, table.executionId] })],
);

/**
 * One row for each test that has identities. The order and the number of entries of a search by names follow from it,
 * without reading the identities (src/postgres/test-listings.ts). Small rows, of which fifty fit on a page.
 */
export const testListings = schema.table(
  'test_listings',
  {
    repositoryId: uuid('repository_id').notNull(),
    /** How its name begins. */
    nameStart: byteText('name_start').notNull(),
    testId: uuid('test_id').notNull(),
    /** The most executions that one of its identities has; 0 if none is retained. */
    executions: bigint({ mode: 'number' }).notNull(),
    /** Identities with retained executions. */
    identities: integer().notNull(),
  },
  // In the order of names: a search finds its tests by how they begin. Numbers are not in the key, so that a row whose
  // numbers change is rewritten on its page.
  (table) => [primaryKey({ columns: [table.repositoryId, table.nameStart, table.testId] })],
);

/**
 * When the health of an identity changed, by which execution, and with which failure that began. Outlives retention, as the
 * health does.
 */
export const healthChanges = schema.table(
  'health_changes',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    pipelineName: text('pipeline_name').notNull(),
    jobName: text('job_name').notNull(),
    axes: text().notNull(),
    /** When the execution finished; milliseconds since the epoch. */
    atMs: bigint('at_ms', { mode: 'number' }).notNull(),
    runId: text('run_id').notNull(),
    runAttempt: bigint('run_attempt', { mode: 'number' }).notNull(),
    executionId: text('execution_id').notNull(),
    before: text({ enum: HEALTHS }).notNull(),
    after: text({ enum: HEALTHS }).notNull(),
    /** The first failure of the episode; null on recovery. What is known of it is here, because it leaves with its month. */
    beganExecution: text('began_execution'),
    beganMs: bigint('began_ms', { mode: 'number' }),
    /** Empty when unknown. */
    beganCommit: text('began_commit').notNull().default(''),
    exceptionType: text('exception_type'),
    /** The number of the pull request that ran it; null on the default branch. */
    pullRequest: integer('pull_request'),
  },
  (table) => [
    // Read by test.
    primaryKey({
      columns: [
        table.repositoryId,
        table.testId,
        table.pipelineName,
        table.jobName,
        table.axes,
        table.atMs,
        table.executionId,
      ],
    }),
    // The tests of a repository whose health changed within a window. Changes are few, so the index costs little. The
    // repository is a text here, so that reads by test cannot take it for theirs while the table has no statistics.
    index('health_changes_at').on(sql`(${table.repositoryId}::text)`, table.atMs),
  ],
);

/** The failure groups of each test, with the texts of their newest failure. */
export const failureGroups = schema.table(
  'failure_groups',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    failureId: uuid('failure_id').notNull(),
    /** For each retained month: YYYYMM, failures, the first of them in milliseconds since the epoch, YYYYMM, … */
    months: text().notNull(),
    /** The newest failure; of several at the same time, that of the greatest execution and attempt. */
    lastMs: bigint('last_ms', { mode: 'number' }).notNull(),
    lastExecution: text('last_execution').notNull(),
    lastAttempt: integer('last_attempt').notNull(),
    exceptionType: text('exception_type').notNull(),
    exceptionMessage: text('exception_message').notNull(),
  },
  (table) => [primaryKey({ columns: [table.repositoryId, table.testId, table.failureId] })],
);

/**
 * The groups that failures were in under an older fingerprint, and the groups that have them now: what links and
 * quarantines still name. One group may have been split.
 */
export const formerGroups = schema.table(
  'former_groups',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    failureId: uuid('failure_id').notNull(),
    movedTo: uuid('moved_to').notNull(),
    /** The newest failure that moved, in milliseconds since the epoch. */
    lastMs: bigint('last_ms', { mode: 'number' }).notNull(),
    /** Whether the state of the test waits to be derived from the new groups. */
    isPending: boolean('is_pending').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.testId, table.failureId, table.movedTo] }),
    // Finds groups that are still to be regrouped, by repository.
    index('former_groups_pending').on(table.repositoryId, table.testId).where(sql`${table.isPending}`),
    // Finds groups that have left with their month.
    index('former_groups_last').on(table.lastMs),
  ],
);
