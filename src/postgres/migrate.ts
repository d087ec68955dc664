/** Migrates PostgreSQL to the newest version with `sql/postgres/`, which drizzle-kit generates. */
import { fileURLToPath } from 'node:url';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { UserError } from '../errors.ts';
import { type Postgres, sqlState } from './client.ts';
import { MIGRATION_LOCK } from './locks.ts';

export const MIGRATIONS = fileURLToPath(new URL('../../sql/postgres/', import.meta.url));
/** Other statements on a table wait behind a migration that waits for it, so it does not wait long. */
const LOCK_MS_MAX = 3_000;
/** Between attempts: what waited behind the last one can finish. */
const PAUSE_MS = 500;
const ATTEMPTS_MAX = 60;
const SCHEMA = 'ci_insights_migrations';
const INSUFFICIENT_PRIVILEGE = '42501';
/** A deadlock, of which PostgreSQL ends one party, and a lock that was waited for too long. */
const STATES_OF_LOCKS = new Set(['40P01', '55P03']);

/**
 * Runs all pending migrations in one transaction. Other versions may work on the stores meanwhile: a migration that
 * cannot get a lock lets go of all it has, and is tried again, for up to four minutes. With none to run it only reads, so a
 * service on a migrated database needs no right to create. Throws a {@link UserError} if its role may not do what is needed.
 */
export async function migratePostgres(postgres: Postgres, folder = MIGRATIONS): Promise<void> {
  if (await isMigrated(postgres, folder)) return;
  for (let attempt = 1; ; attempt++)
    try {
      return await migrateOnce(postgres, folder);
    } catch (error) {
      if (isNotPermitted(error)) throw notPermitted(error);
      if (attempt === ATTEMPTS_MAX || !STATES_OF_LOCKS.has(sqlState(error) ?? '')) throw error;
      await Bun.sleep(PAUSE_MS);
    }
}

/** Whether the newest migration has run. */
async function isMigrated({ pool }: Postgres, folder: string): Promise<boolean> {
  const newest = readMigrationFiles({ migrationsFolder: folder }).at(-1)?.folderMillis ?? 0;
  const { rows: tables } = await pool.query(
    "select 1 from pg_tables where schemaname = $1 and tablename = '__drizzle_migrations'",
    [SCHEMA],
  );
  if (tables.length === 0) return false;
  const { rows } = await pool.query(`select 1 from ${SCHEMA}.__drizzle_migrations where created_at >= $1 limit 1`, [
    newest,
  ]);
  return rows.length > 0;
}

export const isNotPermitted = (error: unknown): boolean => sqlState(error) === INSUFFICIENT_PRIVILEGE;

/** Also for the schema of the queue. */
export const notPermitted = (error: unknown): UserError =>
  new UserError(
    'PostgreSQL does not permit the role in DATABASE_URL to migrate. Run `ci-insights migrate` as the role that owns the schemas, or let this role create them: `grant create on database <database> to <role>`.',
    { cause: error },
  );

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
    await migrate(drizzle(client), { migrationsFolder: folder, migrationsSchema: SCHEMA });
    client.release();
  } catch (error) {
    // Closed, not returned: its transaction may hold the lock.
    client.release(true);
    throw error;
  }
}
