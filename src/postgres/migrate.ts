/** Brings PostgreSQL to the newest version: `sql/postgres/`, made by drizzle-kit. */
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import type { Postgres } from './client.ts';

const MIGRATIONS = fileURLToPath(new URL('../../sql/postgres/', import.meta.url));
/** "cimi" in ASCII: one migration at a time, however many replicas start at once. */
const MIGRATION_LOCK = 0x63696d69;

export async function migratePostgres(postgres: Postgres): Promise<void> {
  const client = await postgres.pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    try {
      await migrate(drizzle(client), { migrationsFolder: MIGRATIONS, migrationsSchema: 'ci_insights_migrations' });
    } finally {
      await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    }
  } finally {
    client.release();
  }
}
