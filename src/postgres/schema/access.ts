/** Who may use the service. */
import { sql } from 'drizzle-orm';
import { index, jsonb, text, uuid } from 'drizzle-orm/pg-core';
import { KEY_SCOPES } from '../../domain/key-scope.ts';
import type { ReportBounds } from '../../domain/report-bounds.ts';
import { bytea, moment, schema } from './columns.ts';

export const applicationKeys = schema.table(
  'application_keys',
  {
    id: uuid().primaryKey(),
    name: text().notNull(),
    /** Null: every owner, as for the key that the first embedded start creates. */
    owner: text(),
    scope: text({ enum: KEY_SCOPES }).notNull(),
    /** The names of the repositories that the key is for; null: all of the owner's. */
    repositories: text().array(),
    /** Limits what its reports may say about their run; null: nothing is limited. */
    bounds: jsonb().$type<ReportBounds>(),
    /** Subject of the CI's identity token for which it was made; null: an operator made it. */
    ciSubject: text('ci_subject'),
    /** SHA-256 of that token's issuer and id, if it works only once. Unique: this is what refuses it the second time. */
    ciTokenHash: bytea('ci_token_hash').unique(),
    /**
     * SHA-256 of the token, which is shown once, at creation, and stored nowhere. Unique: the lookup of every request.
     */
    tokenHash: bytea('token_hash').notNull().unique(),
    createdAt: moment('created_at').notNull(),
    /** Who made it, as the trail names them; for a CI job its subject. */
    madeBy: text('made_by').notNull(),
    /** The key with which, or with a session of which, it was made. */
    madeByKey: uuid('made_by_key'),
    expiresAt: moment('expires_at'),
    lastUsedAt: moment('last_used_at'),
    revokedAt: moment('revoked_at'),
  },
  // By age: keys of CI jobs leave some time after they expired.
  (table) => [index('application_keys_of_ci').on(table.expiresAt).where(sql`ci_subject is not null`)],
);

/** Sessions of people who have signed in with a browser (src/postgres/sessions.ts). */
export const sessions = schema.table(
  'sessions',
  {
    id: uuid().primaryKey(),
    /** SHA-256 of the token in the browser's cookie. Unique: the lookup of every request. */
    tokenHash: bytea('token_hash').notNull().unique(),
    /** The application key that it was made from, with which it ends; null: an identity provider vouched for the person. */
    keyId: uuid('key_id'),
    /** Who acts, for the record. */
    actor: text().notNull(),
    /** Who the person is at the identity provider; null: none vouched for them. */
    subject: text(),
    /** When the provider vouched for the person last. */
    confirmedAt: moment('confirmed_at'),
    /** Since when a process asks the provider again; null: none does. */
    confirmingSince: moment('confirming_since'),
    /** With what the provider is asked again, encrypted with a key that only the browser's cookie gives. */
    renewal: bytea(),
    scope: text({ enum: KEY_SCOPES }).notNull(),
    /** Null: every owner. */
    owner: text(),
    /** Null: all of the owner's. */
    repositories: text().array(),
    /** The bounds of its key. */
    bounds: jsonb().$type<ReportBounds>(),
    createdAt: moment('created_at').notNull(),
    lastUsedAt: moment('last_used_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
    endedAt: moment('ended_at'),
  },
  // By age: they leave after they expired. By whom they are: their number is bounded.
  (table) => [
    index('sessions_expires').on(table.expiresAt),
    index('sessions_key').on(table.keyId),
    index('sessions_subject').on(table.subject),
  ],
);
