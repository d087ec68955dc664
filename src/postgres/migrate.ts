/** Migrates PostgreSQL to the newest version with `sql/postgres/`, which drizzle-kit generates. */
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { type Postgres, sqlState } from './client.ts';
import { MIGRATION_LOCK } from './locks.ts';

export const MIGRATIONS = fileURLToPath(new URL('../../sql/postgres/', import.meta.url));
/** Other statements on a table wait behind a migration that waits for it, so it does not wait long. */
const LOCK_MS_MAX = 3_000;
/** Between attempts: what waited behind the last one can finish. */
const PAUSE_MS = 500;
const ATTEMPTS_MAX = 60;
/** A deadlock, of which PostgreSQL ends one party, and a lock that was waited for too long. */
const STATES_OF_LOCKS = new Set(['40P01', '55P03']);

/**
 * Runs all pending migrations in one transaction. Other versions may work on the stores meanwhile: a migration that
 * cannot get a lock lets go of all it has, and is tried again, for up to four minutes.
 */
export async function migratePostgres(postgres: Postgres, folder = MIGRATIONS): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await migrateOnce(postgres, folder);
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !STATES_OF_LOCKS.has(sqlState(error) ?? '')) throw error;
      await Bun.sleep(PAUSE_MS);
    }
}

/**
 * One process migrates at a time, and others wait for as long as it takes. The lock belongs to the transaction: that of a
 * session could stay behind in a pooler, on a session that another client gets.
 */
async function migrateOnce(postgres: Postgres, folder: string): Promise<void> {
  const client = await postgres.pool.connect();
  try {
    await client.query('begin');
    // A new index on a large table takes longer than statements may.
    await client.query('set local statement_timeout = 0');
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query(`set local lock_timeout = ${LOCK_MS_MAX}`);
    // Begins once more, of which PostgreSQL only warns, and ends the transaction.
    await migrate(drizzle(client), { migrationsFolder: folder, migrationsSchema: 'ci_insights_migrations' });
    client.release();
  } catch (error) {
    // Closed, not returned: its transaction may hold the lock.
    client.release(true);
    throw error;
  }
}
