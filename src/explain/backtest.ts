/**
 * Replays a policy of automatic quarantine on the retained executions. Only reads: a few tests at a time, then a few days
 * of runs at a time, on one thread of ClickHouse, and it lets the process do other work in between.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { onOneThread } from '../clickhouse/patient.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import type { JudgedClue } from '../domain/backtest-judge.ts';
import type { BacktestPolicy } from '../domain/backtest-policy.ts';
import type { BacktestReport } from '../domain/backtest-report.ts';
import { isContradiction } from '../domain/clues.ts';
import { comparePositions } from '../domain/execution.ts';
import { QUARANTINE_EVIDENCE_MS } from '../domain/judgement-constants.ts';
import { RedRunCounts } from '../domain/red-runs.ts';
import { identityKey } from '../domain/test-identity.ts';
import { DAY_MS } from '../domain/time.ts';
import { nameOfFailedRun } from '../evaluation/evidence.ts';
import { executionColumns, executionOf, TESTS_MAX } from '../evaluation/executions.ts';
import { piecesOf } from '../pieces.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { readClues, readCluesBetween } from '../postgres/clues.ts';
import { nameOfRun, readRunsOn } from '../postgres/judged-runs.ts';
import { readTests } from '../postgres/tests.ts';
import { reportOf } from './backtest-document.ts';
import { EXECUTIONS_MAX, type ReplayedTest, replay } from './backtest-replay.ts';
import { RunsOfExecutions } from './runs-of-executions.ts';

const TESTS_AT_ONCE = 20;
const DAYS_AT_ONCE = 7;

const suspects = defineLongQuery(
  'backtest/suspects',
  { repository_id: 'UUID', since_ms: 'Int64' },
  z
    .object({ test_id: z.string(), test_name: z.string() })
    .transform((row) => ({ id: row.test_id, name: row.test_name })),
);
const executions = defineLongQuery(
  'backtest/executions',
  { repository_id: 'UUID', test_ids: 'Array(UUID)', executions: 'UInt32' },
  executionColumns.transform(executionOf),
);
const fingerprints = defineLongQuery(
  'backtest/fingerprints',
  { repository_id: 'UUID', test_ids: 'Array(UUID)' },
  z
    .object({ execution_id: z.string(), fingerprint: z.string() })
    .transform((row): [bigint, string] => [BigInt(row.execution_id), row.fingerprint]),
);
const runColumns = {
  day_number: z.number(),
  commit_sha: z.string(),
  pipeline_name: z.string(),
  run_id: z.string(),
  job_name: z.string(),
  run_attempt: z.number(),
  on_default: z.boolean(),
};
const redRuns = defineLongQuery(
  'backtest/red_runs',
  { repository_id: 'UUID', from_day: 'UInt16', to_day: 'UInt16' },
  z.object({ ...runColumns, started_at_ms: z.number(), tests: z.array(z.string()) }).transform((row) => ({
    key: runKeyOf(row),
    startedAt: row.started_at_ms,
    testIds: row.tests,
    isOnDefault: row.on_default,
  })),
);
const failures = defineLongQuery(
  'backtest/failures',
  { repository_id: 'UUID', test_ids: 'Array(UUID)', start_ms: 'Int64', end_ms: 'Int64' },
  z
    .object({ ...runColumns, test_id: z.string(), failure_ids: z.array(z.string()) })
    .transform((row) => ({ key: `${row.test_id} ${runKeyOf(row)}`, failureIds: row.failure_ids })),
);

/** Names a run on one UTC day and one side of the default branch. */
const runKeyOf = (row: z.infer<z.ZodObject<typeof runColumns>>): string =>
  JSON.stringify([
    row.day_number,
    row.commit_sha,
    row.pipeline_name,
    row.run_id,
    row.job_name,
    row.run_attempt,
    row.on_default,
  ]);

export interface BacktestOptions {
  repository: { id: string; flakyDetectionEnabled: boolean };
  policy: BacktestPolicy;
  /** The end of the replay; milliseconds since the epoch. */
  until: number;
  onProgress?: (replayed: number, tests: number) => Promise<void>;
  /** Asked between two slices. */
  isStopped?: () => boolean;
}

/** The report; undefined if it was stopped. */
export async function backtest(
  { clickhouse, db }: { clickhouse: ClickHouse; db: Database },
  { repository, policy, until, onProgress, isStopped = () => false }: BacktestOptions,
): Promise<BacktestReport | undefined> {
  const history = new History(onOneThread(clickhouse), db, repository.id);
  const since = Date.parse(policy.since);
  const suspected = policy.auto_quarantine === 'off' ? [] : await history.suspects(since - QUARANTINE_EVIDENCE_MS);
  const tests: ReplayedTest[] = [];
  for (const some of piecesOf(suspected, TESTS_AT_ONCE)) {
    await onProgress?.(tests.length, suspected.length);
    if (isStopped()) return undefined;
    const testIds = some.map(({ id }) => id);
    const { executions: byTest, fingerprints, runs } = await history.executions(testIds);
    const clues = await history.clues(testIds);
    const { flakyDetectionEnabled: isFlakyDetectionEnabled } = repository;
    const options = { policy, since, until, isFlakyDetectionEnabled, runs, fingerprints, clues };
    for (const test of some) tests.push(await replay(test, byTest.get(test.id) ?? [], options));
  }
  await onProgress?.(suspected.length, suspected.length);
  const quarantined = tests.filter(({ quarantines }) => quarantines.length > 0);
  const redRunCounts = new RedRunCounts(new Map(quarantined.map(({ id, quarantines }) => [id, quarantines])));
  const testIds = quarantined.map(({ id }) => id);
  const end = Math.floor(until / DAY_MS) + 1;
  for (let day = Math.floor(since / DAY_MS); day < end; day += DAYS_AT_ONCE) {
    if (isStopped()) return undefined;
    const to = Math.min(day + DAYS_AT_ONCE, end);
    const red = (await history.redRuns(day, to)).filter((run) => run.startedAt >= since && run.startedAt <= until);
    // Only a narrowed quarantine asks how a test failed.
    const isAsked = policy.is_narrowed && red.length > 0;
    const groups = isAsked ? await history.failureIds(testIds, day, to) : new Map<string, string[]>();
    for (const run of red) redRunCounts.add(run, (testId) => groups.get(`${testId} ${run.key}`) ?? [undefined]);
    await breathe();
  }
  return reportOf({ policy, until, tests, runs: redRunCounts });
}

/** Reads a repository for a backtest, in slices. */
class History {
  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly db: Database,
    private readonly repositoryId: string,
  ) {}

  /** Tests that failed, and tests that a commit of a pull request contradicted. */
  async suspects(since: number): Promise<{ id: string; name: string }[]> {
    const { db, repositoryId } = this;
    const failed = await this.clickhouse.select(suspects, { repository_id: repositoryId, since_ms: since });
    const names = new Map(failed.map(({ id, name }) => [id, name]));
    const span = { from: since, to: Number.MAX_SAFE_INTEGER };
    const clues = await onPostgres(() => readCluesBetween(db, repositoryId, span));
    const contradicted = new Set(clues.filter(isContradiction).map(({ testId }) => testId));
    const others = [...contradicted].filter((testId) => !names.has(testId));
    for (const some of piecesOf(others, TESTS_MAX))
      for (const { testId, name } of await onPostgres(() => readTests(db, repositoryId, some))) names.set(testId, name);
    return [...names].sort(([one], [other]) => (one < other ? -1 : 1)).map(([id, name]) => ({ id, name }));
  }

  /** The clues about these tests: by `identityKey`, in order. */
  async clues(testIds: string[]): Promise<Map<string, JudgedClue[]>> {
    const { db, repositoryId } = this;
    const found = await onPostgres(() => readClues(db, repositoryId, testIds));
    const commits = [...new Set(found.filter(isContradiction).map(({ failure }) => failure.commit))];
    const runs = await onPostgres(() => readRunsOn(db, repositoryId, commits));
    const meanings = new Map(runs.map((run) => [nameOfRun(run), run.meaning]));
    const judged = found
      .sort((one, other) => comparePositions(one.at, other.at))
      .map((clue) => {
        const meaning = isContradiction(clue) ? meanings.get(nameOfFailedRun(clue)) : undefined;
        return { key: identityKey(clue), clue, meaning: meaning ?? undefined };
      });
    return Map.groupBy(judged, ({ key }) => key);
  }

  async executions(testIds: string[]) {
    const found = await this.clickhouse.select(executions, {
      repository_id: this.repositoryId,
      test_ids: testIds,
      executions: EXECUTIONS_MAX,
    });
    const groups = await this.clickhouse.select(fingerprints, { repository_id: this.repositoryId, test_ids: testIds });
    const runs = await RunsOfExecutions.read(this.db, this.repositoryId, found);
    return { executions: Map.groupBy(found, ({ testId }) => testId), fingerprints: new Map(groups), runs };
  }

  redRuns(fromDay: number, toDay: number) {
    return this.clickhouse.select(redRuns, { repository_id: this.repositoryId, from_day: fromDay, to_day: toDay });
  }

  /** The failure groups of tests in runs, by test id and key of the run. An empty one: no details. */
  async failureIds(testIds: string[], fromDay: number, toDay: number): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>();
    for (const test_ids of piecesOf(testIds, TESTS_MAX)) {
      const rows = await this.clickhouse.select(failures, {
        repository_id: this.repositoryId,
        test_ids,
        start_ms: fromDay * DAY_MS,
        end_ms: toDay * DAY_MS,
      });
      for (const { key, failureIds } of rows) found.set(key, failureIds);
    }
    return found;
  }
}
