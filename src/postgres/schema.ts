/**
 * The tables in PostgreSQL: what people change, and what must be transactional. `bunx drizzle-kit generate` writes
 * migrations from this file into `sql/postgres/`.
 */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  customType,
  index,
  integer,
  jsonb,
  type PgSequence,
  pgSchema,
  primaryKey,
  smallint,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { DEFAULT_BRANCH_SOURCES } from '../domain/default-branch.ts';
import { KEY_SCOPES } from '../domain/key-scope.ts';
import {
  AUTO_QUARANTINE_MODES,
  QUARANTINE_SOURCES,
  QUARANTINE_WARNING_DAYS_DEFAULT,
} from '../domain/quarantine-rules.ts';
import { NOT_NARROWED } from '../domain/quarantine-scope.ts';
import { HEALTHS } from '../domain/status.ts';

export const schema = pgSchema('ci_insights');

/** The next number of a sequence, as part of a statement. */
export const nextValueOf = ({ schema, seqName }: PgSequence) => sql.raw(`nextval('${schema}.${seqName}')`);

const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });
const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });

/** Recorded at the first write. Names keep the case of that write and are compared without case. */
export const repositories = schema.table(
  'repositories',
  {
    id: uuid().primaryKey(),
    host: text().notNull(),
    owner: text().notNull(),
    name: text().notNull(),
    defaultBranch: text(),
    defaultBranchSource: text({ enum: DEFAULT_BRANCH_SOURCES }),
    flakyDetectionEnabled: boolean().notNull().default(true),
    autoQuarantine: text({ enum: AUTO_QUARANTINE_MODES }).notNull().default('off'),
    /** With so many open quarantines, tests are no longer quarantined automatically; null: no limit. */
    quarantineLimit: integer('quarantine_limit'),
    /** The log says that the limit keeps tests from being quarantined. It says so once, until there is room again. */
    quarantineLimitReached: boolean('quarantine_limit_reached').notNull().default(false),
    /** How many days before its end a quarantine is announced to end; 0: it is not. */
    quarantineWarningDays: integer('quarantine_warning_days').notNull().default(QUARANTINE_WARNING_DAYS_DEFAULT),
    /** Time for running new and unhealthy tests again, in percent of the time of known tests; null: they are not. */
    rerunPercent: integer('rerun_percent'),
    /** Raised by every change of its quarantines, in the same transaction: it tells which of two lists is newer. */
    quarantineRevision: bigint('quarantine_revision', { mode: 'number' }).notNull().default(0),
    /** When its newest event was received. Writing events locks the row, so ids and times go up together. */
    lastEventAt: moment('last_event_at'),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [
    // The lookup of every request, by path.
    uniqueIndex('repositories_path').on(
      sql`lower(${table.owner})`,
      sql`lower(${table.name})`,
      sql`lower(${table.host})`,
    ),
  ],
);

/**
 * One row that identifies this PostgreSQL. It is part of every deduplication token: if PostgreSQL is recreated and
 * counts its blocks from 1 again, ClickHouse must not take new blocks for old ones.
 */
export const installation = schema.table('installation', {
  isOnly: boolean('is_only').primaryKey().default(true),
  id: uuid().notNull().defaultRandom(),
  createdAt: moment('created_at').notNull().defaultNow(),
});

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
  },
  (table) => [
    // By repository first: the lookup of every read, and the key to spread the table by.
    primaryKey({ columns: [table.repositoryId, table.testId] }),
    // Search by pattern. Both columns in one index, so that names of other repositories cost nothing. Every search
    // reads the list of pending names, so it is short. Without one, a new name would cost twice as much.
    index('tests_name')
      .using('gin', table.repositoryId, sql`${table.name} gin_trgm_ops`)
      .with({ gin_pending_list_limit: 512 }),
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
    /** How the name of the test begins: the order of as many executions. An index cannot hold names of 10,000 characters. */
    nameStart: text('name_start').notNull(),
    /** Retained executions. */
    executions: bigint({ mode: 'number' }).notNull(),
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
    // The first page of "most executions first", without reading every identity of the repository.
    index('identities_executions').on(
      table.repositoryId,
      table.executions.desc().nullsFirst(),
      sql`${table.nameStart} collate "C"`,
    ),
    // Flaky and broken tests, which are few: what people look for most.
    index('identities_unhealthy').on(table.repositoryId, table.health).where(sql`${table.health} <> 'healthy'`),
  ],
);

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
    /** The tests that failed in it, or passed only after failed attempts: those that were healthy before it, and the others. */
    unexpected: uuid().array().notNull(),
    expected: uuid().array().notNull(),
    /** Of `unexpected`, for readers that do not need the tests. */
    unexpectedCount: integer('unexpected_count').notNull(),
    /** Null if nothing went wrong in it; else six numbers as JSON (src/postgres/judged-runs.ts). */
    meaning: text(),
  },
  (table) => [
    primaryKey({
      columns: [
        table.repositoryId,
        table.pipelineName,
        table.jobName,
        table.day,
        table.runId,
        table.runAttempt,
        table.commitSha,
      ],
    }),
    // The runs before and after a moment, in order.
    index('judged_runs_started').on(table.repositoryId, table.startedMs),
    // Those of a commit that gets new runs; there are few.
    index('judged_runs_commits').on(table.repositoryId, table.commitSha).where(sql`${table.commitSha} <> ''`),
  ],
);

/**
 * Commits off the default branch on which one identity both passed and failed (src/domain/contradictions.ts): evidence that it is
 * flaky. Written with the state of the tests, which takes them in; leaves with the month of its executions.
 */
export const contradictions = schema.table(
  'contradictions',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    pipelineName: text('pipeline_name').notNull(),
    jobName: text('job_name').notNull(),
    commitSha: text('commit_sha').notNull(),
    /** The execution with which it was complete; milliseconds since the epoch. */
    atMs: bigint('at_ms', { mode: 'number' }).notNull(),
    runId: text('run_id').notNull(),
    runAttempt: bigint('run_attempt', { mode: 'number' }).notNull(),
    executionId: text('execution_id').notNull(),
    /** What failed, or passed after failed attempts: the same execution, or one before it. */
    failedMs: bigint('failed_ms', { mode: 'number' }).notNull(),
    failedExecutionId: text('failed_execution_id').notNull(),
    /** The run of the failure: `pullRequestRunKeyOf` it. */
    failedRun: text('failed_run').notNull(),
  },
  (table) => [
    // Judged by test. A commit has at most one in each month.
    primaryKey({
      columns: [table.repositoryId, table.testId, table.pipelineName, table.jobName, table.commitSha, table.atMs],
    }),
    // Those of a commit that gets new runs.
    index('contradictions_commits').on(table.repositoryId, table.commitSha),
  ],
);

/**
 * Commits off the default branch on which something failed. Only these can be contradicted by a pass, so that the others cost
 * one look here and no statement in ClickHouse.
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
 * The runs of a commit on which a test failed, and the results of these tests, as one text (src/evaluation/commit-record.ts):
 * every CI job asks for them, and ClickHouse takes longer to plan the statements than PostgreSQL to find a row. Follows from
 * what ClickHouse has, so a row may be missing: then that is asked.
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
    /** One to two days back, and up to one. Empty for the beginning. */
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
 * Upgrades of what older versions stored that take more than a migration: how far each is, so that one that was cut off
 * continues.
 */
export const upgrades = schema.table('upgrades', {
  name: text().primaryKey(),
  /** The upgrade's own mark of what is done; null before the first. */
  position: text(),
  finishedAt: moment('finished_at'),
});

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
    /** JSON (src/domain/backtest-policy.ts). */
    policy: text().notNull(),
    /** How many tests were replayed, and how many there are; 0 before it begins. */
    replayed: integer().notNull().default(0),
    tests: integer().notNull().default(0),
    finishedAt: moment('finished_at'),
    /** JSON; null until it is finished, or if it failed. */
    report: text(),
    /** Why it has no report. */
    failure: text(),
  },
  (table) => [
    // One at a time of each repository. The worker looks for the oldest.
    uniqueIndex('backtests_open').on(table.repositoryId).where(sql`${table.finishedAt} is null`),
    // Those that are forgotten.
    index('backtests_finished').on(table.finishedAt),
  ],
);

/** Versions of evaluations: the later one wins, because evaluations of a repository run one after another. */
export const evaluationVersion = schema.sequence('evaluation_version');

export const applicationKeys = schema.table('application_keys', {
  id: uuid().primaryKey(),
  name: text().notNull(),
  /** Null: every owner, as for the key that the first embedded start creates. */
  owner: text(),
  scope: text({ enum: KEY_SCOPES }).notNull(),
  /** The names of the repositories that the key is for; null: all of the owner's. */
  repositories: text().array(),
  /**
   * SHA-256 of the token, which is shown once, at creation, and stored nowhere. Unique: the lookup of every request.
   */
  tokenHash: bytea('token_hash').notNull().unique(),
  createdAt: moment('created_at').notNull(),
  expiresAt: moment('expires_at'),
  lastUsedAt: moment('last_used_at'),
  revokedAt: moment('revoked_at'),
});

/** Sessions of people who have signed in with a browser (src/postgres/sessions.ts). */
export const sessions = schema.table(
  'sessions',
  {
    id: uuid().primaryKey(),
    /** SHA-256 of the token in the browser's cookie. Unique: the lookup of every request. */
    tokenHash: bytea('token_hash').notNull().unique(),
    /** The application key that it was made from, with which it ends; null: an identity provider vouched for the person. */
    keyId: uuid('key_id'),
    /** Who acts, for the record. */
    actor: text().notNull(),
    scope: text({ enum: KEY_SCOPES }).notNull(),
    /** Null: every owner. */
    owner: text(),
    /** Null: all of the owner's. */
    repositories: text().array(),
    createdAt: moment('created_at').notNull(),
    lastUsedAt: moment('last_used_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
    endedAt: moment('ended_at'),
  },
  // By age: they leave some time after they expired.
  (table) => [index('sessions_expires').on(table.expiresAt)],
);

/**
 * The ledger's blocks: each insert exactly as it will be sent, written down first (docs/architecture.md). Times are
 * those of the PostgreSQL server, for the sweeper only.
 */
export const ingestBlocks = schema.table(
  'ingest_blocks',
  {
    blockId: bigint('block_id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    executions: integer().notNull(),
    /** zstd of the insert's lines; null once the block is stored and evaluated. */
    body: bytea(),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** ClickHouse has acknowledged the insert. */
    storedAt: moment('stored_at'),
    /** `identities` and `failure_groups` count its executions. */
    countedAt: moment('counted_at'),
    /** Verdicts on its executions are written, too. */
    evaluatedAt: moment('evaluated_at'),
  },
  (table) => [
    // For the sweeper; nearly always empty.
    index('ingest_blocks_pending').on(table.createdAt).where(sql`${table.evaluatedAt} is null`),
  ],
);

/**
 * The ledger's claims: which executions of a source and a month a block holds, eight bytes each. They leave with the
 * month.
 */
export const ingestClaims = schema.table(
  'ingest_claims',
  {
    sourceKey: uuid('source_key').notNull(),
    blockId: bigint('block_id', { mode: 'number' }).notNull(),
    /** Such as 202611; 0 in claims of older versions, which did not record it. */
    month: integer().notNull().default(0),
    ids: bytea().notNull(),
  },
  (table) => [
    // By source first: the lookup of every chunk. By block: to take back the claims of a block.
    primaryKey({ columns: [table.sourceKey, table.blockId, table.month] }),
    index('ingest_claims_block').on(table.blockId),
    // For retention, which looks for the oldest month. Rows are in the order of arrival, so a few pages are enough.
    index('ingest_claims_month').using('brin', table.month),
  ],
);

/** The receipt of one chunk of an upload. */
export const uploadChunks = schema.table(
  'upload_chunks',
  {
    uploadId: uuid('upload_id').notNull(),
    chunkIndex: integer('chunk_index').notNull(),
    chunkCount: integer('chunk_count').notNull(),
    repositoryId: uuid('repository_id').notNull(),
    /** The block with its new executions; null if none was new. */
    blockId: bigint('block_id', { mode: 'number' }),
    receivedAt: moment('received_at').notNull(),
    accepted: integer().notNull(),
    duplicate: integer().notNull(),
    rejected: integer().notNull(),
    onDefaultBranch: integer('on_default_branch').notNull(),
    /** The pipeline's run of a commit, its CI job and attempt; null in receipts of older versions. */
    runKey: uuid('run_key'),
    jobName: text('job_name'),
    runAttempt: integer('run_attempt'),
    rejections: jsonb().notNull(),
    warnings: jsonb().notNull(),
    storedAt: moment('stored_at'),
  },
  (table) => [
    primaryKey({ columns: [table.uploadId, table.chunkIndex] }),
    index('upload_chunks_block').on(table.blockId),
    // The reports of a run.
    index('upload_chunks_run').on(table.runKey),
    // By age: receipts are kept for a month. The newest of all repositories.
    index('upload_chunks_received').on(table.receivedAt),
    // The newest of a repository.
    index('upload_chunks_repository').on(table.repositoryId, table.receivedAt, table.uploadId),
    // Those with rejected rows, which are rare.
    index('upload_chunks_rejected').on(table.receivedAt, table.uploadId).where(sql`${table.rejected} > 0`),
  ],
);

/** Queue jobs that no retry can help, with the reason; kept until they are replayed. */
export const deadLetters = schema.table(
  'dead_letters',
  {
    id: uuid().primaryKey(),
    queue: text().notNull(),
    jobId: text('job_id').notNull(),
    uploadId: uuid('upload_id'),
    payload: bytea().notNull(),
    reason: text().notNull(),
    createdAt: moment('created_at').notNull(),
    replayedAt: moment('replayed_at'),
  },
  (table) => [
    index('dead_letters_upload').on(table.uploadId),
    uniqueIndex('dead_letters_job').on(table.queue, table.jobId),
  ],
);

/** Pull requests, from host webhooks and `pr-events`. */
export const pullRequests = schema.table(
  'pull_requests',
  {
    repositoryId: uuid('repository_id').notNull(),
    number: integer().notNull(),
    id: bigint({ mode: 'number' }).notNull(),
    title: text().notNull(),
    /** Null if the account is gone. */
    authorId: bigint('author_id', { mode: 'number' }),
    authorLogin: text('author_login'),
    baseRef: text('base_ref'),
    headRef: text('head_ref'),
    headCommit: text('head_commit'),
    /** The commit that it was merged as; null until then. */
    mergeCommit: text('merge_commit'),
    /** The host's time of this version: an older version that arrives later changes nothing. */
    updatedAt: moment('updated_at').notNull().default(sql`'epoch'`),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.number] }),
    // "The pull request whose merge commit this was": first_failure_pull.
    index('pull_requests_merge_commit').on(table.repositoryId, table.mergeCommit),
    // "The pull request whose branch this was": the deletion of a merged branch.
    index('pull_requests_head_ref').on(table.repositoryId, table.headRef),
  ],
);

/** Quarantines. A removed one is kept, so that the same evidence does not create it again automatically. */
export const quarantines = schema.table(
  'quarantines',
  {
    id: uuid().primaryKey(),
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    testName: text('test_name').notNull(),
    reason: text().notNull(),
    /** Branch or branch pattern; null: every branch. Never empty. */
    branch: text(),
    /** Only in this pipeline, in this CI job, for these failure groups; null: in every one, for every failure. */
    pipelineName: text('pipeline_name'),
    jobName: text('job_name'),
    /** In order, without duplicates. */
    failureIds: uuid('failure_ids').array(),
    /** The three above in one value, for the index (src/domain/quarantine-scope.ts). */
    narrowing: uuid().notNull().default(NOT_NARROWED),
    /** When it ends automatically, by the clock of PostgreSQL; null: never. */
    expiresAt: moment('expires_at'),
    /** The end that the log has announced already. */
    announcedExpiry: moment('announced_expiry'),
    /** A person or a team. */
    owner: text(),
    ticketUrl: text('ticket_url'),
    source: text({ enum: QUARANTINE_SOURCES }).notNull(),
    /** Who created it: the name of a key, or a login. */
    actor: text().notNull(),
    createdAt: moment('created_at').notNull(),
    /** Written by the evaluation. */
    isRecovered: boolean('is_recovered').notNull().default(false),
    removedAt: moment('removed_at'),
    removedBy: text('removed_by'),
  },
  (table) => [
    // For the list, in its order.
    index('quarantines_open').on(table.repositoryId, table.createdAt, table.id).where(sql`${table.removedAt} is null`),
    // Keeps a test from being quarantined twice for the same scope, with '' for "every branch". It has the ids of the
    // test and of the narrowing, because an index entry cannot hold several names.
    uniqueIndex('quarantines_once_per_scope')
      .on(table.repositoryId, table.testId, sql`coalesce(${table.branch}, '')`, table.narrowing)
      .where(sql`${table.removedAt} is null`),
    // For the loop that ends and announces them: every few seconds, over all repositories.
    index('quarantines_expiry')
      .on(table.expiresAt)
      .where(sql`${table.removedAt} is null and ${table.expiresAt} is not null`),
    index('quarantines_unannounced')
      .on(table.expiresAt)
      .where(
        sql`${table.removedAt} is null and ${table.expiresAt} is not null and ${table.announcedExpiry} is distinct from ${table.expiresAt}`,
      ),
    // The releases of a test.
    index('quarantines_removed').on(table.repositoryId, table.testId).where(sql`${table.removedAt} is not null`),
  ],
);

/**
 * Ids of events. The sequence starts at the microsecond of the migration: a PostgreSQL that is recreated continues
 * above every id in the event log, as long as there was less than one event per microsecond. It reaches 2^53 in the
 * year 2255.
 */
export const eventIds = schema.sequence('event_ids');

/** Events on their way to ClickHouse, written in the transaction of the change that they describe. */
export const eventOutbox = schema.table('event_outbox', {
  /** Increases with `receivedAt` within a repository. The relay sends events in this order. */
  id: bigint({ mode: 'number' }).primaryKey().default(nextValueOf(eventIds)),
  repositoryId: uuid('repository_id').notNull(),
  receivedAt: moment('received_at').notNull(),
  type: text().notNull(),
  trigger: text().notNull(),
  pullRequest: integer('pull_request'),
  baseRef: text('base_ref'),
  /** JSON as text: jsonb cannot store every string that JSON allows. */
  metadata: text().notNull(),
});

/** The events of one insert into ClickHouse, written down before it is sent so that a repeat has the same bytes. */
export const eventBatches = schema.table('event_batches', {
  batchId: bigint('batch_id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  eventIds: bigint('event_ids', { mode: 'number' }).array().notNull(),
});

/** Keys of the events already received from producers: an event that is resent counts once. */
export const eventKeys = schema.table(
  'event_keys',
  {
    key: uuid().primaryKey(),
    takenAt: moment('taken_at').notNull(),
  },
  // By age: keys are kept as long as events.
  (table) => [index('event_keys_taken').on(table.takenAt)],
);
