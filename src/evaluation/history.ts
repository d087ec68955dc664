/** Everything retained of some tests: what their state is rebuilt from, and compared with. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import type { FailureGroup } from '../domain/failure-group.ts';
import { flags, numbers, oneOf, texts } from '../domain/plain-array.ts';
import { STATUSES } from '../domain/status.ts';
import { type Leg, legKey } from '../domain/test-identity.ts';
import { isLater, NEWEST_FACTS, type NewestFacts, type SummarisedExecution } from '../domain/test-state.ts';
import type { FailureGroupRecord } from '../postgres/failure-groups.ts';
import type { IdentifiedExecution } from './executions.ts';

export type RetainedExecution = IdentifiedExecution & {
  /** Whether an attempt of it failed, also if it passed in the end. */
  hasFailures: boolean;
};

/** Everything retained of one identity. */
export interface IdentityHistory extends Leg {
  executions: readonly RetainedExecution[];
  /** Null if there are none. */
  newest: SummarisedExecution | null;
}

/** Everything retained of one test. */
export interface TestHistory {
  name: string;
  /** By leg. */
  identities: Map<string, IdentityHistory>;
}

const tests = { repository_id: 'UUID', test_ids: 'Array(UUID)' } as const;
const identityRow = z.object({
  test_id: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
  axes: z.string(),
  test_name: z.string(),
  commits: texts,
  run_ids: texts,
  run_attempts: numbers,
  execution_ids: texts,
  statuses: oneOf(STATUSES),
  flaky: flags,
  retried: flags,
  failure_counts: numbers,
  finished_ms: numbers,
  /** The facts about the newest, in the order of `NEWEST_FACTS`. */
  shown: z.array(z.string()).length(NEWEST_FACTS.length),
});
const histories = defineLongQuery('maintenance/history', tests, identityRow);
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
export const conclusiveIn = (history: TestHistory): IdentifiedExecution[] =>
  retainedIn(history).filter(({ status }) => status !== 'skipped');

export const retainedIn = ({ identities }: TestHistory): RetainedExecution[] =>
  [...identities.values()].flatMap(({ executions }) => executions);

/**
 * By test id. Failures are in {@link readGroups}.
 *
 * @param names of renamed tests, whose executions have several
 */
export async function readHistory(
  clickhouse: ClickHouse,
  repositoryId: string,
  testIds: readonly string[],
  names: ReadonlyMap<string, string> = new Map(),
): Promise<Map<string, TestHistory>> {
  const rows = await clickhouse.select(histories, { repository_id: repositoryId, test_ids: testIds });
  const history = new Map<string, TestHistory>();
  for (const row of rows) {
    const test = history.get(row.test_id) ?? { name: names.get(row.test_id) ?? row.test_name, identities: new Map() };
    history.set(row.test_id, test);
    const identity = historyOf(row);
    test.identities.set(legKey(identity), identity);
  }
  return history;
}

function historyOf(row: z.infer<typeof identityRow>): IdentityHistory {
  const identity = { testId: row.test_id, pipelineName: row.pipeline_name, jobName: row.job_name, axes: row.axes };
  const executions = row.execution_ids.map(
    (executionId, i): RetainedExecution => ({
      ...identity,
      executionId: BigInt(executionId),
      status: row.statuses[i] ?? 'skipped',
      finishedAt: row.finished_ms[i] ?? 0,
      runId: row.run_ids[i] ?? '',
      runAttempt: row.run_attempts[i] ?? 0,
      commit: row.commits[i] ?? '',
      isFlakyWithinRun: row.flaky[i] ?? false,
      isRetried: row.retried[i] ?? false,
      hasFailures: (row.failure_counts[i] ?? 0) > 0,
    }),
  );
  let newest: IdentifiedExecution | null = null;
  for (const one of executions) if (newest === null || isLater(one, newest)) newest = one;
  return { ...identity, executions, newest: newest && { ...factsOf(row.shown), ...statusOf(newest) } };
}

const factsOf = (shown: readonly string[]): NewestFacts =>
  Object.fromEntries(NEWEST_FACTS.map((fact, i) => [fact, shown[i] ?? ''])) as NewestFacts;

const statusOf = ({ executionId, status, finishedAt }: IdentifiedExecution) => ({ executionId, status, finishedAt });

export async function readGroups(
  clickhouse: ClickHouse,
  repositoryId: string,
  testIds: readonly string[],
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
