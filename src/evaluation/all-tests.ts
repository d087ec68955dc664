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

export interface TestGroup {
  repositoryId: string;
  testIds: string[];
}

/** In groups of one repository, each small enough to hold all its executions in memory. */
export async function* testsOnDefaultBranches(
  clickhouse: ClickHouse,
  repositoryId?: string,
  executionsAtOnce = EXECUTIONS_AT_ONCE,
): AsyncGenerator<TestGroup> {
  const rows = await clickhouse.select(allTests, scopeOf(repositoryId));
  for (const [id, tests] of Map.groupBy(rows, (row) => row.repository_id)) {
    let testIds: string[] = [];
    let executions = 0;
    for (const test of tests) {
      const isFull = testIds.length >= TESTS_AT_ONCE || executions + test.executions > executionsAtOnce;
      if (testIds.length > 0 && isFull) {
        yield { repositoryId: id, testIds };
        testIds = [];
        executions = 0;
      }
      testIds.push(test.test_id);
      executions += test.executions;
    }
    yield { repositoryId: id, testIds };
  }
}
