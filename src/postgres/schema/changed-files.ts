/** What changes touch. */
import { bigint, boolean, index, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { schema } from './columns.ts';

/** The files that commits changed, as their jobs sent them. They follow from nothing that is stored. */
export const changedFiles = schema.table(
  'changed_files',
  {
    repositoryId: uuid('repository_id').notNull(),
    commitSha: text('commit_sha').notNull(),
    /** From the root of the repository. */
    paths: text().array().notNull(),
    /** Sent with a credential for pull requests: they count off the default branch alone. */
    isConfined: boolean('is_confined').notNull(),
    /** Milliseconds since the epoch. */
    sentMs: bigint('sent_ms', { mode: 'number' }).notNull(),
  },
  (table) => [
    // Claims ask for a commit.
    primaryKey({ columns: [table.repositoryId, table.commitSha] }),
    // Retention removes the oldest.
    index('changed_files_sent_ms').on(table.sentMs),
  ],
);
