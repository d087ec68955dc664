/** Who gave or took access, and who changed what people decide (src/postgres/audit.ts). */
import { index, text, uuid } from 'drizzle-orm/pg-core';
import { moment, schema } from './columns.ts';

/** No column refers to another table: an entry outlives what it speaks of. */
export const audit = schema.table(
  'audit',
  {
    id: uuid().primaryKey(),
    at: moment('at').notNull(),
    actorKind: text('actor_kind').notNull(),
    actorName: text('actor_name').notNull(),
    keyId: uuid('key_id'),
    sessionId: uuid('session_id'),
    /** Who the person is at the identity provider, or at the system on which a command ran. */
    subject: text(),
    requestId: text('request_id'),
    action: text().notNull(),
    objectId: text('object_id'),
    objectName: text('object_name'),
    owner: text(),
    repository: text(),
    /** JSON objects. */
    before: text(),
    after: text(),
  },
  // In the order of the list; the first also finds what is to be forgotten.
  (table) => [
    index('audit_at').on(table.at, table.id),
    index('audit_action').on(table.action, table.at, table.id),
    index('audit_actor').on(table.actorName, table.at, table.id),
  ],
);
