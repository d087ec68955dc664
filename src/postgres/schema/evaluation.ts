/** Work that waits for the evaluation, and work that it has left to be refreshed. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core';
import { STALE_KINDS } from '../../domain/stale.ts';
import { bytea, moment, schema } from './columns.ts';

/** Repositories are spread over so many partitions: {@link blockParts}. */
export const PARTITIONS = 64;

/**
 * The locks of the evaluation: the process that holds the row of a partition, until the end of a transaction, evaluates the
 * repositories in it. Rows instead of advisory locks: they work behind a pooler, any number of them takes no shared memory,
 * and a worker skips those that others hold.
 */
export const partitions = schema.table('partitions', {
  id: smallint().primaryKey(),
  /** When a pass last took it. */
  passedAt: moment('passed_at').notNull().default(sql`'epoch'`),
  /** When a pass last took imported parts of it: they have separate turns. */
  importPassedAt: moment('import_passed_at').notNull().default(sql`'epoch'`),
});

/**
 * The bodies of blocks, cut by repository: what is to be inserted into ClickHouse, and then the queue of the evaluation. A
 * part is deleted by the transaction that counts and judges it.
 */
export const blockParts = schema.table(
  'block_parts',
  {
    partition: smallint().notNull(),
    blockId: bigint('block_id', { mode: 'number' }).notNull(),
    repositoryId: uuid('repository_id').notNull(),
    /** All of it is imported: it waits behind what is live, and nothing but judgements follows from it. */
    isImported: boolean('is_imported').notNull().default(false),
    executions: integer().notNull(),
    /** The length of its lines, unpacked. */
    bytes: integer().notNull(),
    /** zstd of the lines of the block that belong to this repository. */
    body: bytea().notNull(),
  },
  (table) => [
    // Reads of a partition take the parts in the order in which they came.
    primaryKey({ columns: [table.partition, table.blockId, table.repositoryId] }),
    // The whole block, to insert it again; whether a receipt waits.
    index('block_parts_block').on(table.blockId),
  ],
);

/** Repositories that could not be evaluated. Others in their partition go on; these are tried again alone. */
export const postponedRepositories = schema.table('postponed_repositories', {
  repositoryId: uuid('repository_id').primaryKey(),
  failures: integer().notNull(),
  retryAt: moment('retry_at').notNull(),
});

/** Work that a pass has left to be refreshed: one row for each repository and kind (src/domain/stale.ts). */
export const stale = schema.table(
  'stale',
  {
    repositoryId: uuid('repository_id').notNull(),
    kind: text({ enum: STALE_KINDS }).notNull(),
    /** The earliest moment that is concerned; milliseconds since the epoch. */
    sinceMs: bigint('since_ms', { mode: 'number' }),
    testIds: uuid('test_ids').array().notNull().default([]),
    /** The first block since the last refresh that made it so. */
    firstBlock: bigint('first_block', { mode: 'number' }),
    /** Whether every note since the last refresh follows from imported results only. */
    isImported: boolean('is_imported').notNull().default(false),
    /** Counts the notes: what is refreshed without the lock of the partition sees whether another came meanwhile. */
    revision: bigint({ mode: 'number' }).notNull().default(1),
    /** Null: refreshed. */
    notedAt: moment('noted_at'),
    /** It is not refreshed again before: some times as long as the last time took. */
    restsUntil: moment('rests_until').notNull().default(sql`'epoch'`),
    /** When it was first noted. It rests no longer than it has been known. */
    knownSince: moment('known_since').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.kind] }),
    // Finds the next repository to refresh, the oldest note first.
    index('stale_noted').on(table.notedAt).where(sql`${table.notedAt} is not null`),
  ],
);

/** Commits of which something is stale: what they contradict, and their records. */
export const staleCommits = schema.table(
  'stale_commits',
  {
    repositoryId: uuid('repository_id').notNull(),
    commitSha: text('commit_sha').notNull(),
    /** Whether its clues are to be read again. */
    isEvidenceStale: boolean('is_evidence_stale').notNull(),
    /** Tests that passed there only after failed attempts. */
    retriedTests: uuid('retried_tests').array().notNull().default([]),
    /** When something last ran on it. */
    touchedAt: moment('touched_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.repositoryId, table.commitSha] })],
);
