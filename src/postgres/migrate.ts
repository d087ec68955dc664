/** Migrates PostgreSQL to the newest version with `sql/postgres/`, which drizzle-kit generates. */
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import type { Postgres } from './client.ts';
import { MIGRATION_LOCK } from './locks.ts';

const MIGRATIONS = fileURLToPath(new URL('../../sql/postgres/', import.meta.url));

/**
 * The lock belongs to a transaction on a separate connection. A session's lock could stay behind in a pooler, on a
 * session that another client gets.
 */
export async function migratePostgres(postgres: Postgres): Promise<void> {
  const lock = await postgres.pool.connect();
  try {
    await lock.query('begin');
    await lock.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await migrate(drizzle(postgres.pool), { migrationsFolder: MIGRATIONS, migrationsSchema: 'ci_insights_migrations' });
    await lock.query('commit');
    lock.release();
  } catch (error) {
    // Closed, not returned: its transaction holds the lock.
    lock.release(true);
    throw error;
  }
}
