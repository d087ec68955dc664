/** What version 0.1.0 left in PostgreSQL is understood after the migrations that came later. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { forgetClaims, readClaims } from '../../src/ledger/claim-store.ts';
import { packIds } from '../../src/ledger/claims.ts';
import { openPostgres, type Postgres } from '../../src/postgres/client.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { migratePostgres } from '../../src/postgres/migrate.ts';
import { makeFolder } from '../support/folder.ts';

/** The migrations of version 0.1.0. */
const RELEASED = 2;
const SOURCE = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
const IDS = [1n, 2n ** 63n + 5n];

let folder: string;
let server: EmbeddedPostgres;
let postgres: Postgres;
beforeAll(async () => {
  folder = makeFolder('upgrade');
  server = await startEmbeddedPostgres(folder);
  postgres = openPostgres(server.url, () => {});
  const migrations = join(folder, 'migrations');
  cpSync(fileURLToPath(new URL('../../sql/postgres/', import.meta.url)), migrations, { recursive: true });
  const journal = join(migrations, 'meta/_journal.json');
  const all = JSON.parse(readFileSync(journal, 'utf8')) as { entries: unknown[] };
  expect(all.entries.length).toBeGreaterThan(RELEASED);
  writeFileSync(journal, JSON.stringify({ ...all, entries: all.entries.slice(0, RELEASED) }));
  await migrate(postgres.db, { migrationsFolder: migrations, migrationsSchema: 'ci_insights_migrations' });
});
afterAll(async () => {
  await postgres.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

test('an execution that was claimed before the upgrade is known after it, until the month of its block leaves', async () => {
  const { pool, db } = postgres;
  const { rows } = await pool.query(
    `insert into ci_insights.ingest_blocks (executions, created_at, stored_at, evaluated_at)
     values (2, '2026-11-10T12:00:00Z', now(), now()) returning block_id`,
  );
  await pool.query('insert into ci_insights.ingest_claims (source_key, block_id, ids) values ($1, $2, $3)', [
    SOURCE,
    rows[0].block_id,
    packIds(IDS),
  ]);
  await migratePostgres(postgres);

  const claimed = async () => (await db.transaction((tx) => readClaims(tx, [SOURCE]))).claimed.get(SOURCE);
  expect(await claimed()).toEqual(new Set(IDS));
  await forgetClaims(db, 202611);
  expect(await claimed()).toEqual(new Set(IDS));
  await forgetClaims(db, 202612);
  expect(await claimed()).toBeUndefined();
  expect((await pool.query('select 1 from ci_insights.ingest_blocks')).rowCount).toBe(0);
});
