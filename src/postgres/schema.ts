/**
 * What PostgreSQL keeps: what people change, and what must be transactional. Migrations are made from this file by
 * `bunx drizzle-kit generate` into `sql/postgres/`.
 */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  customType,
  index,
  integer,
  jsonb,
  pgSchema,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';

export const schema = pgSchema('ci_insights');

const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });
const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });

/** Recorded at the first write. Names keep the case in which they were first written and are compared without it. */
export const repositories = schema.table(
  'repositories',
  {
    id: uuid().primaryKey(),
    host: text().notNull(),
    owner: text().notNull(),
    name: text().notNull(),
    defaultBranch: text(),
    /** Who said so: guess < payload < host < setting. Only a stronger source overrules what is there. */
    defaultBranchSource: text({ enum: ['guess', 'payload', 'host', 'setting'] }),
    flakyDetectionEnabled: boolean().notNull().default(true),
    autoQuarantine: text({ enum: ['off', 'flaky', 'flaky+broken'] })
      .notNull()
      .default('off'),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [
    // The look-up of every request, by path.
    uniqueIndex('repositories_path').on(
      sql`lower(${table.owner})`,
      sql`lower(${table.name})`,
      sql`lower(${table.host})`,
    ),
  ],
);

/**
 * The one row that tells this PostgreSQL from another: part of every deduplication token, so that a ClickHouse whose
 * PostgreSQL was made anew, and counts its blocks from 1 again, does not take new blocks for old ones.
 */
export const installation = schema.table('installation', {
  isOnly: boolean('is_only').primaryKey().default(true),
  id: uuid().notNull().defaultRandom(),
  createdAt: moment('created_at').notNull().defaultNow(),
});

/** Versions of evaluations: a later one wins, because evaluations of a repository run one after another. */
export const evaluationVersion = schema.sequence('evaluation_version');

export const applicationKeys = schema.table('application_keys', {
  id: uuid().primaryKey(),
  name: text().notNull(),
  /** Null: every owner (the key that the first embedded start makes). */
  owner: text(),
  scope: text({ enum: ['ci', 'admin'] }).notNull(),
  /** Repository names the key is for; null: all of the owner's. */
  repositories: text().array(),
  /** SHA-256 of the token. The token is shown once, at creation, and stored nowhere. Unique: the look-up of every request. */
  tokenHash: bytea('token_hash').notNull().unique(),
  createdAt: moment('created_at').notNull(),
  expiresAt: moment('expires_at'),
  lastUsedAt: moment('last_used_at'),
  revokedAt: moment('revoked_at'),
});

/**
 * The ledger's blocks: the exact insert of each, written down before it is sent (docs/architecture.md). Times are the
 * server's own, for the sweeper only.
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
    /** Verdicts and health of the tests in it are written. */
    evaluatedAt: moment('evaluated_at'),
  },
  (table) => [
    // What the sweeper looks for; nearly always empty.
    index('ingest_blocks_pending').on(table.createdAt).where(sql`${table.evaluatedAt} is null`),
  ],
);

/** The ledger's claims: which executions of a source a block holds, eight bytes each. */
export const ingestClaims = schema.table(
  'ingest_claims',
  {
    sourceKey: uuid('source_key').notNull(),
    blockId: bigint('block_id', { mode: 'number' }).notNull(),
    ids: bytea().notNull(),
  },
  (table) => [
    // By source first: the look-up of every chunk. By block: to take the claims of a block back.
    primaryKey({ columns: [table.sourceKey, table.blockId] }),
    index('ingest_claims_block').on(table.blockId),
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
    /** The block that holds what was new in it; null when nothing was. */
    blockId: bigint('block_id', { mode: 'number' }),
    receivedAt: moment('received_at').notNull(),
    accepted: integer().notNull(),
    duplicate: integer().notNull(),
    rejected: integer().notNull(),
    onDefaultBranch: integer('on_default_branch').notNull(),
    rejections: jsonb().notNull(),
    warnings: jsonb().notNull(),
    storedAt: moment('stored_at'),
  },
  (table) => [
    primaryKey({ columns: [table.uploadId, table.chunkIndex] }),
    index('upload_chunks_block').on(table.blockId),
    // By age: receipts are kept for a month.
    index('upload_chunks_received').on(table.receivedAt),
  ],
);

/** Jobs that no retry can help, with the reason; kept until somebody replays them. */
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
    /** Null when the account is gone. */
    authorId: bigint('author_id', { mode: 'number' }),
    authorLogin: text('author_login'),
    mergeCommit: text('merge_commit'),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.number] }),
    // "The pull request whose merge commit this was": first_failure_pull.
    index('pull_requests_merge_commit').on(table.repositoryId, table.mergeCommit),
  ],
);
