/** Causes of failures on the default branch (src/domain/causes.ts). A refresh derives them; src/postgres/causes.ts reads them. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { moment, schema, tsvector } from './columns.ts';

/** A signature in one episode. A node without failures stays as long as its cause has some, because its id may be known. */
export const causeNodes = schema.table(
  'cause_nodes',
  {
    repositoryId: uuid('repository_id').notNull(),
    nodeId: uuid('node_id').notNull(),
    /** The id of the oldest node of the cause. */
    causeId: uuid('cause_id').notNull(),
    signatureId: uuid('signature_id').notNull(),
    exceptionType: text('exception_type').notNull(),
    /** Normalised. */
    message: text().notNull(),
    /** Whether the message says so little that it stands for one test only. */
    isGeneric: boolean('is_generic').notNull(),
    /** Milliseconds since the epoch. */
    firstMs: bigint('first_ms', { mode: 'number' }).notNull(),
    /** The test that failed first. */
    firstTest: uuid('first_test').notNull(),
    lastMs: bigint('last_ms', { mode: 'number' }).notNull(),
    /** The newest failure. */
    lastTest: uuid('last_test').notNull(),
    lastFailure: uuid('last_failure').notNull(),
    /** How many are retained. */
    failures: integer().notNull(),
    /** Whether this was ever the id of a cause. */
    wasCause: boolean('was_cause').notNull(),
    /**
     * Of type and message, split here and not by PostgreSQL: its parser takes `a.b.CommClosedError` for one word. Stored, because
     * a search for a word that most messages have would split each of them again: 1.6 s of 20,000 on a busy machine.
     */
    words: tsvector()
      .generatedAlwaysAs(
        sql`to_tsvector('simple', regexp_replace(exception_type || ' ' || message, '[^[:alnum:]]+', ' ', 'g'))`,
      )
      .notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.nodeId] }),
    // The nodes of a cause.
    index('cause_nodes_cause').on(table.repositoryId, table.causeId),
    // The newest of a repository.
    index('cause_nodes_last').on(table.repositoryId, table.lastMs),
    // The signature of a failure on any branch.
    index('cause_nodes_signature').on(table.repositoryId, table.signatureId),
    // Messages with some words. New ones are few, and none waits in a list that every search would read.
    index('cause_nodes_words').using('gin', table.words).with({ fastupdate: false }),
  ],
);

/** Which node the failure groups of tests belong to, with the stack frames of the repository's own code that were seen first. */
export const causeGroups = schema.table(
  'cause_groups',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    failureId: uuid('failure_id').notNull(),
    /** That of the newest failure of the group. */
    nodeId: uuid('node_id').notNull(),
    frames: text().array().notNull(),
    filepath: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.testId, table.failureId] }),
    // The groups of a node.
    index('cause_groups_node').on(table.repositoryId, table.nodeId),
  ],
);

/** Failures of a node by test, leg and UTC day. */
export const causeDays = schema.table(
  'cause_days',
  {
    repositoryId: uuid('repository_id').notNull(),
    nodeId: uuid('node_id').notNull(),
    testId: uuid('test_id').notNull(),
    pipelineName: text('pipeline_name').notNull(),
    jobName: text('job_name').notNull(),
    axes: text().notNull(),
    /** Days since the epoch. */
    day: integer().notNull(),
    failures: integer().notNull(),
  },
  (table) => [
    primaryKey({
      columns: [
        table.repositoryId,
        table.nodeId,
        table.testId,
        table.pipelineName,
        table.jobName,
        table.axes,
        table.day,
      ],
    }),
    // A window of the whole repository.
    index('cause_days_day').on(table.repositoryId, table.day),
  ],
);

/**
 * What people agreed on causes. Each row names a node, so it leads to what its cause has become: nothing is moved by a merge.
 */
export const causeTerms = schema.table(
  'cause_terms',
  {
    repositoryId: uuid('repository_id').notNull(),
    /** The id of the cause when this was written. */
    causeId: uuid('cause_id').notNull(),
    /** A person or a team. */
    owner: text(),
    ticketUrl: text('ticket_url'),
    changedAt: moment('changed_at').notNull(),
  },
  // Few of a repository: all are a range.
  (table) => [primaryKey({ columns: [table.repositoryId, table.causeId] })],
);
