/** Shared by all tables: the schema that they are in, and their types of columns. */
import { sql } from 'drizzle-orm';
import { customType, type PgSequence, pgSchema, timestamp } from 'drizzle-orm/pg-core';

export const schema = pgSchema('ci_insights');

/** The next number of a sequence, as part of a statement. */
export const nextValueOf = ({ schema, seqName }: PgSequence) => sql.raw(`nextval('${schema}.${seqName}')`);

export const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' });
/** The words of a text, as a search compares them. */
export const tsvector = customType<{ data: string }>({ dataType: () => 'tsvector' });
/** Compared byte by byte, as searches are ordered and as the beginning of a name is looked up. */
export const byteText = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' });
export const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
