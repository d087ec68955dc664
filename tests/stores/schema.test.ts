/** The migrations of PostgreSQL make the tables of `src/postgres/schema.ts`, and what drizzle cannot express beside them. */
import { beforeAll, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import { MIGRATIONS } from '../../src/postgres/migrate.ts';
import * as schema from '../../src/postgres/schema.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

const query = async (sql: string): Promise<unknown[]> => (await stores.postgres.pool.query(sql)).rows;

test('nothing in the schema is without a migration', async () => {
  const newest = readdirSync(join(MIGRATIONS, 'meta'))
    .filter((file) => file.endsWith('_snapshot.json'))
    .sort()
    .at(-1);
  const migrated = await Bun.file(join(MIGRATIONS, 'meta', newest ?? '')).json();
  expect(
    await generateMigration(migrated, generateDrizzleJson(schema, migrated.id, ['ci_insights'], 'snake_case')),
  ).toEqual([]);
});

test('rows that are often rewritten have room on their page', async () => {
  const rows = await query(
    `select relname as name, reloptions as options from pg_class
     where relnamespace = 'ci_insights'::regnamespace and relkind = 'r' and reloptions is not null order by 1`,
  );
  expect(rows).toEqual([
    { name: 'identities', options: ['fillfactor=85'] },
    { name: 'test_listings', options: ['fillfactor=80'] },
    { name: 'tests', options: ['fillfactor=70'] },
  ]);
});

test('ids of events begin at the microsecond of the migration', async () => {
  const rows = await query(
    `select abs(last_value / 1e6 - extract(epoch from now())) < 86400 as is_now from ci_insights.event_ids`,
  );
  expect(rows).toEqual([{ is_now: true }]);
});
