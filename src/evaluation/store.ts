/** Reads executions and verdicts for the evaluation, and writes the verdicts that it finds. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import { appendAll } from '../domain/append.ts';
import type { Belief } from '../domain/belief.ts';
import type { JudgedExecution } from '../domain/execution.ts';
import { STATUSES } from '../domain/status.ts';

/** The series of executions that a health describes. */
export interface Identity {
  testId: string;
  pipelineName: string;
  jobName: string;
}

/** An identity as the quarantines see it. */
export interface IdentityState extends Identity {
  testName: string;
  /** When its newest execution that passed or failed finished; milliseconds since the epoch. */
  newestAt: number;
  belief: Belief;
}

/** No name has a NUL. */
export const identityKey = ({ testId, pipelineName, jobName }: Identity): string =>
  `${testId}\0${pipelineName}\0${jobName}`;

/** What {@link identityKey} was made of. */
export function identityIn(key: string): Identity {
  const [testId = '', pipelineName = '', jobName = ''] = key.split('\0');
  return { testId, pipelineName, jobName };
}

export const testIdIn = (key: string): string => key.slice(0, key.indexOf('\0'));

export type IdentifiedExecution = JudgedExecution & Identity;

/** The columns of an execution, named alike in every query whose executions are judged. */
export const executionColumns = z.object({
  test_id: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
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

const executionRow = executionColumns.transform(executionOf);

const tests = { repository_id: 'UUID', test_ids: 'Array(UUID)' } as const;
const testsSince = { ...tests, since_ms: 'Int64' } as const;

const history = defineQuery('evaluation/history', testsSince, executionRow);
const named = { ...tests, pipeline_names: 'Array(String)', job_names: 'Array(String)' } as const;
const historyOfIdentities = defineQuery(
  'evaluation/history_of_identities',
  { ...named, since_ms: 'Int64' } as const,
  executionRow,
);
const newestHistory = defineQuery(
  'evaluation/newest_history',
  { ...named, sinces_ms: 'Array(Int64)', before_ms: 'Int64' } as const,
  executionRow,
);
const verdicts = defineQuery(
  'evaluation/verdicts',
  testsSince,
  z
    .object({
      test_id: z.string(),
      execution_id: z.string(),
      finished_at_ms: z.number(),
      rule: z.string(),
    })
    .transform((row) => ({
      testId: row.test_id,
      executionId: BigInt(row.execution_id),
      finishedAt: row.finished_at_ms,
      isFromSource: row.rule === 'within_run',
    })),
);

/** An execution that is flaky. */
export interface FlakyVerdict {
  testId: string;
  executionId: bigint;
  finishedAt: number;
  /** Whether its source said so; otherwise its test was called flaky, and explains it best. */
  isFromSource: boolean;
}

/** A verdict to write: it may retract an earlier one. */
export interface Verdict extends FlakyVerdict {
  isFlaky: boolean;
}

export class EvaluationStore {
  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly repositoryId: string,
  ) {}

  /** What passed or failed since a moment. */
  history(testIds: readonly string[], since: number): Promise<IdentifiedExecution[]> {
    return this.clickhouse.select(history, { repository_id: this.repositoryId, test_ids: testIds, since_ms: since });
  }

  /** The same of some identities. */
  historyOf(identities: readonly Identity[], since: number): Promise<IdentifiedExecution[]> {
    return inGroups(identities, (some) =>
      this.clickhouse.select(historyOfIdentities, { ...this.#named(some), since_ms: since }),
    );
  }

  /**
   * What passed or failed of some identities since a moment of each test, and of each the last few before that.
   *
   * @param beforeMs how long before; milliseconds
   */
  newestHistory(
    identities: readonly Identity[],
    sinceOf: (testId: string) => number,
    beforeMs: number,
  ): Promise<IdentifiedExecution[]> {
    return inGroups(identities, (some) =>
      this.clickhouse.select(newestHistory, {
        ...this.#named(some),
        sinces_ms: some.map(({ testId }) => sinceOf(testId)),
        before_ms: beforeMs,
      }),
    );
  }

  #named(identities: readonly Identity[]) {
    return {
      repository_id: this.repositoryId,
      test_ids: identities.map(({ testId }) => testId),
      pipeline_names: identities.map(({ pipelineName }) => pipelineName),
      job_names: identities.map(({ jobName }) => jobName),
    };
  }

  /** The executions since then that are flaky. */
  flakyExecutions(testIds: readonly string[], since: number): Promise<FlakyVerdict[]> {
    return this.clickhouse.select(verdicts, {
      repository_id: this.repositoryId,
      test_ids: testIds,
      since_ms: since,
    });
  }
}

/** Identities in a statement: with long names, more would be too long over HTTP. */
const IDENTITIES_MAX = 1_000;

async function inGroups(
  identities: readonly Identity[],
  read: (some: readonly Identity[]) => Promise<IdentifiedExecution[]>,
): Promise<IdentifiedExecution[]> {
  const all: IdentifiedExecution[] = [];
  for (let from = 0; from < identities.length; from += IDENTITIES_MAX)
    appendAll(all, await read(identities.slice(from, from + IDENTITIES_MAX)));
  return all;
}

/** In the form that ClickHouse reads as DateTime64(3, 'UTC'). */
const timestamp = (at: number): string => new Date(at).toISOString().replace('T', ' ').replace('Z', '');

/**
 * Writes the verdicts of some repositories, in one insert: each makes a part, however small, that is merged later.
 *
 * @param rows by repository id
 * @param version drawn for these alone, so it also serves as the token of the insert
 */
export async function writeVerdicts(
  clickhouse: ClickHouse,
  rows: Iterable<readonly [repositoryId: string, verdicts: readonly Verdict[]]>,
  version: number,
): Promise<void> {
  let lines = '';
  for (const [repositoryId, verdicts] of rows)
    for (const { testId, executionId, finishedAt, isFlaky, isFromSource } of verdicts)
      lines += `${JSON.stringify({
        ...{ repository_id: repositoryId, version, test_id: testId, execution_id: executionId.toString() },
        ...{ finished_at: timestamp(finishedAt), is_flaky: isFlaky },
        rule: isFlaky ? (isFromSource ? 'within_run' : 'own') : 'none',
      })}\n`;
  if (lines !== '') await clickhouse.insert('ci.flaky_verdicts', lines, `evaluation-${version}`);
}
