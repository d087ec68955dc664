/** Which tests got another name. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, real, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { RENAME_STATES } from '../../domain/rename-decisions.ts';
import { RENAME_REASONS } from '../../domain/renames.ts';
import { moment, schema } from './columns.ts';

/**
 * Renames that the service proposed or people named, and what became of them. Not derived: an accepted one outlives a
 * rebuild and the executions that showed it, because it says under which test a name is stored.
 */
export const testRenames = schema.table(
  'test_renames',
  {
    id: uuid().primaryKey(),
    repositoryId: uuid('repository_id').notNull(),
    /** The test that continues, and its name before. */
    fromId: uuid('from_id').notNull(),
    fromName: text('from_name').notNull(),
    /** The id that the new name alone would have, and the new name. */
    toId: uuid('to_id').notNull(),
    toName: text('to_name').notNull(),
    state: text({ enum: RENAME_STATES }).notNull(),
    /** Empty, and the confidence null: a person named it. */
    reasons: text({ enum: RENAME_REASONS }).array().notNull(),
    confidence: real(),
    /** When the new name first ran; milliseconds since the epoch. The newest accepted name is that of the test. */
    firstMs: bigint('first_ms', { mode: 'number' }).notNull(),
    proposedAt: moment('proposed_at').notNull(),
    decidedAt: moment('decided_at'),
    decidedBy: text('decided_by'),
    /** Whether stored executions are under the test that the state says. */
    isApplied: boolean('is_applied').notNull(),
    /** How often that failed since it was decided. */
    tries: integer().notNull().default(0),
    /** Why it failed last, for operators; null once it succeeded. Of one that was undone for this, it stays. */
    failure: text(),
  },
  (table) => [
    // A pair is proposed once, also after it was rejected. The beginning finds those of a test.
    uniqueIndex('test_renames_pair').on(table.repositoryId, table.fromId, table.toId),
    // A name is stored under one test. Also finds all accepted names of a repository, which every worker asks for.
    uniqueIndex('test_renames_accepted').on(table.repositoryId, table.toId).where(sql`${table.state} = 'accepted'`),
    // The list, newest first.
    index('test_renames_listed').on(table.repositoryId, table.proposedAt.desc(), table.id.desc()),
    // Finds the few that are still to be applied, in all repositories.
    index('test_renames_unapplied').on(table.repositoryId).where(sql`not ${table.isApplied}`),
  ],
);
