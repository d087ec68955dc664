/**
 * Reads and writes what the evaluation knows about runs: totals, and which are troubled (src/domain/infrastructure.ts).
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { FailingTest, RunTotals, Trouble } from '../domain/infrastructure.ts';
import { TROUBLE_REACH_MS, TROUBLE_TESTS_MIN } from '../domain/judgement-constants.ts';
import { DAY_MS } from '../domain/time.ts';
import { evaluationToken } from './store.ts';

/** More tests make a statement longer and gain nothing; over HTTP, ClickHouse does not accept much longer lists. */
export const TESTS_MAX = 2_000;

/** One attempt of a pipeline and job on one UTC day. */
export interface RunFields {
  /** Days since the epoch. */
  day: number;
  pipelineName: string;
  jobName: string;
  runId: string;
  runAttempt: number;
}

/** Names a run within its repository. */
export const fullRunKey = (run: RunFields): string =>
  JSON.stringify([run.day, run.pipelineName, run.jobName, run.runId, run.runAttempt]);

export type Run = RunFields & RunTotals;
export type TroubledRun = RunFields & { trouble: Trouble };

const keyColumns = {
  day_number: z.number(),
  pipeline_name: z.string(),
  job_name: z.string(),
  run_id: z.string(),
  run_attempt: z.number(),
};
const keyOf = (row: z.infer<z.ZodObject<typeof keyColumns>>): RunFields => ({
  day: row.day_number,
  pipelineName: row.pipeline_name,
  jobName: row.job_name,
  runId: row.run_id,
  runAttempt: row.run_attempt,
});

const runTotals = defineQuery(
  'evaluation/run_totals',
  { repository_id: 'UUID', since_ms: 'Int64', failed_min: 'UInt32' },
  z
    .object({ ...keyColumns, started_at_ms: z.number(), passed_sum: z.number(), failed_sum: z.number() })
    .transform((row) => ({
      ...keyOf(row),
      startedAt: row.started_at_ms,
      passed: row.passed_sum,
      failed: row.failed_sum,
    })),
);
const troubledRuns = defineQuery(
  'evaluation/troubled_runs',
  { repository_id: 'UUID', day: 'UInt16' },
  z
    .object({ ...keyColumns, trouble: z.enum(['partial', 'total']) })
    .transform((row) => ({ ...keyOf(row), trouble: row.trouble })),
);
const place = {
  repository_id: 'UUID',
  start_ms: 'Int64',
  end_ms: 'Int64',
  pipeline_name: 'String',
  job_name: 'String',
} as const;
const runFailures = defineQuery(
  'evaluation/run_failures',
  { ...place, run_id: 'String', run_attempt: 'UInt32' },
  z.object({ test_id: z.string(), failures: z.number() }),
);
const runAsOf = defineQuery(
  'evaluation/run_as_of',
  { ...place, run_id: 'String', run_attempt: 'UInt32' },
  z
    .object({ started_at_ms: z.number(), passed_sum: z.number(), failed_sum: z.number() })
    .transform((row) => ({ startedAt: row.started_at_ms, passed: row.passed_sum, failed: row.failed_sum })),
);
const beforeRun = defineQuery(
  'evaluation/before_run',
  { ...place, test_ids: 'Array(UUID)' },
  z.object({ test_id: z.string(), last_pass_ms: z.number(), last_failure_ms: z.number() }),
);

export class RunStore {
  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly repositoryId: string,
    /** Executions that finished later do not count. By default, all count. */
    private readonly until = Number.MAX_SAFE_INTEGER,
  ) {}

  /** Runs with executions since then and enough failures to be worth judging. */
  candidates(since: number): Promise<Run[]> {
    return this.clickhouse.select(runTotals, {
      repository_id: this.repositoryId,
      since_ms: since,
      failed_min: TROUBLE_TESTS_MIN,
    });
  }

  /** The troubled runs since a day, by {@link fullRunKey}. */
  async troubled(day: number): Promise<Map<string, TroubledRun>> {
    const rows = await this.clickhouse.select(troubledRuns, {
      repository_id: this.repositoryId,
      day: Math.max(0, day),
    });
    return new Map(rows.map((row) => [fullRunKey(row), row]));
  }

  /** The run with its totals as of `until`; undefined when it had not begun. */
  async asOf(run: Run): Promise<Run | undefined> {
    if (this.until >= (run.day + 1) * DAY_MS) return run;
    const [totals] = await this.clickhouse.select(runAsOf, this.#run(run));
    return totals && totals.passed + totals.failed > 0 ? { ...run, ...totals } : undefined;
  }

  /** The tests that failed in a run, or passed only after failed attempts, and how often each failed. */
  async failuresIn(run: RunFields): Promise<Map<string, number>> {
    const rows = await this.clickhouse.select(runFailures, this.#run(run));
    return new Map(rows.map((row) => [row.test_id, row.failures]));
  }

  /** The newest results before a run of the tests that failed in it. */
  async before(run: Run, failures: ReadonlyMap<string, number>): Promise<FailingTest[]> {
    const testIds = [...failures.keys()];
    const found: FailingTest[] = [];
    for (let from = 0; from < testIds.length; from += TESTS_MAX) {
      const rows = await this.clickhouse.select(beforeRun, {
        ...this.#place(run),
        test_ids: testIds.slice(from, from + TESTS_MAX),
        start_ms: Math.max(0, run.startedAt - TROUBLE_REACH_MS),
        end_ms: run.startedAt,
      });
      for (const row of rows)
        found.push({
          failures: failures.get(row.test_id) ?? 0,
          lastPassAt: row.last_pass_ms === 0 ? null : row.last_pass_ms,
          lastFailureAt: row.last_failure_ms === 0 ? null : row.last_failure_ms,
        });
    }
    return found;
  }

  async write(runs: readonly TroubledRun[], version: number): Promise<void> {
    if (runs.length === 0) return;
    const lines = runs.map((run) =>
      JSON.stringify({
        repository_id: this.repositoryId,
        day: new Date(run.day * DAY_MS).toISOString().slice(0, 10),
        pipeline_name: run.pipelineName,
        job_name: run.jobName,
        run_id: run.runId,
        run_attempt: run.runAttempt,
        trouble: run.trouble,
        version,
      }),
    );
    await this.clickhouse.insert(
      'ci.troubled_runs',
      `${lines.join('\n')}\n`,
      evaluationToken(version, this.repositoryId),
    );
  }

  #run(run: RunFields) {
    return {
      ...this.#place(run),
      start_ms: run.day * DAY_MS,
      end_ms: Math.min((run.day + 1) * DAY_MS, this.until + 1),
      run_id: run.runId,
      run_attempt: run.runAttempt,
    };
  }

  #place(run: RunFields) {
    return { repository_id: this.repositoryId, pipeline_name: run.pipelineName, job_name: run.jobName };
  }
}
