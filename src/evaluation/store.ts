/** Reads executions, verdicts and health for the evaluation, and writes what it finds. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { JudgedExecution } from '../domain/execution.ts';
import type { FlakyRule } from '../domain/flakiness.ts';
import type { Hold } from '../domain/infrastructure.ts';
import { STATUSES } from '../domain/status.ts';

/** The series of executions that a health describes. */
export interface Identity {
  testId: string;
  pipelineName: string;
  jobName: string;
}

export const identityKey = (identity: Identity): string =>
  JSON.stringify([identity.testId, identity.pipelineName, identity.jobName]);

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

const executionRow = executionColumns.transform(executionOf);

const tests = { repository_id: 'UUID', test_ids: 'Array(UUID)' } as const;
const testsSince = { ...tests, since_ms: 'Int64' } as const;

const failing = defineQuery(
  'evaluation/failing',
  { ...testsSince, commits: 'Array(String)' },
  z
    .object({ test_id: z.string(), on_commits: z.number(), lately: z.number(), newest_at_ms: z.number() })
    .transform((row) => ({
      testId: row.test_id,
      isOnCommits: row.on_commits > 0,
      failuresLately: row.lately,
      newestAt: row.newest_at_ms,
    })),
);
const commitExecutions = defineQuery(
  'evaluation/commit_executions',
  { ...tests, commits: 'Array(String)' },
  executionRow,
);
const history = defineQuery('evaluation/history', testsSince, executionRow);
const recentHistory = defineQuery(
  'evaluation/recent_history',
  { ...testsSince, from_ms: 'Int64', executions: 'UInt32' },
  executionRow,
);
const fingerprints = defineQuery(
  'evaluation/fingerprints',
  testsSince,
  z.object({ execution_id: z.string(), fingerprint: z.string() }),
);
const verdicts = defineQuery(
  'evaluation/verdicts',
  testsSince,
  z
    .object({
      test_id: z.string(),
      execution_id: z.string(),
      finished_at_ms: z.number(),
      rule: z.enum(['within_run', 'contradicted', 'repeated', 'held_back', 'pending']),
    })
    .transform((row) => ({
      testId: row.test_id,
      executionId: BigInt(row.execution_id),
      finishedAt: row.finished_at_ms,
      rule: row.rule,
    })),
);
/** A test that failed: whether on the given commits, and how often since the given moment. */
export interface FailingTest {
  testId: string;
  isOnCommits: boolean;
  failuresLately: number;
  newestAt: number;
}

/** Why an execution is flaky, or that it is held back (src/domain/infrastructure.ts). */
export type VerdictRule = FlakyRule | Exclude<Hold, 'released'>;

export const isFlakyRule = (rule: VerdictRule | undefined): rule is FlakyRule =>
  rule === 'within_run' || rule === 'contradicted' || rule === 'repeated';

export interface StoredVerdict {
  testId: string;
  executionId: bigint;
  finishedAt: number;
  rule: VerdictRule;
}

/** A verdict to write; without a rule, it retracts an earlier one. */
export type Verdict = Omit<StoredVerdict, 'rule'> & { rule: VerdictRule | undefined };

/** Executions that are flaky, and those that are held back. */
export interface Verdicts {
  flaky: ReadonlySet<bigint>;
  heldBack: ReadonlySet<bigint>;
}

export function verdictsOf(rows: Iterable<readonly [bigint, VerdictRule]>): Verdicts {
  const flaky = new Set<bigint>();
  const heldBack = new Set<bigint>();
  for (const [id, rule] of rows) (isFlakyRule(rule) ? flaky : heldBack).add(id);
  return { flaky, heldBack };
}

export class EvaluationStore {
  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly repositoryId: string,
  ) {}

  /** The tests that ever failed, among those given. */
  failing(testIds: string[], commits: string[], since: number): Promise<FailingTest[]> {
    return this.clickhouse.select(failing, {
      repository_id: this.repositoryId,
      test_ids: testIds,
      commits,
      since_ms: since,
    });
  }

  onCommits(testIds: string[], commits: string[]): Promise<IdentifiedExecution[]> {
    return this.clickhouse.select(commitExecutions, { repository_id: this.repositoryId, test_ids: testIds, commits });
  }

  history(testIds: string[], since: number): Promise<IdentifiedExecution[]> {
    return this.clickhouse.select(history, { repository_id: this.repositoryId, test_ids: testIds, since_ms: since });
  }

  /**
   * What finished since `from`, and for each identity up to `executions` of what finished between `since` and `from`.
   */
  recentHistory(testIds: string[], since: number, from: number, executions: number): Promise<IdentifiedExecution[]> {
    return this.clickhouse.select(recentHistory, {
      repository_id: this.repositoryId,
      test_ids: testIds,
      since_ms: since,
      from_ms: from,
      executions,
    });
  }

  /** The failure group of each execution that failed since then, by execution id. */
  async fingerprints(testIds: string[], since: number): Promise<Map<bigint, string>> {
    const rows = await this.clickhouse.select(fingerprints, {
      repository_id: this.repositoryId,
      test_ids: testIds,
      since_ms: since,
    });
    return new Map(rows.map((row) => [BigInt(row.execution_id), row.fingerprint]));
  }

  /** The executions since then that are flaky or held back. */
  async verdicts(testIds: string[], since: number): Promise<Verdicts> {
    return verdictsOf((await this.storedVerdicts(testIds, since)).map((row) => [row.executionId, row.rule]));
  }

  storedVerdicts(testIds: string[], since: number): Promise<StoredVerdict[]> {
    return this.clickhouse.select(verdicts, {
      repository_id: this.repositoryId,
      test_ids: testIds,
      since_ms: since,
    });
  }

  async writeVerdicts(rows: readonly Verdict[], version: number): Promise<void> {
    await this.#insert('ci.flaky_verdicts', version, rows, (row) => ({
      test_id: row.testId,
      finished_at: timestamp(row.finishedAt),
      execution_id: row.executionId.toString(),
      is_flaky: isFlakyRule(row.rule),
      rule: row.rule ?? 'none',
    }));
  }

  /** A version is drawn only once, so with the repository it also serves as the insert's token. */
  async #insert<T>(table: string, version: number, rows: readonly T[], columns: (row: T) => object): Promise<void> {
    if (rows.length === 0) return;
    const lines = rows.map((row) => JSON.stringify({ repository_id: this.repositoryId, version, ...columns(row) }));
    await this.clickhouse.insert(table, `${lines.join('\n')}\n`, evaluationToken(version, this.repositoryId));
  }
}

/** The token of what one pass inserts for a repository: several repositories share a pass and its version. */
export const evaluationToken = (version: number, repositoryId: string): string =>
  `evaluation-${version}-${repositoryId}`;

/** In the form that ClickHouse reads as DateTime64(3, 'UTC'). */
const timestamp = (at: number): string => new Date(at).toISOString().replace('T', ' ').replace('Z', '');
