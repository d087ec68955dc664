/**
 * The clues of commits (src/domain/clues.ts), read from ClickHouse: their runs, and the executions of the tests that failed in
 * one of them. A commit is always read as a whole, so neither the order in which its runs arrive matters, nor how often it
 * is read.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery, defineQuery } from '../clickhouse/query.ts';
import { type CommitRun, commitKey, readRuns } from '../commits/commit-record.ts';
import { appendAll } from '../domain/append.ts';
import { isContradiction } from '../domain/clues.ts';
import {
  CONTRADICTED_RUNS_MAX,
  CONTRADICTED_TESTS_MAX,
  type Contradiction,
  contradictionsOf,
  pullRequestRunKeyOf,
} from '../domain/contradictions.ts';
import { attemptOf, isTrouble } from '../domain/execution.ts';
import { runNameOf } from '../domain/judge-runs.ts';
import { otherLegsClues } from '../domain/other-legs.ts';
import { monthOf } from '../domain/retention.ts';
import { identityIn, identityKey, identityOf, legKey } from '../domain/test-identity.ts';
import { piecesOf } from '../pieces.ts';
import type { FailedCommit, IdentifiedClue } from '../postgres/clues.ts';
import { nameOfRun, type PullRun } from '../postgres/judged-runs.ts';
import { executionColumns, executionOf, type IdentifiedExecution, TESTS_MAX } from './executions.ts';
import { runNameOfExecution } from './run-under-judgement.ts';

/** Commits in a statement. With as many tests each as may contradict, their ids fit in the 1 MiB of an address. */
const COMMITS_MAX = 40;

const onCommits = defineQuery(
  'evaluation/on_commits',
  {
    repository_id: 'UUID',
    on_default: 'Bool',
    test_ids: 'Array(UUID)',
    commits: 'Array(String)',
    start_ms: 'Int64',
    end_ms: 'Int64',
  },
  executionColumns.transform(executionOf),
);
const since = { repository_id: 'UUID', since_ms: 'Int64' } as const;
const allFailed = defineLongQuery(
  'maintenance/failed_commits',
  since,
  z.object({ commit_sha: z.string(), newest_ms: z.number(), is_repeated: z.coerce.boolean() }),
);
const allRetried = defineLongQuery(
  'maintenance/retried_on_commits',
  since,
  z.object({ commit_sha: z.string(), test_ids: z.array(z.string()) }),
);

export type IdentifiedContradiction = Extract<IdentifiedClue, Contradiction>;

interface PullDeps {
  clickhouse: ClickHouse;
  repositoryId: string;
}

/** The evidence that commits give. */
export interface CommitEvidence {
  clues: IdentifiedClue[];
  /** The runs off the default branch that contradictions name. */
  runs: PullRun[];
}

/**
 * All retained clues of a repository, and every commit on which something failed.
 *
 * @param edge The end of the newest month that has left: what was complete before is in the baselines.
 */
export async function readAllEvidence(
  stores: PullDeps,
  edge: number,
): Promise<CommitEvidence & { failed: FailedCommit[] }> {
  const params = { repository_id: stores.repositoryId, since_ms: Math.max(0, edge) };
  const failed = await stores.clickhouse.select(allFailed, params);
  const tests = new Map(failed.flatMap((row) => (row.is_repeated ? [[row.commit_sha, new Set<string>()]] : [])));
  for (const row of await stores.clickhouse.select(allRetried, params))
    tests.set(row.commit_sha, new Set(row.test_ids));
  const evidence = await readEvidence(stores, tests);
  const clues = evidence.clues.filter(({ at }) => at.finishedAt >= edge);
  const named = new Set(clues.filter(isContradiction).map(nameOfFailedRun));
  return {
    clues,
    runs: evidence.runs.filter((run) => named.has(nameOfRun(run))),
    failed: failed.map(({ commit_sha: commit, newest_ms: newestAt }) => ({ commit, newestAt })),
  };
}

/** The key of its `JudgedRun`. */
export const nameOfFailedRun = (one: IdentifiedContradiction): string => runNameOf(legKey(one), one.run);

/** @param tests by commit: those of which something is known that does not follow from its failures. */
export async function readEvidence(
  { clickhouse, repositoryId }: PullDeps,
  tests: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<CommitEvidence> {
  const evidence: CommitEvidence = { clues: [], runs: [] };
  const all = [...tests.keys()];
  for (const commits of piecesOf(all, COMMITS_MAX)) {
    const names = commits.map((commit) => ({ repositoryId, commit }));
    const found = await readRuns(clickhouse, () => names);
    const runsOf = (commit: string, onDefault: boolean): CommitRun[] =>
      (found.get(commitKey({ repositoryId, commit })) ?? []).filter((run) => run.on_default === onDefault);
    const off = commits.map((commit) => {
      const runsOn = runsOf(commit, false);
      return { commit, runsOn, testIds: suspectsIn(runsOn, tests.get(commit)) };
    });
    const on = commits.map((commit) => {
      const runsOn = tellingOfLegs(runsOf(commit, true));
      return { commit, runsOn, testIds: failedBesideOthers(runsOn) };
    });
    const executionsOff = await readExecutions({ clickhouse, repositoryId }, off, false);
    const executionsOn = await readExecutions({ clickhouse, repositoryId }, on, true);
    for (const { commit, runsOn } of off) addContradictions(evidence, commit, runsOn, executionsOff.get(commit) ?? []);
    for (const { commit, runsOn } of on) addOtherLegs(evidence, runsOn, executionsOn.get(commit) ?? []);
  }
  return evidence;
}

/** By commit, of the tests that are asked for. */
async function readExecutions(
  { clickhouse, repositoryId }: PullDeps,
  asked: readonly { commit: string; runsOn: readonly CommitRun[]; testIds: ReadonlySet<string> }[],
  onDefault: boolean,
): Promise<Map<string, IdentifiedExecution[]>> {
  const due = asked.filter(({ runsOn, testIds }) => runsOn.length > 0 && testIds.size > 0);
  const testIds = [...new Set(due.flatMap((one) => [...one.testIds]))];
  const bounds = {
    repository_id: repositoryId,
    on_default: onDefault,
    commits: due.map(({ commit }) => commit),
    start_ms: Math.min(...due.flatMap(({ runsOn }) => runsOn.map(({ started_ms }) => started_ms))),
    end_ms: Math.max(...due.flatMap(({ runsOn }) => runsOn.map(({ ended_ms }) => ended_ms))),
  };
  const read: IdentifiedExecution[] = [];
  for (const test_ids of piecesOf(testIds, TESTS_MAX))
    appendAll(read, await clickhouse.select(onCommits, { ...bounds, test_ids }));
  const wanted = new Map(due.map((one) => [one.commit, one.testIds]));
  return Map.groupBy(
    read.filter(({ commit, testId }) => wanted.get(commit)?.has(testId)),
    ({ commit }) => commit,
  );
}

/** The tests of which a commit may contradict itself: one attempt of a CI job says nothing about what only failed in it. */
function suspectsIn(runs: readonly CommitRun[], known: ReadonlySet<string> = new Set()): Set<string> {
  const suspects = new Set(known);
  for (const group of Map.groupBy(runs, placeOfRun).values()) {
    const attempts = new Set(group.map((run) => attemptOf({ runId: run.run_id, runAttempt: run.run_attempt })));
    if (attempts.size < 2) continue;
    for (const { failed_tests } of group)
      if (failed_tests.length <= CONTRADICTED_TESTS_MAX) addTo(suspects, failed_tests);
  }
  return suspects;
}

/** The runs of a commit on the default branch, but for months with so many that they say little about one test. */
const tellingOfLegs = (runs: readonly CommitRun[]): CommitRun[] =>
  [...Map.groupBy(runs, (run) => monthOf(run.started_ms)).values()]
    .filter((ofMonth) => ofMonth.length <= CONTRADICTED_RUNS_MAX)
    .flat();

/** The tests that failed on a commit of the default branch in one leg, while others ran. */
function failedBesideOthers(runs: readonly CommitRun[]): Set<string> {
  const failed = new Set<string>();
  if (new Set(runs.map(placeOfRun)).size < 2) return failed;
  for (const run of runs) if (!isTooRed(run)) addTo(failed, run.failed_tests);
  return failed;
}

/** So many tests failed in the run that it says nothing about one of them. */
const isTooRed = ({ failed_tests }: CommitRun): boolean => failed_tests.length > CONTRADICTED_TESTS_MAX;

function addTo<T>(set: Set<T>, values: Iterable<T>): void {
  for (const value of values) set.add(value);
}

/** Adds what the legs of a test show about each other on one commit of the default branch. */
function addOtherLegs(
  { clues }: CommitEvidence,
  runs: readonly CommitRun[],
  executions: readonly IdentifiedExecution[],
): void {
  const nameOf = (run: CommitRun): string => nameOfRun({ ...placeOfRow(run), commit: '' });
  const known = new Set(runs.map(nameOf));
  const telling = new Set(runs.filter((run) => !isTooRed(run)).map(nameOf));
  const runOf = new Map(executions.map((one) => [String(one.executionId), runNameOfExecution(one)]));
  const inKnownRuns = executions.filter((one) => known.has(runNameOfExecution(one)));
  for (const [testId, ofTest] of Map.groupBy(inKnownRuns, (one) => one.testId))
    for (const [leg, found] of otherLegsClues(Map.groupBy(ofTest, legKey)))
      for (const one of found)
        if (telling.has(runOf.get(one.failure.executionId) ?? ''))
          clues.push({ ...identityIn(`${testId}\0${leg}`), ...one });
}

/** Adds where one commit off the default branch contradicts itself. */
function addContradictions(
  evidence: CommitEvidence,
  commit: string,
  runs: readonly CommitRun[],
  executions: readonly IdentifiedExecution[],
): void {
  const months = Map.groupBy(runs, (run) => monthIn(placeOfRun(run), run.started_ms));
  const rows = new Map(runs.map((row) => [nameOfRun({ ...placeOfRow(row), commit }), row]));
  // Results that arrived after the runs were read: the commit is read again once they are evaluated.
  const inKnownRuns = executions.filter((one) => rows.has(nameOfPullRun(one)));
  const found = [...Map.groupBy(inKnownRuns, identityKey).values()].flatMap((group) => {
    const identity = identityOf(group[0] as IdentifiedExecution);
    return contradictionsOf(group).map((one) => ({ ...identity, ...one }));
  });
  const kept = found.filter((one) => isTelling(months.get(monthIn(legKey(one), one.at.finishedAt)) ?? []));
  const named = new Set(kept.map(nameOfFailedRun));
  const troubles = Map.groupBy(inKnownRuns.filter(isTrouble), nameOfPullRun);
  evidence.clues.push(...kept);
  for (const [name, row] of rows) {
    if (!named.has(name)) continue;
    const retried = (troubles.get(name) ?? []).map(({ testId }) => testId);
    evidence.runs.push({
      ...placeOfRow(row),
      commit,
      startedAt: row.started_ms,
      executions: row.passed + row.failed,
      troubled: new Set([...row.failed_tests, ...retried]),
    });
  }
}

const monthIn = (place: string, at: number): string => `${monthOf(at)} ${place}`;

/** Whether what a CI job ran on a commit in a month is not so red that it says nothing about one test. */
function isTelling(runs: readonly CommitRun[]): boolean {
  if (runs.length > CONTRADICTED_RUNS_MAX) return false;
  return new Set(runs.flatMap(({ failed_tests }) => failed_tests)).size <= CONTRADICTED_TESTS_MAX;
}

/** The name of a run in its repository, without its commit. */
export const placeOfRow = (
  row: Pick<CommitRun, 'pipeline_name' | 'job_name' | 'axes' | 'day_number' | 'run_id' | 'run_attempt'>,
) => ({
  pipelineName: row.pipeline_name,
  jobName: row.job_name,
  axes: row.axes,
  day: row.day_number,
  runId: row.run_id,
  runAttempt: row.run_attempt,
});

const placeOfRun = (row: CommitRun): string => legKey(placeOfRow(row));

const nameOfPullRun = (one: IdentifiedExecution): string => runNameOf(legKey(one), pullRequestRunKeyOf(one));
