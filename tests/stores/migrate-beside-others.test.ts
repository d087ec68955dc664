/** Migrations get their locks beside processes that work on the same tables. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PoolClient } from 'pg';
import { openPostgres, type Postgres } from '../../src/postgres/client.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { MIGRATIONS, migratePostgres } from '../../src/postgres/migrate.ts';
import { makeFolder } from '../support/folder.ts';
import { until } from '../support/patience.ts';

let folder: string;
let server: EmbeddedPostgres;
let postgres: Postgres;
let other: PoolClient;
/** All migrations, and one more that alters two tables, one after the other. */
let newer: string;
beforeEach(async () => {
  folder = makeFolder('migrate');
  server = await startEmbeddedPostgres(folder);
  postgres = openPostgres(server.url, () => {});
  await migratePostgres(postgres);
  other = await postgres.pool.connect();
  newer = join(folder, 'migrations');
  cpSync(MIGRATIONS, newer, { recursive: true });
  const tables = ['ingest_claims', 'ingest_blocks'];
  const statements = tables.map((table) => `ALTER TABLE "ci_insights"."${table}" ADD COLUMN "more" integer;`);
  writeFileSync(join(newer, '9999_more.sql'), statements.join('--> statement-breakpoint\n'));
  const file = join(newer, 'meta/_journal.json');
  const journal = JSON.parse(readFileSync(file, 'utf8'));
  const entry = { idx: 9999, version: '7', when: Date.UTC(3000, 0), tag: '9999_more', breakpoints: true };
  writeFileSync(file, JSON.stringify({ ...journal, entries: [...journal.entries, entry] }));
});
afterEach(async () => {
  other.release();
  await postgres.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});

const isMigrated = async (): Promise<boolean> =>
  (
    await postgres.pool.query(
      `select 1 from information_schema.columns where table_name = 'ingest_blocks' and column_name = 'more'`,
    )
  ).rowCount === 1;

/** Returns once a migration waits for a lock on a table. */
async function untilItWaits(): Promise<void> {
  const waiting = `select 1 from pg_locks where not granted and locktype = 'relation'`;
  await until(async () => (await postgres.pool.query(waiting)).rowCount !== 0);
}

test('a transaction that holds one table and then asks for another delays a migration, and neither fails', async () => {
  await other.query('begin');
  // The migration alters the claims first, then the blocks.
  await other.query('select 1 from ci_insights.ingest_blocks');
  const migrating = migratePostgres(postgres, newer);
  await untilItWaits();
  await other.query('select 1 from ci_insights.ingest_claims');
  await other.query('commit');
  await migrating;
  expect(await isMigrated()).toBe(true);
});

test('while a long transaction holds a table, others read it within seconds, and the migration follows', async () => {
  await other.query('begin');
  await other.query('select 1 from ci_insights.ingest_blocks');
  const migrating = migratePostgres(postgres, newer);
  await untilItWaits();
  // It waits behind the migration, which gives up before the transaction ends.
  await postgres.pool.query('select 1 from ci_insights.ingest_blocks');
  await other.query('commit');
  await migrating;
  expect(await isMigrated()).toBe(true);
});
