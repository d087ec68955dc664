/** Statistics of PostgreSQL name a large repository as soon as its tests can be read. */
import { expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { setUpInsights } from '../support/insights.ts';
import { emptyStores } from '../support/stores.ts';

const TESTS = 3_000;
const TABLES = ['tests', 'identities', 'test_listings'] as const;

const insights = setUpInsights(async (known) => {
  await emptyStores(known.stores);
  await known.ingest(known.run([{ name: 'a' }, { name: 'b' }]));
});
const db = () => insights.app.stores.postgres.db;

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
  const fixture = insights.fixture.another();
  expect(await estimate('identities', fixture.id)).toBeLessThan(TESTS / 100);

  await fixture.ingest(fixture.run(Array.from({ length: TESTS }, (_, i) => ({ name: `test ${i}` }))));

  for (const table of TABLES) expect(await estimate(table, fixture.id)).toBeGreaterThan(TESTS / 2);
});

test('so is a repository that is rebuilt', async () => {
  const { id } = insights.fixture.another();
  const fixture = insights.fixture.another();
  await fixture.ingest(fixture.run(Array.from({ length: TESTS }, (_, i) => ({ name: `test ${i}` }))));
  // Statistics are taken while its identities belong to another repository.
  await db().execute(sql`update ci_insights.identities set repository_id = ${id} where repository_id = ${fixture.id}`);
  await analyze();
  await db().execute(sql`update ci_insights.identities set repository_id = ${fixture.id} where repository_id = ${id}`);
  expect(await estimate('identities', fixture.id)).toBeLessThan(TESTS / 100);

  await rebuild(insights.app.stores);

  expect(await estimate('identities', fixture.id)).toBeGreaterThan(TESTS / 2);
});
