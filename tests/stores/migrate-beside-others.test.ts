/** Migrations get their locks beside processes that work on the same tables. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { PoolClient } from 'pg';
import { migratePostgres } from '../../src/postgres/migrate.ts';
import { openReleasedSchema, type ReleasedSchema } from '../support/released-schema.ts';

let released: ReleasedSchema;
let other: PoolClient;
beforeEach(async () => {
  released = await openReleasedSchema();
  other = await released.postgres.pool.connect();
});
afterEach(async () => {
  other.release();
  await released.close();
});

const migrationsDone = async (): Promise<number> =>
  (await released.postgres.pool.query('select 1 from ci_insights_migrations.__drizzle_migrations')).rowCount ?? 0;

/** Returns once a migration waits for a lock on a table. */
async function untilItWaits(): Promise<void> {
  const waiting = `select 1 from pg_locks where not granted and locktype = 'relation'`;
  while ((await released.postgres.pool.query(waiting)).rowCount === 0) await Bun.sleep(20);
}

test('a transaction that holds one table and then asks for another delays a migration, and neither fails', async () => {
  const before = await migrationsDone();
  await other.query('begin');
  // Altered after the claims are.
  await other.query('select 1 from ci_insights.ingest_blocks');
  const migrating = migratePostgres(released.postgres);
  await untilItWaits();
  await other.query('select 1 from ci_insights.ingest_claims');
  await other.query('commit');
  await migrating;
  expect(await migrationsDone()).toBeGreaterThan(before);
});

test('while a long transaction holds a table, others read it within seconds, and the migration follows', async () => {
  await other.query('begin');
  await other.query('select 1 from ci_insights.ingest_blocks');
  const migrating = migratePostgres(released.postgres);
  await untilItWaits();
  // It waits behind the migration, which gives up before the transaction ends.
  await released.postgres.pool.query('select 1 from ci_insights.ingest_blocks');
  await other.query('commit');
  await migrating;
});
