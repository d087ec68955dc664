/** What the evaluation reads from ClickHouse and writes there. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { JudgedExecution } from '../domain/execution.ts';
import type { FlakyRule } from '../domain/flakiness.ts';
import { HEALTHS, type Health } from '../domain/status.ts';
import { type Fold, foldSchema, writeFold } from './fold.ts';

/** Which series of executions a health is of. */
export interface Identity {
  testId: string;
  pipelineName: string;
  jobName: string;
}

export const identityKey = (identity: Identity): string =>
  JSON.stringify([identity.testId, identity.pipelineName, identity.jobName]);

export type IdentifiedExecution = JudgedExecution & Identity;

const executionRow = z
  .object({
    test_id: z.string(),
    pipeline_name: z.string(),
    job_name: z.string(),
    commit_sha: z.string(),
    run_id: z.string(),
    run_attempt: z.number(),
    execution_id: z.string(),
    status: z.enum(['passed', 'failed', 'skipped']),
    is_flaky: z.boolean(),
    is_retried: z.boolean(),
    finished_at_ms: z.number(),
  })
  .transform(
    (row): IdentifiedExecution => ({
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
    }),
  );

type Tests = { repository_id: string; test_ids: string[] };

const failingOnCommits = defineQuery<Tests & { commits: string[] }, { test_id: string }>(
  'evaluation/failing_on_commits',
  z.object({ test_id: z.string() }),
);
const commitExecutions = defineQuery<Tests & { commits: string[] }, IdentifiedExecution>(
  'evaluation/commit_executions',
  executionRow,
);
const history = defineQuery<Tests & { since_ms: number }, IdentifiedExecution>('evaluation/history', executionRow);
const verdicts = defineQuery<Tests & { since_ms: number }, { execution_id: string; rule: string }>(
  'evaluation/verdicts',
  z.object({ execution_id: z.string(), rule: z.string() }),
);
const folds = defineQuery<Tests, HealthRow>(
  'evaluation/folds',
  z
    .object({
      test_id: z.string(),
      pipeline_name: z.string(),
      job_name: z.string(),
      health: z.enum(HEALTHS),
      newest_at_ms: z.number(),
      checkpoint: foldSchema,
      baseline: foldSchema,
    })
    .transform((row) => ({
      testId: row.test_id,
      pipelineName: row.pipeline_name,
      jobName: row.job_name,
      health: row.health,
      newestAt: row.newest_at_ms,
      checkpoint: row.checkpoint,
      baseline: row.baseline,
    })),
);

export interface Verdict {
  testId: string;
  executionId: bigint;
  finishedAt: number;
  isFlaky: boolean;
  rule: FlakyRule;
}

export interface HealthRow extends Identity {
  health: Health;
  /** When its newest execution finished; milliseconds since the epoch. */
  newestAt: number;
  checkpoint: Fold;
  baseline: Fold;
}

export class EvaluationStore {
  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly repositoryId: string,
  ) {}

  /** Those of the tests that failed on one of the commits. */
  async failingOn(testIds: string[], commits: string[]): Promise<string[]> {
    const parameters = { repository_id: this.repositoryId, test_ids: testIds, commits };
    return (await this.clickhouse.select(failingOnCommits, parameters)).map((row) => row.test_id);
  }

  onCommits(testIds: string[], commits: string[]): Promise<IdentifiedExecution[]> {
    return this.clickhouse.select(commitExecutions, { repository_id: this.repositoryId, test_ids: testIds, commits });
  }

  history(testIds: string[], since: number): Promise<IdentifiedExecution[]> {
    return this.clickhouse.select(history, { repository_id: this.repositoryId, test_ids: testIds, since_ms: since });
  }

  /** Flaky executions finished since then, by id. */
  async flaky(testIds: string[], since: number): Promise<Set<bigint>> {
    const rows = await this.clickhouse.select(verdicts, {
      repository_id: this.repositoryId,
      test_ids: testIds,
      since_ms: since,
    });
    return new Set(rows.map((row) => BigInt(row.execution_id)));
  }

  /** Where the fold of each identity of these tests stands. */
  folds(testIds: string[]): Promise<HealthRow[]> {
    return this.clickhouse.select(folds, { repository_id: this.repositoryId, test_ids: testIds });
  }

  async writeVerdicts(rows: readonly Verdict[], version: number): Promise<void> {
    await this.#insert('ci.flaky_verdicts', version, rows, (row) => ({
      test_id: row.testId,
      finished_at: timestamp(row.finishedAt),
      execution_id: row.executionId.toString(),
      is_flaky: row.isFlaky,
      rule: row.rule,
    }));
  }

  async writeHealth(rows: readonly HealthRow[], version: number): Promise<void> {
    await this.#insert('ci.health', version, rows, (row) => ({
      test_id: row.testId,
      pipeline_name: row.pipelineName,
      job_name: row.jobName,
      health: row.health,
      newest_at: timestamp(row.newestAt),
      checkpoint: writeFold(row.checkpoint),
      baseline: writeFold(row.baseline),
    }));
  }

  /** The version is drawn once and never again, so it also serves as the insert's token. */
  async #insert<T>(table: string, version: number, rows: readonly T[], columns: (row: T) => object): Promise<void> {
    if (rows.length === 0) return;
    const lines = rows.map((row) => JSON.stringify({ repository_id: this.repositoryId, version, ...columns(row) }));
    await this.clickhouse.insert(table, `${lines.join('\n')}\n`, `evaluation-${version}`);
  }
}

/** As ClickHouse reads a DateTime64(3, 'UTC'). */
const timestamp = (at: number): string => new Date(at).toISOString().replace('T', ' ').replace('Z', '');
