/** What version 0.1.0 left in PostgreSQL is understood after the migrations that came later. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { forgetClaims, readClaims } from '../../src/ledger/claim-store.ts';
import { packIds } from '../../src/ledger/claims.ts';
import { migratePostgres } from '../../src/postgres/migrate.ts';
import { openReleasedSchema, type ReleasedSchema } from '../support/released-schema.ts';

const SOURCE = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
const IDS = [1n, 2n ** 63n + 5n];

let released: ReleasedSchema;
beforeAll(async () => {
  released = await openReleasedSchema();
});
afterAll(() => released.close());

test('an execution that was claimed before the upgrade is known after it, until the month of its block leaves', async () => {
  const { postgres } = released;
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
