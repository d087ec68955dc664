/** What the service keeps at the hosts of repositories. */
import { sql } from 'drizzle-orm';
import { bigint, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { moment, schema } from './columns.ts';

/**
 * Pull requests whose comment and check the service keeps: a row since results of one arrived, or a webhook named it. It follows from nothing that is
 * stored, and is only about what is yet to be written.
 */
export const pullComments = schema.table(
  'pull_comments',
  {
    repositoryId: uuid('repository_id').notNull(),
    number: integer().notNull(),
    /** On which something ran last, or which a webhook named last, and when; in milliseconds since the epoch. */
    commitSha: text('commit_sha').notNull(),
    ranMs: bigint('ran_ms', { mode: 'number' }).notNull(),
    /** Counts the notes: who writes sees whether another came meanwhile. */
    revision: bigint({ mode: 'number' }).notNull().default(1),
    /** When it is to be brought up to date; null: it is. Who takes it moves it on, so that no other does the same. */
    dueAt: moment('due_at'),
    /** Attempts in a row that failed, and why the last one did. */
    failures: integer().notNull().default(0),
    failure: text(),
    /** What was done last. */
    outcome: text(),
    /** The newest commit on which the comment was there: if it is missing there, a person deleted it. */
    commentedCommit: text('commented_commit'),
    writtenAt: moment('written_at'),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.number] }),
    // What is due, the oldest first.
    index('pull_comments_due').on(table.dueAt).where(sql`${table.dueAt} is not null`),
    // Retention removes the oldest.
    index('pull_comments_ran').on(table.ranMs),
  ],
);
