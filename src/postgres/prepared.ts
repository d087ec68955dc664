/**
 * Reads that are asked thousands of times a second. Their text is made once, and PostgreSQL keeps their plans, because making
 * them takes longer than finding a few rows.
 */
import { fillPlaceholders, type SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { Database } from './client.ts';

const dialect = new PgDialect({ casing: 'snake_case' });

/**
 * @param name of this statement alone: a connection knows the plan by it
 * @param statement with a placeholder for each of the values
 * @returns reads the rows, which are not decoded yet
 */
export function definePrepared<Values extends Record<string, unknown>>(
  name: string,
  statement: SQL,
): (db: Database, values: Values) => Promise<unknown[]> {
  const { sql: text, params } = dialect.sqlToQuery(statement);
  return async (db, values) => {
    const { rows } = await db.$client.query({
      ...(db.keepsPlans && { name }),
      text,
      values: fillPlaceholders(params, values),
    });
    return rows;
  };
}
