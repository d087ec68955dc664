/** Every table is known to the deletion of a repository: a new one fails here until someone has decided. */
import { beforeAll, expect, test } from 'bun:test';
import { getTableName, is } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { REPOSITORY_TABLES } from '../../src/clickhouse/repository-rows.ts';
import { TABLES_BY_ID, TABLES_BY_PATH } from '../../src/postgres/repository-rows.ts';
import * as schema from '../../src/postgres/schema.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

/** Tables without rows that leave by these lists, and why. */
const OTHERS: Record<string, string> = {
  repositories: 'its row leaves when the deletion begins',
  application_keys: 'those for it alone end when the deletion begins',
  sessions: 'those for it alone end when the deletion begins',
  deleted_repositories: 'the receipt',
  forgotten_people: 'of no repository',
  audit: 'the trail outlives what it speaks of',
  ingest_blocks: 'of several repositories; leaves when it claims nothing any more',
  event_keys: 'digests, which leave with their time',
  outbox_consumers: 'of no repository',
  partitions: 'of no repository',
  installation: 'of no repository',
  upgrades: 'of no repository',
  verifications: 'of all repositories together',
};

const tables = Object.values<unknown>(schema).flatMap((one) => (is(one, PgTable) ? [one] : []));

test('every table of PostgreSQL leaves with its repository, or has a reason to stay', () => {
  const known = [...[...TABLES_BY_ID, ...TABLES_BY_PATH].map((table) => getTableName(table)), ...Object.keys(OTHERS)];
  expect(known.toSorted()).toEqual(tables.map((table) => getTableName(table)).toSorted());
});

test('every table with the id of a repository leaves by it', () => {
  const byId = new Set<string>(TABLES_BY_ID.map((table) => getTableName(table)));
  const withId = tables.filter((table) => getTableConfig(table).columns.some(({ name }) => name === 'repository_id'));
  expect(withId.map((table) => getTableName(table)).filter((name) => !byId.has(name))).toEqual([]);
  expect(withId).toHaveLength(byId.size);
});

test('every table of ClickHouse leaves with its repository', async () => {
  const rows = await stores.clickhouse.rows(
    "SELECT name FROM system.tables WHERE database = 'ci' AND engine LIKE '%MergeTree' AND name NOT IN ('migrations', 'probes')",
  );
  const names = z.array(z.object({ name: z.string() })).parse(rows);
  expect(names.map(({ name }) => name).toSorted()).toEqual([...REPOSITORY_TABLES].toSorted());
});
