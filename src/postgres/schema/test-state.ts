/** What the evaluation knows about tests. It can be derived again from the executions. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, jsonb, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core';
import { HEALTHS } from '../../domain/status.ts';
import { byteText, moment, schema } from './columns.ts';

/** In characters, as PostgreSQL counts them. */
export const NAME_START_LENGTH = 64;

/** As `left(name, 64)`: characters, not halves of them. */
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
    /** As text: ids go up to 2^64. */
    firstFailedExecution: text('first_failed_execution'),
    firstFailedCommit: text('first_failed_commit'),
    /** Flaky executions by UTC day, of the days that a ratio asks for: [day, executions] pairs. */
    flakyDays: jsonb('flaky_days').notNull().default([]),
    /** When its first execution of each retained month finished: milliseconds since the epoch, in order. */
    firstExecutions: jsonb('first_executions').notNull().default([]),
    /** The newest UTC day on which it passed or failed, in days since the epoch; null if that is not known. */
    lastDay: integer('last_day'),
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
 * The current state of each identity (test, pipeline, CI job), written by the evaluation. Its health outlives retention.
 * Every run rewrites the rows of its tests, so they are small.
 */
export const identities = schema.table(
  'identities',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    pipelineName: text('pipeline_name').notNull(),
    jobName: text('job_name').notNull(),
    /** How the name of the test begins: the order of as many executions. */
    nameStart: text('name_start').notNull(),
    /** Retained executions, as lists are ordered by them. Under load, the summary is ahead (src/postgres/listings.ts). */
    listedExecutions: bigint('executions', { mode: 'number' }).notNull(),
    health: text({ enum: HEALTHS }).notNull(),
    /** What lists are filtered and sorted by (src/domain/test-metrics.ts): ranks of levels, counts of 30 days. */
    confidence: smallint().notNull().default(1),
    impact: smallint().notNull().default(0),
    failed: integer().notNull().default(0),
    failedPpm: integer('failed_ppm').notNull().default(0),
    /** Milliseconds since the epoch; 0 for never. */
    lastFailedMs: bigint('last_failed_ms', { mode: 'number' }).notNull().default(0),
    /** What insights show (src/postgres/identity-summary.ts). */
    summary: text().notNull(),
    /** What is believed of it after every execution (src/postgres/belief-text.ts); empty until it is judged. */
    belief: text().notNull().default(''),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.testId, table.pipelineName, table.jobName] }),
    // The first page of "most executions first", without reading every identity of the repository. A row whose number
    // changes gets a new entry in every index; one whose number stays is rewritten on its page.
    index('identities_executions').on(
      table.repositoryId,
      table.listedExecutions.desc().nullsFirst(),
      sql`${table.nameStart} collate "C"`,
    ),
    // Flaky and broken tests, which are few: what people look for most, and which of some tests they are.
    index('identities_unhealthy')
      .on(table.repositoryId, table.health, table.testId)
      .where(sql`${table.health} <> 'healthy'`),
  ],
);

/**
 * What lists know of each test that has identities: what the order and the number of entries of a search by names follow
 * from, without reading the identities (src/postgres/test-listings.ts). Small rows, of which fifty fit on a page.
 */
export const testListings = schema.table(
  'test_listings',
  {
    repositoryId: uuid('repository_id').notNull(),
    /** How its name begins. */
    nameStart: byteText('name_start').notNull(),
    testId: uuid('test_id').notNull(),
    /** The most executions by which one of its identities is listed; 0 if none is retained. */
    executions: bigint({ mode: 'number' }).notNull(),
    /** Those with retained executions. */
    identities: integer().notNull(),
  },
  // In the order of names: a search finds its tests by how they begin. Numbers are not in the key, so that a row whose
  // numbers change is rewritten on its page.
  (table) => [primaryKey({ columns: [table.repositoryId, table.nameStart, table.testId] })],
);

/**
 * Tests whose identities may have more executions than lists know (src/postgres/listings.ts): those that a pass of the
 * evaluation has written, in one row.
 */
export const lateListings = schema.table(
  'late_listings',
  {
    repositoryId: uuid('repository_id').notNull(),
    /** In the order in which they were written. */
    noteId: bigint('note_id', { mode: 'number' }).generatedAlwaysAsIdentity(),
    testIds: uuid('test_ids').array().notNull(),
  },
  // By repository first: they are listed repository by repository, under its evaluation lock.
  (table) => [primaryKey({ columns: [table.repositoryId, table.noteId] })],
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
    /** When the execution finished; milliseconds since the epoch. */
    atMs: bigint('at_ms', { mode: 'number' }).notNull(),
    runId: text('run_id').notNull(),
    runAttempt: bigint('run_attempt', { mode: 'number' }).notNull(),
    executionId: text('execution_id').notNull(),
    before: text({ enum: HEALTHS }).notNull(),
    after: text({ enum: HEALTHS }).notNull(),
    /** The first failure of the episode; null on recovery. What is known of it is here, because it leaves with its month. */
    beganExecution: text('began_execution'),
    /** Empty when unknown. */
    beganCommit: text('began_commit').notNull().default(''),
    exceptionType: text('exception_type'),
    /** The number of the pull request that ran it; null on the default branch. */
    pullRequest: integer('pull_request'),
  },
  (table) => [
    // Read by test.
    primaryKey({
      columns: [table.repositoryId, table.testId, table.pipelineName, table.jobName, table.atMs, table.executionId],
    }),
  ],
);

/**
 * Where the belief about an identity (src/postgres/belief-text.ts) can start over when something changes behind its end: at
 * a checkpoint some hours or days back, or from the baseline at the end of the newest month that has left. Written seldom, and apart from what every run
 * rewrites.
 */
export const healthCheckpoints = schema.table(
  'health_checkpoints',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    pipelineName: text('pipeline_name').notNull(),
    jobName: text('job_name').notNull(),
    /** Empty until a month has left. */
    baseline: text().notNull().default(''),
    /**
     * One to two days back, and up to one. Empty for the beginning; both with a baseline, if only pull requests have shown
     * something of the identity.
     */
    older: text().notNull().default(''),
    newer: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.repositoryId, table.testId, table.pipelineName, table.jobName] })],
);

/** The failure groups of each test, with the texts of their newest failure. */
export const failureGroups = schema.table(
  'failure_groups',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    failureId: uuid('failure_id').notNull(),
    /** Of each retained month: YYYYMM, failures, the first of them in milliseconds since the epoch, YYYYMM, … */
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
    // What is still to be done, by repository.
    index('former_groups_pending').on(table.repositoryId, table.testId).where(sql`${table.isPending}`),
    // What has left with its month.
    index('former_groups_last').on(table.lastMs),
  ],
);

/** Versions of evaluations: the later one wins, because evaluations of a repository run one after another. */
export const evaluationVersion = schema.sequence('evaluation_version');
