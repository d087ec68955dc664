/** Statistics of PostgreSQL name a large repository as soon as its tests can be read. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { setUpIngest } from '../support/ingest.ts';
import { InsightsFixture } from '../support/insights.ts';

const TESTS = 3_000;
const TABLES = ['tests', 'identities', 'test_listings'] as const;

const set = setUpIngest({ isAlone: true });
const db = () => set.stores.postgres.db;
const newFixture = () => new InsightsFixture(set.stores, set.driver);

beforeAll(async () => {
  const known = newFixture();
  await known.ingest(known.run([{ name: 'a' }, { name: 'b' }]));
});

afterAll(() => set.driver.verify());

const analyze = () =>
  db().transaction(async (tx) => {
    for (const table of TABLES) await tx.execute(sql`analyze ${sql.raw(`ci_insights.${table}`)}`);
  });

const planRow = z.object({ 'QUERY PLAN': z.string() });

/** How many rows of a repository the planner expects. */
async function estimate(table: (typeof TABLES)[number], repositoryId: string): Promise<number> {
  const { rows } = await db().execute(
    sql`explain select from ${sql.raw(`ci_insights.${table}`)} where repository_id = ${repositoryId}`,
  );
  return Number(/rows=(\d+)/.exec(planRow.parse(rows[0])['QUERY PLAN'])?.[1]);
}

test('a repository that is new to the statistics is in them once its tests can be read', async () => {
  await analyze();
  const fixture = newFixture();
  expect(await estimate('identities', fixture.id)).toBeLessThan(TESTS / 100);

  await fixture.ingest(fixture.run(Array.from({ length: TESTS }, (_, i) => ({ name: `test ${i}` }))));

  for (const table of TABLES) expect(await estimate(table, fixture.id)).toBeGreaterThan(TESTS / 2);
});

test('so is a repository that is rebuilt', async () => {
  const { id } = newFixture();
  const fixture = newFixture();
  await fixture.ingest(fixture.run(Array.from({ length: TESTS }, (_, i) => ({ name: `test ${i}` }))));
  // Statistics are taken while its identities belong to another repository.
  await db().execute(sql`update ci_insights.identities set repository_id = ${id} where repository_id = ${fixture.id}`);
  await analyze();
  await db().execute(sql`update ci_insights.identities set repository_id = ${fixture.id} where repository_id = ${id}`);
  expect(await estimate('identities', fixture.id)).toBeLessThan(TESTS / 100);

  // Workers that have compared this repository before would count it instead.
  await set.driver.stop();
  await rebuild(set.stores);
  set.driver.start();

  expect(await estimate('identities', fixture.id)).toBeGreaterThan(TESTS / 2);
});
