/** Statements on a whole repository look through a few rows for each identity, not through all of them for each. */
import { expect, test } from 'bun:test';
import { type SQL, sql } from 'drizzle-orm';
import { placeKey } from '../../src/domain/cost.ts';
import { testIdOf } from '../../src/domain/identity.ts';
import type { Executor } from '../../src/postgres/client.ts';
import { isNamedNoneOf } from '../../src/postgres/identity-conditions.ts';
import { searchStatement, type TestSearchPart } from '../../src/postgres/test-search.ts';
import { setUpInsights } from '../support/insights.ts';
import { UNFILTERED } from '../support/searches.ts';

const TESTS = 2_600;
const IDENTITIES = 2 * TESTS;
const insights = setUpInsights(async (fixture) => {
  const executions = Array.from({ length: TESTS }, (_, i) => ({ name: `test ${i}` }));
  await fixture.ingest(fixture.run(executions), fixture.run(executions, { job_name: 'e2e' }));
});

/** Ends a transaction that must leave nothing behind, and says how many rows its statement looked through. */
class Undone extends Error {
  constructor(readonly rows: number) {
    super('undone');
  }
}

/** How many rows all nodes of a plan that ran returned or left out. */
function rowsIn(plan: unknown): number {
  if (Array.isArray(plan)) return plan.reduce<number>((sum, one) => sum + rowsIn(one), 0);
  if (plan === null || typeof plan !== 'object') return 0;
  const node = plan as Record<string, unknown>;
  const of = (key: string) => (typeof node[key] === 'number' ? node[key] : 0);
  const each = of('Actual Rows') + of('Rows Removed by Filter') + of('Rows Removed by Join Filter');
  return Object.values(node).reduce<number>((sum, one) => sum + rowsIn(one), each * of('Actual Loops'));
}

/** Rows that the statement looks through, after what is prepared in the same transaction. */
async function rowsLookedThrough(statement: SQL, prepare: (tx: Executor) => Promise<unknown>): Promise<number> {
  const undone = insights.app.stores.postgres.db.transaction(async (tx) => {
    await prepare(tx);
    const { rows } = await tx.execute(sql`explain (analyze, format json) ${statement}`);
    throw new Undone(rowsIn(rows));
  });
  const error = await undone.catch((thrown: unknown) => thrown);
  if (error instanceof Undone) return error.rows;
  throw error;
}

/** Makes the repository seem so large that lists of its tests do not fit into the memory of a statement. */
async function outgrowMemory(tx: Executor): Promise<void> {
  await tx.execute(sql`analyze ci_insights.tests, ci_insights.identities`);
  await tx.execute(sql`set local work_mem = '64kB'`);
  await tx.execute(sql`set local hash_mem_multiplier = 1`);
}

test('a search in the order of cost looks through each test a few times, and a few rows for each place', async () => {
  const { id } = insights.fixture;
  const places = Array.from({ length: 200 }, (_, i) => ({
    ...{ testId: testIdOf(id, `test ${i}`), pipelineName: 'CI', jobName: 'unit', amount: 1_000 + i },
  }));
  const search: TestSearchPart = {
    ...UNFILTERED,
    ...{ testIds: [], patterns: ['%'], conditions: [], sort: 'cost', isDescending: true, rows: 11 },
    costs: new Map(places.map((place) => [placeKey(place), place])),
  };
  const rows = await rowsLookedThrough(searchStatement(id, search), outgrowMemory);
  // Which plan is chosen depends on what else the database holds; none may look through the tests for each place.
  expect(rows).toBeLessThan(5 * TESTS + 20 * places.length);
});

test('a search reads excluded names once, however many they are', async () => {
  const { id } = insights.fixture;
  const search: TestSearchPart = {
    ...UNFILTERED,
    ...{ testIds: [], patterns: ['%'], conditions: [isNamedNoneOf(id, { testIds: [], patterns: ['%t%'] })] },
    ...{ sort: 'executions_count', isDescending: true, rows: 11 },
  };
  const rows = await rowsLookedThrough(searchStatement(id, search), outgrowMemory);
  expect(rows).toBeGreaterThanOrEqual(TESTS);
  expect(rows).toBeLessThan(10 * IDENTITIES);
});
