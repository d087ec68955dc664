/** Quarantines. */
import { sql } from 'drizzle-orm';
import { boolean, customType, index, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import type { z } from 'zod';
import { axisScopeOf, type axisScopeSchema, axisScopeText } from '../../domain/axis-scope.ts';
import { QUARANTINE_SOURCES } from '../../domain/quarantine-rules.ts';
import { NOT_NARROWED } from '../../domain/quarantine-scope.ts';
import { moment, schema } from './columns.ts';

/** Text, so that equal ones stay equal: their keys are in order. */
const axisScope = customType<{ data: z.infer<typeof axisScopeSchema>; driverData: string }>({
  dataType: () => 'text',
  toDriver: axisScopeText,
  fromDriver: axisScopeOf,
});

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
    /** Only in this pipeline, in this CI job, in these legs, for these failure groups; null: in every one, for every failure. */
    pipelineName: text('pipeline_name'),
    jobName: text('job_name'),
    axes: axisScope(),
    /** In order, without duplicates. */
    failureIds: uuid('failure_ids').array(),
    /** A node of the cause whose failures these groups are: a refresh keeps them up to date. Null: chosen by hand, if at all. */
    causeId: uuid('cause_id'),
    /** The five above in one value, for the index (src/domain/quarantine-scope.ts). */
    narrowing: uuid().notNull().default(NOT_NARROWED),
    /** When it ends automatically, by the clock of PostgreSQL; null: never. */
    expiresAt: moment('expires_at'),
    /** The end that the log has announced already. */
    announcedExpiry: moment('announced_expiry'),
    /** A person or a team. */
    owner: text(),
    ticketUrl: text('ticket_url'),
    source: text({ enum: QUARANTINE_SOURCES }).notNull(),
    /** A person has chosen what it covers, so what it does not cover counts on purpose. */
    isScopeChosen: boolean('is_scope_chosen').notNull(),
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
    // Those of causes, after their failures were derived.
    index('quarantines_of_causes').on(table.repositoryId, table.causeId).where(sql`${table.causeId} is not null`),
    // The releases of a test.
    index('quarantines_removed').on(table.repositoryId, table.testId).where(sql`${table.removedAt} is not null`),
  ],
);

/**
 * Causes that are quarantined: a test that one hits later is quarantined, too. The id is that of a node, so it leads to what the cause
 * has become.
 */
export const quarantinedCauses = schema.table(
  'quarantined_causes',
  {
    repositoryId: uuid('repository_id').notNull(),
    causeId: uuid('cause_id').notNull(),
    reason: text().notNull(),
    branch: text(),
    expiresAt: moment('expires_at'),
    actor: text().notNull(),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.repositoryId, table.causeId] })],
);
