/** Reads what ClickHouse has of some tests. */
import { z } from 'zod';
import { piecesOf } from '../pieces.ts';
import type { ClickHouse } from './client.ts';
import { defineLongQuery } from './query.ts';

/** Ids in one statement, which may have 256 KiB. */
const TESTS_AT_ONCE = 2_000;

const ofTests = { repository_id: 'UUID', test_ids: 'Array(UUID)' } as const;
const executionsOfTests = defineLongQuery(
  'maintenance/executions_of_tests',
  ofTests,
  z.object({ test_id: z.string(), month: z.number(), executions: z.number(), failures: z.number() }),
);
const executionIdsOfTests = defineLongQuery(
  'maintenance/execution_ids_of_tests',
  ofTests,
  z.object({ test_id: z.string(), month: z.number(), execution_id: z.string().transform(BigInt) }),
);
const testsRunSince = defineLongQuery(
  'maintenance/tests_run_since',
  { ...ofTests, since_ms: 'Int64' },
  z.object({ test_id: z.string() }),
);

/** The names under which some tests ran, and how often. */
export const namesOfTests = defineLongQuery(
  'maintenance/names_of_tests',
  ofTests,
  z.object({ test_id: z.string(), test_name: z.string(), executions: z.number() }),
);
const testsOffDefault = defineLongQuery(
  'maintenance/tests_off_default',
  { repository_id: 'UUID', after_id: 'UUID', since_ms: 'Int64', rows: 'UInt32' },
  z.object({ test_id: z.string(), name: z.string() }),
);

/** Cuts a list of tests so that each piece fits into a statement. */
export const inStatements = (testIds: readonly string[]): Generator<string[]> => piecesOf(testIds, TESTS_AT_ONCE);

export interface StoredOfTest {
  testId: string;
  /** Such as 202611. */
  month: number;
  executions: number;
  failures: number;
}

/** How much is stored of some tests, by test and month. */
export async function countStoredOfTests(
  clickhouse: ClickHouse,
  repositoryId: string,
  testIds: readonly string[],
): Promise<StoredOfTest[]> {
  const found: StoredOfTest[] = [];
  for (const test_ids of inStatements(testIds))
    for (const { test_id, ...stored } of await clickhouse.select(executionsOfTests, {
      repository_id: repositoryId,
      test_ids,
    }))
      found.push({ testId: test_id, ...stored });
  return found;
}

/** The ids of all executions of some tests, by test and month. The tests fit into a statement, and their ids into memory. */
export async function executionIdsOf(
  clickhouse: ClickHouse,
  repositoryId: string,
  testIds: readonly string[],
): Promise<{ testId: string; month: number; id: bigint }[]> {
  const rows = await clickhouse.select(executionIdsOfTests, { repository_id: repositoryId, test_ids: testIds });
  return rows.map(({ test_id, month, execution_id }) => ({ testId: test_id, month, id: execution_id }));
}

/**
 * Which of some tests have run since a moment, on any branch.
 *
 * @param since milliseconds since the epoch
 */
async function testsThatRanSince(
  clickhouse: ClickHouse,
  repositoryId: string,
  testIds: readonly string[],
  since: number,
): Promise<ReadonlySet<string>> {
  const ran = new Set<string>();
  for (const test_ids of inStatements(testIds))
    for (const { test_id } of await clickhouse.select(testsRunSince, {
      repository_id: repositoryId,
      test_ids,
      since_ms: since,
    }))
      ran.add(test_id);
  return ran;
}

/** A test of which executions are stored. */
interface StoredTest {
  testId: string;
  name: string;
}

/** One of the names of each of some tests, as far as executions of them are stored. */
async function namesOf(
  clickhouse: ClickHouse,
  repositoryId: string,
  testIds: readonly string[],
): Promise<StoredTest[]> {
  const names = new Map<string, string>();
  for (const test_ids of inStatements(testIds))
    for (const { test_id, test_name } of await clickhouse.select(namesOfTests, {
      repository_id: repositoryId,
      test_ids,
    }))
      names.set(test_id, test_name);
  return [...names].map(([testId, name]) => ({ testId, name }));
}

/**
 * Tests that ran off the default branch, and have not run there since a moment: a page of them.
 *
 * @param since milliseconds since the epoch
 * @param after the last test of the page before; null for the first page
 */
async function testsOffDefaultBranch(
  clickhouse: ClickHouse,
  repositoryId: string,
  { since, after, rows }: { since: number; after: string | null; rows: number },
): Promise<StoredTest[]> {
  const page = { after_id: after ?? '00000000-0000-0000-0000-000000000000', since_ms: since, rows };
  const found = await clickhouse.select(testsOffDefault, { repository_id: repositoryId, ...page });
  return found.map(({ test_id: testId, name }) => ({ testId, name }));
}

/** The stored rows of the tests of a repository, on any branch. */
export const storedTests = (clickhouse: ClickHouse, repositoryId: string) => ({
  ranSince: (testIds: readonly string[], since: number) => testsThatRanSince(clickhouse, repositoryId, testIds, since),
  named: (testIds: readonly string[]) => namesOf(clickhouse, repositoryId, testIds),
  offDefaultBranch: (page: Parameters<typeof testsOffDefaultBranch>[2]) =>
    testsOffDefaultBranch(clickhouse, repositoryId, page),
});
