/** Repositories, and what identifies this installation and how far its upgrades are. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, doublePrecision, integer, jsonb, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { DEFAULT_BRANCH_SOURCES } from '../../domain/default-branch.ts';
import { HOST_KINDS, HOST_SOURCES } from '../../domain/host-page.ts';
import type { OwnerRule } from '../../domain/owner-rules.ts';
import { AUTO_QUARANTINE_MODES, QUARANTINE_WARNING_DAYS_DEFAULT } from '../../domain/quarantine-rules.ts';
import { moment, schema } from './columns.ts';

/**
 * Recorded at the first write. Names keep the case of that write and are compared without case. The owner is that of addresses:
 * on a host that is not the default host, it begins with the name of the host (`src/domain/host-address.ts`).
 */
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
    /** Who owns tests, in order: the last rule that matches counts. */
    testOwners: jsonb('test_owners').$type<OwnerRule[]>().notNull().default([]),
    /** Money for a minute of CI and for an hour in which an author waits, in a unit of its team; null: none is shown. */
    ciMinutePrice: doublePrecision('ci_minute_price'),
    waitingHourPrice: doublePrecision('waiting_hour_price'),
    /** For how many days its events are kept; null: as long as executions. */
    eventRetentionDays: integer('event_retention_days'),
    /** Proposed renames of tests are accepted from this confidence on; null: people decide. */
    renameConfidenceMin: doublePrecision('rename_confidence_min'),
    /** For how many days its executions are kept, by whole months; null: as long as those of the installation. */
    executionRetentionDays: integer('execution_retention_days'),
    /** Months before this one, such as 202611, have left because of that; 0: none has. */
    executionsSince: integer('executions_since').notNull().default(0),
    /** The month that is leaving; null: none is. */
    executionsLeaving: integer('executions_leaving'),
    /** After how many days without a run a test is forgotten; null: never. */
    forgetTestsAfterDays: integer('forget_tests_after_days'),
    /** Its page on its host, and who said so; null: no one has. */
    hostKind: text('host_kind', { enum: HOST_KINDS }),
    hostUrl: text('host_url'),
    hostSource: text('host_source', { enum: HOST_SOURCES }),
    /** Raised by every change of its quarantines, in the same transaction: it tells which of two lists is newer. */
    quarantineRevision: bigint('quarantine_revision', { mode: 'number' }).notNull().default(0),
    /** When its newest event was received. Writing events locks the row, so ids and times go up together. */
    lastEventAt: moment('last_event_at'),
    /** When `gate` last sent reports, to the hour. */
    gateRanAt: moment('gate_ran_at'),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [
    // The lookup of every request, by path.
    uniqueIndex('repositories_path').on(sql`lower(${table.owner})`, sql`lower(${table.name})`),
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
 * Upgrades of what older versions stored that take more than a migration: how far each is, so that one that was cut off
 * continues.
 */
export const upgrades = schema.table('upgrades', {
  name: text().primaryKey(),
  /** The upgrade's own mark of what is done; null before the first. */
  position: text(),
  finishedAt: moment('finished_at'),
});
