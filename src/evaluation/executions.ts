/** Executions as ClickHouse has them, for judgements of what was stored before. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { appendAll } from '../domain/append.ts';
import type { JudgedExecution } from '../domain/execution.ts';
import { STATUSES } from '../domain/status.ts';
import type { Identity } from '../domain/test-identity.ts';
import { piecesOf } from '../pieces.ts';

export type IdentifiedExecution = JudgedExecution & Identity;

/** The columns of an execution, named alike in every query whose executions are judged. */
export const executionColumns = z.object({
  test_id: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
  axes: z.string(),
  commit_sha: z.string(),
  run_id: z.string(),
  run_attempt: z.number(),
  execution_id: z.string(),
  status: z.enum(STATUSES),
  is_flaky: z.boolean(),
  is_retried: z.boolean(),
  finished_at_ms: z.number(),
});

export const executionOf = (row: z.infer<typeof executionColumns>): IdentifiedExecution => ({
  testId: row.test_id,
  pipelineName: row.pipeline_name,
  jobName: row.job_name,
  axes: row.axes,
  executionId: BigInt(row.execution_id),
  status: row.status,
  finishedAt: row.finished_at_ms,
  runId: row.run_id,
  runAttempt: row.run_attempt,
  commit: row.commit_sha,
  isFlakyWithinRun: row.is_flaky,
  isRetried: row.is_retried,
});

/** More tests make a statement longer and gain nothing; over HTTP, ClickHouse does not accept much longer lists. */
export const TESTS_MAX = 2_000;
/** With long names, more would be too long over HTTP. */
const IDENTITIES_MAX = 1_000;

const history = defineLongQuery(
  'evaluation/history',
  {
    repository_id: 'UUID',
    test_ids: 'Array(UUID)',
    pipeline_names: 'Array(String)',
    job_names: 'Array(String)',
    axes: 'Array(String)',
    from_ms: 'Int64',
    to_ms: 'Int64',
  } as const,
  executionColumns.transform(executionOf),
);

/** A span of time in milliseconds since the epoch; `to` is not in it. */
export interface Span {
  from: number;
  to: number;
}

/** Reads the passed and failed executions of some identities on the default branch in a span. */
export async function readExecutions(
  clickhouse: ClickHouse,
  repositoryId: string,
  identities: readonly Identity[],
  { from, to }: Span,
): Promise<IdentifiedExecution[]> {
  const all: IdentifiedExecution[] = [];
  for (const some of piecesOf(identities, IDENTITIES_MAX)) {
    const read = await clickhouse.select(history, {
      repository_id: repositoryId,
      test_ids: some.map(({ testId }) => testId),
      pipeline_names: some.map(({ pipelineName }) => pipelineName),
      job_names: some.map(({ jobName }) => jobName),
      axes: some.map(({ axes }) => axes),
      from_ms: Math.max(0, from),
      to_ms: to,
    });
    appendAll(all, read);
  }
  return all;
}
