/** Pull requests, and events on their way into the log. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import type { EventOutcome } from '../../domain/event-metadata.ts';
import { moment, nextValueOf, schema } from './columns.ts';

/** Pull requests, from host webhooks and `pr-events`. */
export const pullRequests = schema.table(
  'pull_requests',
  {
    repositoryId: uuid('repository_id').notNull(),
    number: integer().notNull(),
    id: bigint({ mode: 'number' }).notNull(),
    title: text().notNull(),
    /** Null if the account is gone. */
    authorId: bigint('author_id', { mode: 'number' }),
    authorLogin: text('author_login'),
    baseRef: text('base_ref'),
    headRef: text('head_ref'),
    headCommit: text('head_commit'),
    /** The commit that it was merged as; null until then. */
    mergeCommit: text('merge_commit'),
    /** Whether the event log was given its merge: by the host as it happened, or by an import. It gets it once. */
    isMergeLogged: boolean('is_merge_logged').notNull().default(false),
    /** The host's time of this version: an older version that arrives later changes nothing. */
    updatedAt: moment('updated_at').notNull().default(sql`'epoch'`),
  },
  (table) => [
    primaryKey({ columns: [table.repositoryId, table.number] }),
    // "The pull request whose merge commit this was": first_failure_pull.
    index('pull_requests_merge_commit').on(table.repositoryId, table.mergeCommit),
    // "The pull request whose newest commit this is": results whose jobs know no pull request.
    index('pull_requests_head_commit').on(table.repositoryId, table.headCommit),
    // "The pull request whose branch this was": the deletion of a merged branch.
    index('pull_requests_head_ref').on(table.repositoryId, table.headRef),
  ],
);

/**
 * Ids of events. The sequence starts at the microsecond of the migration: a PostgreSQL that is recreated continues
 * above every id in the event log, as long as there was less than one event per microsecond. It reaches 2^53 in the
 * year 2255.
 */
export const eventIds = schema.sequence('event_ids');

/** Places of events in the outbox: see outbox-consumers.ts. */
export const eventPlaces = schema.sequence('event_places');

/** Events that some consumer has yet to take, written in the transaction of the change that they describe. */
export const eventOutbox = schema.table(
  'event_outbox',
  {
    /** Increases with `receivedAt` within a repository, except for merges of the past. */
    id: bigint({ mode: 'number' }).primaryKey().default(nextValueOf(eventIds)),
    repositoryId: uuid('repository_id').notNull(),
    receivedAt: moment('received_at').notNull(),
    /** By the clock of the service: how long it waits. Of merges of the past, not `receivedAt`. */
    writtenAt: moment('written_at').notNull(),
    type: text().notNull(),
    trigger: text().notNull(),
    pullRequest: integer('pull_request'),
    baseRef: text('base_ref'),
    /** By the rule of its type, when the event was written. */
    outcome: text().$type<EventOutcome>().notNull(),
    /** JSON as text: jsonb cannot store every string that JSON allows. */
    metadata: text().notNull(),
    /** Consumers take events in this order. Null until the first of them looks, after the commit. */
    place: bigint({ mode: 'number' }),
  },
  (table) => [
    uniqueIndex('event_outbox_place').on(table.place),
    // "The next events without a place".
    index('event_outbox_unplaced').on(table.id).where(sql`${table.place} is null`),
  ],
);

/** Who takes events from the outbox, and how far each has come. */
export const outboxConsumers = schema.table('outbox_consumers', {
  name: text().primaryKey(),
  /** It has taken every event up to this place. */
  position: bigint({ mode: 'number' }).notNull().default(0),
  /** The place of the last event of the batch in hand, written down before it is handled; null if there is none. */
  batchEnd: bigint('batch_end', { mode: 'number' }),
});

/** Keys of the events already received from producers: an event that is resent counts once. */
export const eventKeys = schema.table(
  'event_keys',
  {
    key: uuid().primaryKey(),
    takenAt: moment('taken_at').notNull(),
    /** The event that the key was taken for. */
    eventId: bigint('event_id', { mode: 'number' }).notNull().default(nextValueOf(eventIds)),
  },
  // By age: keys are kept as long as events.
  (table) => [index('event_keys_taken').on(table.takenAt)],
);
