/** All tests that passed or failed on a default branch, for verification and rebuilds. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { scope, scopeOf } from '../clickhouse/scope.ts';

const TESTS_AT_ONCE = 2_000;
const EXECUTIONS_AT_ONCE = 100_000;

const allTests = defineLongQuery(
  'maintenance/tests',
  scope,
  z.object({ repository_id: z.string(), test_id: z.string(), executions: z.number() }),
);

const someTests = defineLongQuery(
  'maintenance/counts_of_tests',
  { repository_id: 'UUID', test_ids: 'Array(UUID)' },
  z.object({ test_id: z.string(), executions: z.number() }),
);

/**
 * Repositories that a verification or a rebuild takes at once: one alone leaves most of two cores idle, and each may hold a
 * hundred thousand executions.
 */
export const REPOSITORIES_AT_ONCE = 3;

export interface TestGroup {
  repositoryId: string;
  testIds: readonly string[];
}

/** The tests of a repository, in groups each small enough to hold all its executions in memory. */
export interface TestsOfRepository {
  repositoryId: string;
  groups: readonly TestGroup[];
}

export async function testsOnDefaultBranches(
  clickhouse: ClickHouse,
  repositoryId?: string,
  executionsAtOnce = EXECUTIONS_AT_ONCE,
): Promise<TestsOfRepository[]> {
  const rows = await clickhouse.select(allTests, scopeOf(repositoryId));
  return [...Map.groupBy(rows, (row) => row.repository_id)].map(([id, tests]) => ({
    repositoryId: id,
    groups: [...groupsOf(tests, executionsAtOnce)].map((testIds) => ({ repositoryId: id, testIds })),
  }));
}

/** Some tests of a repository, in groups as {@link testsOnDefaultBranches} makes them; also those that have not run there. */
export async function groupsOfTests(
  clickhouse: ClickHouse,
  repositoryId: string,
  testIds: readonly string[],
): Promise<readonly TestGroup[]> {
  const counted = new Map(testIds.map((testId) => [testId, 0]));
  const asked = { repository_id: repositoryId, test_ids: testIds };
  for (const { test_id: testId, executions } of await clickhouse.select(someTests, asked))
    counted.set(testId, executions);
  const tests = [...counted].map(([test_id, executions]) => ({ test_id, executions }));
  return [...groupsOf(tests, EXECUTIONS_AT_ONCE)].map((ids) => ({ repositoryId, testIds: ids }));
}

function* groupsOf(
  tests: readonly { test_id: string; executions: number }[],
  executionsAtOnce: number,
): Generator<readonly string[]> {
  let testIds: string[] = [];
  let executions = 0;
  for (const test of tests) {
    const isFull = testIds.length >= TESTS_AT_ONCE || executions + test.executions > executionsAtOnce;
    if (testIds.length > 0 && isFull) {
      yield testIds;
      testIds = [];
      executions = 0;
    }
    testIds.push(test.test_id);
    executions += test.executions;
  }
  yield testIds;
}

/** How many tests there are in some groups. */
export const testsIn = (groups: readonly TestGroup[]): number =>
  groups.reduce((sum, { testIds }) => sum + testIds.length, 0);
