/** Everything retained of some tests: what their state is rebuilt from, and compared with. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import type { FailureGroup } from '../domain/failure-group.ts';
import type { SummarisedExecution } from '../domain/test-state.ts';
import type { FailureGroupRecord } from '../postgres/failure-groups.ts';
import { placeOf } from './news.ts';
import { executionColumns, executionOf, type IdentifiedExecution } from './store.ts';

export type RetainedExecution = IdentifiedExecution & SummarisedExecution;

/** Everything retained of one test. */
export interface TestHistory {
  name: string;
  /** By pipeline and CI job. */
  identities: Map<string, { pipelineName: string; jobName: string; executions: RetainedExecution[] }>;
}

const tests = { repository_id: 'UUID', test_ids: 'Array(UUID)' } as const;
const executions = defineLongQuery(
  'maintenance/history',
  tests,
  executionColumns
    .extend({
      test_name: z.string(),
      framework: z.string(),
      framework_version: z.string(),
      language: z.string(),
      filepath: z.string(),
      function: z.string(),
    })
    .transform((row): RetainedExecution & { name: string } => ({
      ...executionOf(row),
      name: row.test_name,
      framework: row.framework,
      frameworkVersion: row.framework_version,
      language: row.language,
      filepath: row.filepath,
      function: row.function,
    })),
);
const failureGroups = defineLongQuery(
  'maintenance/failure_groups',
  tests,
  z.object({
    test_id: z.string(),
    failure_id: z.string(),
    month: z.number(),
    failures: z.number(),
    first_ms: z.number(),
    last_ms: z.number(),
    last_execution: z.string(),
    last_attempt: z.number(),
    type: z.string(),
    message: z.string(),
  }),
);

/** The executions that passed or failed. */
export const conclusiveIn = ({ identities }: TestHistory): RetainedExecution[] =>
  [...identities.values()].flatMap(({ executions }) => executions.filter(({ status }) => status !== 'skipped'));

/** By test id. Failures are in {@link readGroups}. */
export async function readHistory(
  clickhouse: ClickHouse,
  repositoryId: string,
  testIds: string[],
): Promise<Map<string, TestHistory>> {
  const rows = await clickhouse.select(executions, { repository_id: repositoryId, test_ids: testIds });
  const history = new Map<string, TestHistory>();
  for (const { name, ...execution } of rows) {
    const test = history.get(execution.testId) ?? { name, identities: new Map() };
    history.set(execution.testId, test);
    const { pipelineName, jobName } = execution;
    const place = placeOf(execution);
    const identity = test.identities.get(place) ?? { pipelineName, jobName, executions: [] };
    test.identities.set(place, identity);
    identity.executions.push(execution);
  }
  return history;
}

export async function readGroups(
  clickhouse: ClickHouse,
  repositoryId: string,
  testIds: string[],
): Promise<FailureGroupRecord[]> {
  const rows = await clickhouse.select(failureGroups, { repository_id: repositoryId, test_ids: testIds });
  const groups = Map.groupBy(rows, (row) => `${row.test_id}/${row.failure_id}`);
  return [...groups.values()].flatMap((months) => {
    const newest = months.reduce((one, other) => (other.month > one.month ? other : one));
    return [
      {
        testId: newest.test_id,
        failureId: newest.failure_id,
        months: new Map(
          months
            .sort((one, other) => one.month - other.month)
            .map(({ month, failures, first_ms }) => [month, { failures, firstAt: first_ms }]),
        ) satisfies FailureGroup['months'],
        newest: {
          failedAt: newest.last_ms,
          executionId: BigInt(newest.last_execution),
          attempt: newest.last_attempt,
          exceptionType: newest.type,
          exceptionMessage: newest.message,
        },
      },
    ];
  });
}
