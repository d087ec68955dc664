/** Records that make ingestion exactly-once, and the receipt of each upload. */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { bytea, moment, schema } from './columns.ts';

/**
 * The ledger's blocks: each insert is written down before it is sent (docs/architecture.md). Its lines are its parts
 * (`block_parts`), in their order. Times are those of the PostgreSQL server, for the sweeper only.
 */
export const ingestBlocks = schema.table(
  'ingest_blocks',
  {
    blockId: bigint('block_id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    /** The shard of ClickHouse that stores all of it; 0 where there is one server. */
    shard: smallint().notNull(),
    executions: integer().notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** ClickHouse has acknowledged the insert. */
    storedAt: moment('stored_at'),
    /** When ClickHouse last refused the block, and what it said. */
    refusedAt: moment('refused_at'),
    refusal: text(),
    /** Its claims say no longer which executions they are of (CLAIM_DAYS). */
    isClosed: boolean('is_closed').notNull().default(false),
  },
  (table) => [
    // The oldest whose claims can be closed.
    index('ingest_blocks_open').on(table.createdAt).where(sql`not ${table.isClosed}`),
    // For the sweeper; nearly always empty.
    index('ingest_blocks_unstored').on(table.createdAt).where(sql`${table.storedAt} is null`),
  ],
);

/**
 * The ledger's claims: which executions of a source, a leg and a month a block holds, eight bytes each. They leave with the
 * month. Before, with CLAIM_DAYS, a claim is closed: it says how many executions it is of, and no longer which. Nothing more is
 * stored of its source.
 */
export const ingestClaims = schema.table(
  'ingest_claims',
  {
    sourceKey: uuid('source_key').notNull(),
    blockId: bigint('block_id', { mode: 'number' }).notNull(),
    /** Follows from the source, which is of one repository; the key of a source does not say of which. */
    repositoryId: uuid('repository_id').notNull(),
    /** The number of the unnamed leg; 1 for nearly all. */
    leg: smallint().notNull(),
    /** Such as 202611. */
    month: integer().notNull(),
    /** A closed claim has eight bytes, the exclusive or of its ids, with which `verify` compares what is stored. */
    ids: bytea().notNull(),
    /** How many executions a closed claim has; null: its ids are all there. */
    closed: integer(),
  },
  (table) => [
    // By source first: the lookup of every chunk. By block: to take back the claims of a block.
    primaryKey({ columns: [table.sourceKey, table.blockId, table.leg, table.month] }),
    index('ingest_claims_block').on(table.blockId),
    // Claims leave with their repository, or with a month of it.
    index('ingest_claims_repository').on(table.repositoryId, table.month),
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
    /** Executions of which another result is stored under the same names. */
    conflicting: integer().notNull(),
    /** The last of the unnamed legs that its executions belong to; 1 for nearly all. */
    leg: smallint().notNull(),
    /** Whether people should look at it: rows were rejected, results conflict, or there is a warning. */
    hasProblem: boolean('has_problem').notNull(),
    onDefaultBranch: integer('on_default_branch').notNull(),
    /** The pipeline's run of a commit, its CI job and attempt. */
    runKey: uuid('run_key').notNull(),
    pipelineName: text('pipeline_name').notNull(),
    jobName: text('job_name').notNull(),
    runId: text('run_id').notNull(),
    runAttempt: bigint('run_attempt', { mode: 'number' }).notNull(),
    commitSha: text('commit_sha').notNull(),
    branch: text().notNull(),
    /** 0 outside a pull request. */
    pullRequest: bigint('pull_request', { mode: 'number' }).notNull(),
    /** Null: the producer does not say. */
    format: text(),
    sender: text(),
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
    // Finds chunks that people should look at, which are rare.
    index('upload_chunks_problems').on(table.receivedAt, table.uploadId).where(sql`${table.hasProblem}`),
  ],
);

/**
 * Uploads that were refused as a whole, so that no worker has ever seen them: the newest of each repository, those that
 * are alike as one. By path, because the first upload of a repository may be refused, too.
 */
export const refusedUploads = schema.table(
  'refused_uploads',
  {
    id: uuid().primaryKey(),
    /** Written as they were sent; compared without case. */
    owner: text().notNull(),
    repository: text().notNull(),
    /** A digest of the path and of what refusals that count as one have in common. */
    kind: uuid().notNull().unique(),
    /** Null: not known. */
    pipelineName: text('pipeline_name'),
    jobName: text('job_name'),
    runId: text('run_id'),
    runAttempt: bigint('run_attempt', { mode: 'number' }),
    commitSha: text('commit_sha'),
    branch: text(),
    pullRequest: bigint('pull_request', { mode: 'number' }),
    format: text(),
    sender: text(),
    reason: text().notNull(),
    refusals: integer().notNull(),
    /** When the newest of them was refused. */
    refusedAt: moment('refused_at').notNull(),
  },
  (table) => [
    // The newest of a repository, and of an owner.
    index('refused_uploads_repository').on(
      sql`lower(${table.owner})`,
      sql`lower(${table.repository})`,
      table.refusedAt,
    ),
    // By age: they are kept as long as receipts.
    index('refused_uploads_age').on(table.refusedAt, table.id),
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
