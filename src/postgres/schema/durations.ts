/** How long tests take (src/evaluation/derive-durations.ts). Can be derived again from the executions. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { schema } from './columns.ts';

const us = (name: string) => bigint(name, { mode: 'number' });

/**
 * Of each test in each leg, and of all legs of a CI job that has several together (`*`). In whole microseconds, which sort and
 * compare exactly.
 */
export const testDurations = schema.table(
  'test_durations',
  {
    repositoryId: uuid('repository_id').notNull(),
    testId: uuid('test_id').notNull(),
    pipelineName: text('pipeline_name').notNull(),
    jobName: text('job_name').notNull(),
    axes: text().notNull(),
    /** Names the leg in cursors, which are short. */
    legId: uuid('leg_id').notNull(),
    /** Whether the row for all legs stands for it in searches, as in `identities`. */
    isFolded: boolean('is_folded').notNull(),
    /** That passed or failed. */
    executions: bigint({ mode: 'number' }).notNull(),
    medianUs: us('median_us').notNull(),
    p95Us: us('p95_us').notNull(),
    totalUs: us('total_us').notNull(),
    /** The first day on which it took longer (days since the epoch), with the medians before and since; null: it did not grow. */
    grownDay: integer('grown_day'),
    beforeUs: us('before_us'),
    afterUs: us('after_us'),
    /** By how much. */
    grownUs: us('grown_us'),
    lastCommitBefore: text('last_commit_before'),
    firstCommitAfter: text('first_commit_after'),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.testId, table.pipelineName, table.jobName, table.axes] }),
    // Pages of the longest first, of the list and of searches.
    index('test_durations_total').on(table.repositoryId, table.totalUs, table.testId, table.legId),
    index('test_durations_median').on(table.repositoryId, table.medianUs, table.testId, table.legId),
    index('test_durations_p95').on(table.repositoryId, table.p95Us, table.testId, table.legId),
    index('test_durations_grown')
      .on(table.repositoryId, table.grownUs, table.testId, table.legId)
      .where(sql`${table.grownDay} is not null`),
  ],
);

/** Of each repository: the days that its durations are of, and how many there are. */
export const durationTotals = schema.table('duration_totals', {
  repositoryId: uuid('repository_id').primaryKey(),
  /** Days since the epoch; the end is exclusive. */
  startDay: integer('start_day').notNull(),
  endDay: integer('end_day').notNull(),
  /** Tests in their legs. */
  tests: integer().notNull(),
  grown: integer().notNull(),
  totalUs: us('total_us').notNull(),
});
