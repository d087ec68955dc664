/** How much of the tables a read of one test touches: the primary key must lead to it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { testIdOf } from '../../src/domain/identity.ts';
import { TEST_NOW } from '../support/clock.ts';
import { InsightsFixture } from '../support/insights.ts';
import { explainable } from '../support/queries.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

const TESTS = 2_600;
let stores: TestStores;
let fixture: InsightsFixture;

beforeAll(async () => {
  stores = await openTestStores();
  stores.clock.set(TEST_NOW);
  fixture = new InsightsFixture(stores);
  const failures = [{ message: 'no' }];
  const executions = Array.from({ length: TESTS }, (_, i) => ({
    name: `test ${i}`,
    status: 'failed' as const,
    failures,
  }));
  await fixture.ingest(fixture.run(executions), fixture.run(executions, { job_name: 'e2e' }));
});
afterAll(() => fixture.close());

/** The statement with its sample parameters, but for a test that exists. */
function statementOf(name: string, overrides: Record<string, string> = {}): string {
  const id = testIdOf(fixture.id, 'test 7');
  const literals = {
    repository_id: `'${fixture.id}'`,
    test_id: `'${id}'`,
    test_ids: `['${id}']`,
    is_all: 'false',
    ...overrides,
  };
  return explainable(`insights/${name}`, { literals });
}

/** Granules read and present, of the tables that the statement reads. */
async function granules(statement: string): Promise<{ read: number; whole: number }> {
  const plan = (await stores.clickhouse.rows(`EXPLAIN indexes = 1, json = 1 ${statement}`)) as { explain: string }[];
  const found = { read: 0, whole: 0 };
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const child of node) visit(child);
    else if (node !== null && typeof node === 'object') {
      const { Indexes: indexes } = node as { Indexes?: Record<string, number>[] };
      if (indexes?.length) {
        found.whole += Math.max(...indexes.map((index) => index['Initial Granules'] ?? 0));
        found.read += indexes.at(-1)?.['Selected Granules'] ?? 0;
      }
      for (const child of Object.values(node)) visit(child);
    }
  };
  visit(JSON.parse(plan.map((row) => row.explain).join('\n')));
  return found;
}

const READS: { name: string; overrides?: Record<string, string> }[] = [
  { name: 'details' },
  { name: 'stats' },
  { name: 'executions' },
  { name: 'failures' },
  { name: 'failure' },
  { name: 'search', overrides: { has_patterns: 'false' } },
];

test.each(READS)(
  '$name of one test reads a granule or two of each part, not the repository',
  async ({ name, overrides }) => {
    const { read, whole } = await granules(statementOf(name, overrides));
    const { parts } = (
      await stores.clickhouse.rows(
        "SELECT max(c) AS parts FROM (SELECT count() AS c FROM system.parts WHERE active AND database = 'ci' GROUP BY table)",
      )
    )[0] as { parts: number };
    expect(whole).toBeGreaterThanOrEqual(5);
    expect(read).toBeLessThanOrEqual(2 * parts);
    expect(read).toBeLessThan(whole);
  },
);
