/**
 * Judges all retained runs of a repository from its executions: for a rebuild, and for `verify`. Only tests that ever
 * failed, or that a commit contradicted, can change what a run means, so the passes of all others are not read. What is
 * read at once is bounded.
 */

import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { appendAll } from '../domain/append.ts';
import { type BeliefAt, unknownBelief } from '../domain/belief.ts';
import { isContradiction } from '../domain/clues.ts';
import { isTrouble } from '../domain/execution.ts';
import { type JudgedRun, judgeRuns, noneFailed } from '../domain/judge-runs.ts';
import { type StartedRun, sumOf, usualHours } from '../domain/run-surroundings.ts';
import { POOLED_MS, type RunsCount, USUAL_MS } from '../domain/run-trouble.ts';
import { identityIn, identityKey, legKey, testIdIn } from '../domain/test-identity.ts';
import { DAY_MS, END_OF_TIME, HOUR_MS } from '../domain/time.ts';
import { piecesOf } from '../pieces.ts';
import { readBaselines } from '../postgres/baselines.ts';
import type { Executor } from '../postgres/client.ts';
import type { IdentifiedClue } from '../postgres/clues.ts';
import {
  type AddedRun,
  nameOfRun,
  type PastRun,
  type PullRun,
  readPastRuns,
  type StoredRun,
} from '../postgres/judged-runs.ts';
import { type CommitEvidence, placeOfRow } from './evidence.ts';
import { executionColumns, executionOf, type IdentifiedExecution, type Span, TESTS_MAX } from './executions.ts';
import { membersToStore, runNameOfExecution } from './run-under-judgement.ts';

const EXECUTIONS_AT_ONCE = 100_000;
/** Each window looks through the times of all executions: so a repository of 100,000,000 reads more at once. */
const WINDOWS_MAX = 250;

const since = { repository_id: 'UUID', since_ms: 'Int64' } as const;
const between = { repository_id: 'UUID', from_ms: 'Int64', to_ms: 'Int64' } as const;
const runColumns = {
  day_number: z.number(),
  pipeline_name: z.string(),
  job_name: z.string(),
  axes: z.string(),
  run_id: z.string(),
  run_attempt: z.number(),
};
/** On the default branch. */
const defaultRunOf = (row: Parameters<typeof placeOfRow>[0]) => ({ ...placeOfRow(row), commit: '' });
const allRuns = defineLongQuery(
  'maintenance/runs',
  since,
  z
    .object({ ...runColumns, started_at_ms: z.number(), executions: z.number() })
    .transform((row): AddedRun => ({ ...defaultRunOf(row), startedAt: row.started_at_ms, executions: row.executions })),
);
const hours = defineLongQuery(
  'maintenance/troubled_hours',
  since,
  z.object({ hour_ms: z.number(), executions: z.number() }),
);
const history = defineLongQuery('maintenance/troubled_history', between, executionColumns.transform(executionOf));
const tests = { test_ids: 'Array(UUID)' } as const;
const hoursOfTests = defineLongQuery(
  'maintenance/hours_of_tests',
  { ...since, ...tests },
  z.object({ hour_ms: z.number(), executions: z.number() }),
);
const historyOfTests = defineLongQuery(
  'maintenance/history_of_tests',
  { ...between, ...tests },
  executionColumns.transform(executionOf),
);
const troubles = defineLongQuery(
  'maintenance/troubles',
  between,
  z
    .object({ ...runColumns, test_ids: z.array(z.string()) })
    .transform((row) => ({ ...defaultRunOf(row), testIds: row.test_ids })),
);

export interface AllRunsOptions {
  repositoryId: string;
  /** The end of the newest month that has left: runs from before are taken as they are stored. */
  edge: number;
  /** Off the default branch, since the edge. */
  evidence: CommitEvidence;
  executionsAtOnce?: number | undefined;
}

/** In order of their start, some at a time. */
export async function* judgeAllRuns(
  clickhouse: ClickHouse,
  tx: Executor,
  { repositoryId, edge, evidence, executionsAtOnce = EXECUTIONS_AT_ONCE }: AllRunsOptions,
): AsyncGenerator<StoredRun[]> {
  const params = { repository_id: repositoryId, since_ms: Math.max(0, edge) };
  const runs = (await clickhouse.select(allRuns, params)).sort((one, other) => one.startedAt - other.startedAt);
  const contradicted = await contradictedTests(tx, repositoryId, evidence);
  const counts = await clickhouse.select(hours, params);
  for (const test_ids of piecesOf(contradicted, TESTS_MAX))
    appendAll(counts, await clickhouse.select(hoursOfTests, { ...params, test_ids }));
  const windows = windowsOf(
    edge,
    counts.sort((one, other) => one.hour_ms - other.hour_ms),
    executionsAtOnce,
  );
  const judge = new WindowJudge(await PastRunsKept.read(tx, repositoryId, edge));
  let next = 0;
  for (const { from, to } of windows) {
    const first = next;
    while ((runs[next]?.startedAt ?? END_OF_TIME) < to) next++;
    const bounds = { repository_id: repositoryId, from_ms: from, to_ms: to };
    const executions = await clickhouse.select(history, bounds);
    for (const test_ids of piecesOf(contradicted, TESTS_MAX))
      appendAll(executions, await clickhouse.select(historyOfTests, { ...bounds, test_ids }));
    // A run that begins in the window may go on for a day.
    const failed = await clickhouse.select(troubles, { ...bounds, to_ms: Math.min(to + DAY_MS, END_OF_TIME) });
    const isWithin = (at: number): boolean => at >= from && at < to;
    const window = {
      runs: runs.slice(first, next),
      failed: new Map(failed.map((run) => [nameOfRun(run), run.testIds])),
      executions,
      pullRuns: evidence.runs.filter(({ startedAt }) => isWithin(startedAt)),
      clues: evidence.clues.filter(({ at }) => isWithin(at.finishedAt)),
      until: to,
    };
    await judge.readBaselines(tx, repositoryId, window);
    yield judge.judge(window);
  }
}

/**
 * Spans since a moment in which some tests have no more executions together than may be read at once.
 *
 * @param executionsAtOnce unless one hour has more
 */
export async function windowsOfTests(
  clickhouse: ClickHouse,
  repositoryId: string,
  { since, testIds, executionsAtOnce }: { since: number; testIds: readonly string[]; executionsAtOnce: number },
): Promise<Span[]> {
  const params = { repository_id: repositoryId, since_ms: Math.max(0, since) };
  const counts: { hour_ms: number; executions: number }[] = [];
  for (const test_ids of piecesOf(testIds, TESTS_MAX))
    appendAll(counts, await clickhouse.select(hoursOfTests, { ...params, test_ids }));
  return [
    ...windowsOf(
      since,
      counts.sort((one, other) => one.hour_ms - other.hour_ms),
      executionsAtOnce,
    ),
  ];
}

/** Tests whose passes count, though they may have failed nowhere but on pull requests. */
async function contradictedTests(
  tx: Executor,
  repositoryId: string,
  { clues, runs }: CommitEvidence,
): Promise<string[]> {
  const testIds = new Set(clues.filter(isContradiction).map(({ testId }) => testId));
  // A test that was not healthy when its last month left may be healthy again.
  const others = new Set(runs.flatMap(({ troubled }) => [...troubled])).difference(testIds);
  for (const { testId, belief } of await readBaselines(tx, repositoryId, [...others]))
    if (belief.belief.status !== 'healthy') testIds.add(testId);
  return [...testIds];
}

function* windowsOf(
  edge: number,
  counts: readonly { hour_ms: number; executions: number }[],
  executionsAtOnce: number,
): Generator<Span> {
  const total = counts.reduce((sum, { executions }) => sum + executions, 0);
  const executionsMax = Math.max(executionsAtOnce, total / WINDOWS_MAX);
  let from = Math.max(0, edge);
  let taken = 0;
  for (const { hour_ms: hour, executions } of counts) {
    if (taken > 0 && taken + executions > executionsMax) {
      yield { from, to: hour };
      [from, taken] = [hour, 0];
    }
    taken += executions;
  }
  yield { from, to: END_OF_TIME };
}

/** Keeps what later runs need of earlier ones. */
class PastRunsKept {
  readonly usual = new Map<number, RunsCount>();

  private constructor(public recent: JudgedRun[]) {
    this.#count(recent);
  }

  static async read(tx: Executor, repositoryId: string, edge: number): Promise<PastRunsKept> {
    const from = edge - POOLED_MS - USUAL_MS - HOUR_MS;
    return new PastRunsKept((await readPastRuns(tx, repositoryId, { from, to: edge })).map(judgedRunOf));
  }

  /** Adds runs, and forgets those that none after `until` asks for. */
  add(runs: readonly JudgedRun[], until: number): void {
    this.#count(runs);
    this.recent = [...this.recent, ...runs].filter(({ startedAt }) => startedAt >= until - POOLED_MS);
  }

  #count(runs: readonly (StartedRun & { isOnDefaultBranch: boolean })[]): void {
    for (const [hour, count] of usualHours(runs.filter(({ isOnDefaultBranch }) => isOnDefaultBranch)))
      this.usual.set(hour, sumOf(this.usual.get(hour), count));
  }
}

interface Window {
  /** On the default branch, that began in the window. */
  runs: readonly AddedRun[];
  /** The tests that failed in them, by name of the run. */
  failed: ReadonlyMap<string, readonly string[]>;
  executions: readonly IdentifiedExecution[];
  pullRuns: readonly PullRun[];
  clues: readonly IdentifiedClue[];
  until: number;
}

class WindowJudge {
  /** By `identityKey`. */
  readonly #beliefs = new Map<string, BeliefAt>();
  readonly #tests = new Set<string>();
  /** A contradiction may come days after its run. */
  readonly #pullRuns: JudgedRun[] = [];

  constructor(private readonly past: PastRunsKept) {}

  async readBaselines(tx: Executor, repositoryId: string, { executions, clues, pullRuns }: Window): Promise<void> {
    const seen = new Set([...executions, ...clues].map(({ testId }) => testId));
    for (const { troubled } of pullRuns) for (const testId of troubled) seen.add(testId);
    const added = [...seen].filter((testId) => !this.#tests.has(testId));
    for (const testId of added) this.#tests.add(testId);
    for (const { belief, ...identity } of await readBaselines(tx, repositoryId, added))
      this.#beliefs.set(identityKey(identity), belief);
  }

  judge({ runs, failed, executions, pullRuns, clues, until }: Window): StoredRun[] {
    const toJudge = [
      ...runs.map((run) => ({ run, ...runToJudge(run, failed.get(nameOfRun(run)) ?? []) })),
      ...pullRuns.map(({ troubled, ...run }) => ({ run, ...runToJudge(run, [...troubled]) })),
    ];
    const byIdentity = Map.groupBy(this.#ofJudgedRuns(executions, toJudge), identityKey);
    const contradicted = Map.groupBy(clues, identityKey);
    const troubled = toJudge.flatMap((one) => [...one.troubled]);
    const identities = new Map(
      [...new Set([...byIdentity.keys(), ...contradicted.keys(), ...troubled])].map((key) => {
        const place = legKey(identityIn(key));
        const start = this.#beliefs.get(key) ?? unknownBelief();
        const history = { executions: byIdentity.get(key) ?? [], clues: contradicted.get(key) ?? [] };
        return [key, { ...start, place, ...history }];
      }),
    );
    const { recent, usual } = this.past;
    const judged = judgeRuns({
      recent: recent.filter(({ isOnDefaultBranch }) => isOnDefaultBranch),
      usual,
      known: new Map([...recent, ...this.#pullRuns].map((run) => [run.key, run])),
      runs: toJudge,
      identities,
    });
    for (const [key, { at, belief }] of judged.courses) this.#beliefs.set(key, { at, belief });
    this.past.add(
      judged.runs.filter(({ isOnDefaultBranch }) => isOnDefaultBranch),
      until,
    );
    this.#pullRuns.push(...judged.runs.filter(({ isOnDefaultBranch }) => !isOnDefaultBranch));
    const known = new Map(toJudge.map((one) => [one.key, one]));
    return judged.runs.flatMap(({ key, meaning, members }) => {
      const one = known.get(key);
      if (!one) return [];
      const byTest = [...members].map(([identity, member]) => [testIdIn(identity), member] as const);
      return [{ ...one.run, meaning, ...membersToStore(byTest) }];
    });
  }

  /**
   * Leaves out what went wrong in runs that are not judged: it was stored after they were read, while a comparison runs
   * beside the service. The next look finds it.
   */
  #ofJudgedRuns(
    executions: readonly IdentifiedExecution[],
    toJudge: readonly { key: string; troubled: ReadonlySet<string> }[],
  ): readonly IdentifiedExecution[] {
    const judged = new Set(toJudge.filter(({ troubled }) => troubled.size > 0).map(({ key }) => key));
    // A run lasts for a day at most.
    for (const { key, meaning } of this.past.recent) if (meaning) judged.add(key);
    return executions.filter((execution) => !isTrouble(execution) || judged.has(runNameOfExecution(execution)));
  }
}

const runToJudge = (run: AddedRun, testIds: readonly string[]) => ({
  key: nameOfRun(run),
  place: legKey(run),
  startedAt: run.startedAt,
  executions: run.executions,
  isOnDefaultBranch: run.commit === '',
  troubled: new Set(testIds.map((testId) => identityKey({ testId, ...run }))),
  others: noneFailed(),
});

const judgedRunOf = (run: PastRun): JudgedRun => ({
  key: nameOfRun(run),
  place: legKey(run),
  startedAt: run.startedAt,
  executions: run.executions,
  unexpected: run.unexpectedCount,
  isOnDefaultBranch: run.commit === '',
  meaning: run.meaning,
});
