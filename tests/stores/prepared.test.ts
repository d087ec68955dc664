/** Statements whose plans PostgreSQL keeps, where nothing may be in between. */
import { afterAll, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { openPostgres, type Postgres } from '../../src/postgres/client.ts';
import { readKnownTests } from '../../src/postgres/known-tests.ts';
import { openTestStores } from '../support/stores.ts';

const { databaseUrl } = await openTestStores();
const opened: Postgres[] = [];
afterAll(() => Promise.all(opened.map((postgres) => postgres.close())));

/** The plans that the session of a read keeps: reads follow each other, so there is only one. */
async function plansOf(postgres: Postgres): Promise<string[]> {
  opened.push(postgres);
  const read = () => readKnownTests(postgres.db, randomUUID(), [randomUUID(), randomUUID()], { start: 0, end: 1 });
  expect(await read()).toEqual(new Map());
  expect(await read()).toEqual(new Map());
  const { rows } = await postgres.pool.query<{ name: string }>('select name from pg_prepared_statements');
  expect(postgres.pool.totalCount).toBe(1);
  return rows.map(({ name }) => name);
}

test('the embedded PostgreSQL keeps plans; a server that may be a pooler is asked for none', async () => {
  expect(await plansOf(openPostgres(databaseUrl, () => {}, { isEmbedded: true }))).toEqual(['known_tests']);
  expect(await plansOf(openPostgres(databaseUrl, () => {}))).toEqual([]);
});
