/** A PostgreSQL server with the tables of version 0.1.0. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { openPostgres, type Postgres } from '../../src/postgres/client.ts';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { makeFolder } from './folder.ts';
import { ROOT } from './service-process.ts';

/** The migrations of version 0.1.0. */
const RELEASED = 2;

export interface ReleasedSchema {
  postgres: Postgres;
  close(): Promise<void>;
}

export async function openReleasedSchema(): Promise<ReleasedSchema> {
  const folder = makeFolder('upgrade');
  const server = await startEmbeddedPostgres(folder);
  const postgres = openPostgres(server.url, () => {});
  const migrations = join(folder, 'migrations');
  cpSync(join(ROOT, 'sql/postgres'), migrations, { recursive: true });
  const journal = join(migrations, 'meta/_journal.json');
  const all = JSON.parse(readFileSync(journal, 'utf8')) as { entries: unknown[] };
  if (all.entries.length <= RELEASED) throw new Error('there are no migrations since 0.1.0');
  writeFileSync(journal, JSON.stringify({ ...all, entries: all.entries.slice(0, RELEASED) }));
  await migrate(postgres.db, { migrationsFolder: migrations, migrationsSchema: 'ci_insights_migrations' });
  const close = async (): Promise<void> => {
    await postgres.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  };
  return { postgres, close };
}
