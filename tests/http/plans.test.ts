/** How much of the tables a read of one test touches: the primary key must lead to it. */
import { expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { NIL } from 'uuid';
import { testIdOf } from '../../src/domain/identity.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { historiesStatement } from '../../src/postgres/health-histories.ts';
import { hasHealth, hasOwner } from '../../src/postgres/identity-conditions.ts';
import { daysStatement } from '../../src/postgres/identity-days.ts';
import { partsOf, searchStatement, type TestSearch } from '../../src/postgres/test-search.ts';
import { namedListings } from '../../src/postgres/test-selection.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpInsights } from '../support/insights.ts';
import { explainable } from '../support/queries.ts';
import { UNFILTERED } from '../support/searches.ts';

const TESTS = 2_600;
const insights = setUpInsights(async (fixture) => {
  const failures = [{ message: 'no' }];
  const executions = Array.from({ length: TESTS }, (_, i) => ({
    name: `test ${i}`,
    status: 'failed' as const,
    failures,
  }));
  await fixture.ingest(fixture.run(executions), fixture.run(executions, { job_name: 'e2e' }));
});

/** The statement with its sample parameters, but for a test that exists. */
function statementOf(name: string, overrides: Record<string, string> = {}): string {
  const id = testIdOf(insights.fixture.id, 'test 7');
  const literals = {
    repository_id: `'${insights.fixture.id}'`,
    repository_ids: `['${insights.fixture.id}']`,
    test_id: `'${id}'`,
    test_ids: `['${id}']`,
    is_all: 'false',
    ...overrides,
  };
  return explainable(name, { literals });
}

/** Granules read and present, of the tables that the statement reads. */
async function granules(statement: string): Promise<{ read: number; whole: number }> {
  const plan = (await insights.app.stores.clickhouse.rows(`EXPLAIN indexes = 1, json = 1 ${statement}`)) as {
    explain: string;
  }[];
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

test.each([
  'insights/stats',
  'insights/executions',
  'insights/failure',
  'insights/history',
  'insights/execution',
  'insights/failed_attempts',
  'insights/segments',
  'evaluation/durations',
  'evaluation/legs_of_test',
  'evaluation/explain',
])('%s of one test reads a granule or two of each part, not the repository', async (name) => {
  const { read, whole } = await granules(statementOf(name));
  const { parts } = (
    await insights.app.stores.clickhouse.rows(
      "SELECT max(c) AS parts FROM (SELECT count() AS c FROM system.parts WHERE active AND database = 'ci' GROUP BY table)",
    )
  )[0] as { parts: number };
  expect(whole).toBeGreaterThanOrEqual(5);
  expect(read).toBeLessThanOrEqual(2 * parts);
  expect(read).toBeLessThan(whole);
});

test('what quarantines have excused is counted from what failed: no execution is read', async () => {
  const statement = statementOf('insights/quarantine_effects', {
    narrowed_test_ids: `['${testIdOf(insights.fixture.id, 'test 7')}']`,
    since_ms: String(TEST_NOW - 90 * DAY_MS),
  });
  const read = (await insights.app.stores.clickhouse.rows(`EXPLAIN ESTIMATE ${statement}`)) as {
    table: string;
    rows: number;
  }[];
  expect(read.map(({ table }) => table).sort()).toEqual(['commit_runs', 'failures']);
  // Only those of the quarantined tests.
  const failures = read.find(({ table }) => table === 'failures');
  expect(failures?.rows).toBeLessThan(TESTS);
});

const SEARCH: TestSearch = {
  ...UNFILTERED,
  ...{ testIds: [], patterns: [], sort: 'executions_count', isDescending: true, rows: 11 },
};

const ALL: TestSearch = { ...SEARCH, patterns: ['%'] };
const SEARCHES: readonly { title: string; search: TestSearch; indexes: readonly string[] }[] = [
  { title: 'by a pattern', search: { ...SEARCH, patterns: ['%test 1234%'] }, indexes: ['tests_name'] },
  { title: 'by how names begin', search: { ...SEARCH, patterns: ['test 123%'] }, indexes: ['tests_start'] },
  { title: 'by several patterns', search: { ...SEARCH, patterns: ['test 77%', '%st 1234'] }, indexes: ['tests_name'] },
  {
    title: 'of flaky and broken tests',
    search: { ...ALL, conditions: [hasHealth(['flaky', 'broken'])], sort: 'last_failure_at' },
    indexes: ['suspects_unhealthy'],
  },
  { title: 'of all tests, its first page', search: ALL, indexes: ['identities_executions'] },
  {
    title: 'of all tests by name',
    search: { ...ALL, sort: 'test_name', key: [0, 'test 1', 'CI', 'unit', NIL] },
    indexes: ['tests_start'],
  },
  {
    title: 'of the worst tests',
    search: { ...ALL, sort: 'health_status' },
    // Those that failed lately come first, but for healthy ones.
    indexes: [...Array<string>(4).fill('suspects_unhealthy'), 'tests_start'],
  },
  {
    title: 'of the worst flaky tests',
    search: { ...ALL, conditions: [hasHealth(['flaky'])], sort: 'health_status' },
    indexes: Array<string>(5).fill('suspects_unhealthy'),
  },
];

test.each(SEARCHES)('a search $title reads ranges of $indexes', async ({ indexes, search }) => {
  const plans = await insights.app.stores.postgres.db.transaction(async (tx) => {
    await tx.execute(sql`analyze ci_insights.tests, ci_insights.identities, ci_insights.suspects`);
    // A vacuum does this some time after names have arrived: until then a search must also look through the new ones.
    await tx.execute(sql`select gin_clean_pending_list('ci_insights.tests_name')`);
    // So few tests are read faster as a whole.
    await tx.execute(sql`set local enable_seqscan = off`);
    const explained: string[] = [];
    for (const part of partsOf(search)) {
      const statement = sql`explain ${searchStatement(insights.fixture.id, part)}`;
      const { rows } = await tx.execute<{ 'QUERY PLAN': string }>(statement);
      explained.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    }
    return explained;
  });
  expect(plans).toHaveLength(indexes.length);
  for (const [i, index] of indexes.entries()) expect(plans[i]).toContain(index);
});

test('the tests of an owner are found by its index, and those of others are not looked at one by one', async () => {
  const { db } = insights.app.stores.postgres;
  const { id } = insights.fixture;
  // Fewer than a page: to look for them in the order of the page would look at every test.
  const owned = sql`(select test_id from ci_insights.tests where repository_id = ${id} order by name limit 4)`;
  const plans = await db.transaction(async (tx) => {
    await tx.execute(sql`
      insert into ci_insights.test_owners (repository_id, test_id, owner, position)
      select repository_id, test_id, case when test_id in ${owned} then '@few' else '' end, 0
      from ci_insights.tests where repository_id = ${id}`);
    await tx.execute(
      sql`analyze ci_insights.tests, ci_insights.identities, ci_insights.suspects, ci_insights.test_owners`,
    );
    const explained: string[] = [];
    for (const sort of ['test_name', 'executions_count'] as const) {
      const search = { ...SEARCH, patterns: ['%'], conditions: [hasOwner(id, ['@few'])], sort };
      const { rows } = await tx.execute<{ 'QUERY PLAN': string }>(sql`explain ${searchStatement(id, search)}`);
      explained.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    }
    await tx.execute(sql`delete from ci_insights.test_owners where repository_id = ${id}`);
    return explained;
  });
  for (const plan of plans) expect(plan).toContain('test_owners_owner');
});

test('listings of tests are read from a range of the key, by how names begin', async () => {
  const { rows } = await insights.app.stores.postgres.db.transaction(async (tx) => {
    await tx.execute(sql`analyze ci_insights.test_listings`);
    await tx.execute(sql`set local enable_seqscan = off`);
    return tx.execute<{ 'QUERY PLAN': string }>(
      sql`explain ${namedListings(insights.fixture.id, { ...SEARCH, patterns: ['test 123%4', 'test 77%'] })}`,
    );
  });
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toMatch(/BitmapOr(.*\n)+?.*name_start >= 'test 123'(.*\n)+?.*name_start >= 'test 77'/);
});

test('the changes of each identity are read from a range of the key', async () => {
  const statement = daysStatement(insights.fixture.id, {
    selection: { ...SEARCH, patterns: ['%'] },
    since: 0,
  });
  const { rows } = await insights.app.stores.postgres.db.transaction(async (tx) => {
    await tx.execute(sql`set local enable_seqscan = off`);
    return tx.execute<{ 'QUERY PLAN': string }>(sql`explain ${statement}`);
  });
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('health_changes_repository_id');
  expect(plan).not.toContain('Seq Scan');
});

test('the transitions of a test are read from ranges of keys', async () => {
  const { rows } = await insights.app.stores.postgres.db.transaction(async (tx) => {
    await tx.execute(sql`set local enable_seqscan = off`);
    return tx.execute<{ 'QUERY PLAN': string }>(
      sql`explain ${historiesStatement(insights.fixture.id, [insights.fixture.id])}`,
    );
  });
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  for (const index of [
    'tests_',
    'identities_repository_id',
    'health_changes_repository_id',
    'pull_requests_merge_commit',
  ])
    expect(plan).toContain(index);
  expect(plan).not.toContain('Seq Scan');
});

test('a repository with more pipelines and CI jobs of tests than are fetched at a time is counted whole', async () => {
  const stats = `${insights.fixture.base}/tests/stats`;
  expect(await insights.app.get(`${stats}/total_tests`)).toMatchObject({ value: TESTS });
  expect(await insights.app.get(`${stats}/failed_executions`)).toMatchObject({ value: 2 * TESTS });
});
