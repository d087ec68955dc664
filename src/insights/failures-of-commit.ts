/** Failed tests of a commit, with a verdict on each: few statements, then pure rules. */

import { type CommitRun, runKey } from '../commits/commit-record.ts';
import { type Axes, axesOf } from '../domain/axes.ts';
import { axisValue } from '../domain/axis-scope.ts';
import { COMMIT_VERDICTS } from '../domain/commit-verdict.ts';
import { FACTORS_BEFORE } from '../domain/nearness.ts';
import type { Repository } from '../postgres/repositories.ts';
import { type Commits, FAILED_TESTS_MAX } from './commits.ts';
import type { InsightsDeps } from './common.ts';
import { messageOf, NOTHING_FAILING, readFailingElsewhere } from './failing-elsewhere.ts';
import type { FailureEvidence } from './failure-evidence.ts';
import { type Found, healthThen, judgeFailures, type LegFailure } from './judge-failures.ts';
import { mayBeTroubled, placeOf, RunTroubles } from './run-troubles.ts';

export interface CommitFilters {
  commit: string;
  pipelines: readonly string[];
  jobs: readonly string[];
  branches: readonly string[];
  /** Ids of runs, as the CI provider names them. */
  runIds: readonly string[];
  runAttempt: number | undefined;
  /** Only legs with these values. */
  axes: Axes;
  /** Paths of changed files from the root of the repository; without any, those that its jobs have sent. */
  changedFiles?: readonly string[];
}

/** A test that failed on a commit in one pipeline and CI job: in the leg whose verdict comes first, with the counts of all. */
export interface CommitFailure extends LegFailure {
  legs: LegFailure[];
}

export interface CommitFailures {
  /** Attempts of CI jobs that were uploaded for the commit, by UTC day. */
  runs: CommitRun[];
  failures: CommitFailure[];
  /** That the claims count. */
  changedFiles: readonly string[];
}

/** The answer about a repository that is not known. */
export const NO_FAILURES: CommitFailures = { runs: [], failures: [], changedFiles: [] };

/** Reads and judges what failed on a commit: up to {@link FAILED_TESTS_MAX} tests. */
export async function readCommitFailures(
  deps: InsightsDeps & { commits: Commits; evidence: FailureEvidence },
  repository: Repository,
  { commit, pipelines, jobs, branches, runIds, runAttempt, axes, changedFiles: asked = [] }: CommitFilters,
  signal?: AbortSignal,
): Promise<CommitFailures> {
  const isAmong = (name: string, only: readonly string[]): boolean => only.length === 0 || only.includes(name);
  const known = await deps.commits.find(repository, commit, signal);
  const runs = known.runs.filter(
    (run) =>
      isAmong(run.pipeline_name, pipelines) &&
      isAmong(run.job_name, jobs) &&
      isAmong(run.branch, branches) &&
      isAmong(run.run_id, runIds) &&
      (runAttempt === undefined || run.run_attempt === runAttempt) &&
      hasAxes(run.axes, axes),
  );
  const testIds = [...new Set(runs.flatMap(({ failed_tests: tests }) => tests))].sort().slice(0, FAILED_TESTS_MAX);
  if (testIds.length === 0) return { runs, failures: [], changedFiles: asked };
  const testsOf = async (ids: readonly string[]) => {
    const tests = await Promise.all(ids.map((id) => deps.knownTests.find(repository, id)));
    // Only what has failed there was ever anything but healthy.
    const failedThere = tests.flatMap((test) =>
      test?.legs.some(({ health, summary }) => health !== 'healthy' || summary.lastFailureAt !== null)
        ? [test.testId]
        : [],
    );
    const steps = await deps.evidence.stepsOf(repository, failedThere);
    return { tests: new Map(ids.map((id, i) => [id, tests[i]])), steps };
  };
  const [results, troubles, knownTests, quarantines, changedFiles] = await Promise.all([
    deps.commits.resultsOf(repository, { commit, runs, testIds }, known, signal),
    RunTroubles.of(deps.db, repository.id, runs.filter(mayBeTroubled).map(placeOf)),
    testsOf(testIds),
    deps.evidence.quarantinesOf(repository, testIds),
    asked.length > 0 ? asked : deps.evidence.changedFilesOf(repository, known.runs, commit),
  ]);
  const groups = results.flatMap(({ test_id: testId, failures }) =>
    failures.map(({ id }) => ({ testId, failureId: id })),
  );
  const found: Found = {
    ...knownTests,
    commit,
    runs: new Map(runs.map((run) => [runKey(run), run])),
    results,
    groups: await deps.evidence.groupsOf(repository, groups),
    quarantines,
    changedFiles,
    nearnessFactors: changedFiles.length > 0 ? await deps.evidence.nearnessFactorsOf(repository) : FACTORS_BEFORE,
    troubled: new Set(runs.filter((run) => troubles.of(placeOf(run)).trouble !== 'none').map(runKey)),
  };
  const first = judgeFailures(found, NOTHING_FAILING);
  const unexplained = new Set(
    first.flatMap((one) => (one.verdict === 'new' && !one.run.on_default ? [one.testId] : [])),
  );
  if (unexplained.size === 0) return { runs, failures: folded(first), changedFiles };
  const failing = results.filter(
    (result) =>
      result.is_failed && unexplained.has(result.test_id) && found.runs.get(runKey(result))?.on_default === false,
  );
  const keys = new Set(failing.map(runKey));
  const moment = Math.min(...failing.map(({ finished_ms }) => finished_ms));
  const elsewhere = await readFailingElsewhere(
    deps,
    repository,
    {
      commit,
      runs: runs.filter((run) => keys.has(runKey(run))),
      testIds: [...unexplained],
      failureIds: [...new Set(failing.flatMap(({ failures }) => failures.map(({ id }) => id)))],
      messages: new Set(failing.flatMap(({ failures }) => failures.map(messageOf))),
    },
    async (ids) => {
      const others = await testsOf(ids);
      return new Set(ids.filter((id) => healthThen(moment, id, others) === 'healthy'));
    },
    signal,
  );
  return { runs, failures: folded(judgeFailures(found, elsewhere)), changedFiles };
}

/** Failures of one test in the legs of one CI job are one. */
const folded = (failures: readonly LegFailure[]): CommitFailure[] =>
  [...Map.groupBy(failures, placeKey).values()].flatMap((legs) => foldedLegs(legs) ?? []);

function foldedLegs(legs: LegFailure[]): CommitFailure | undefined {
  const ordered = legs.sort(
    (one, other) =>
      COMMIT_VERDICTS.indexOf(one.verdict) - COMMIT_VERDICTS.indexOf(other.verdict) || other.failedAt - one.failedAt,
  );
  const [first] = ordered;
  return (
    first && {
      ...first,
      failures: ordered.reduce((sum, { failures }) => sum + failures, 0),
      passes: ordered.reduce((sum, { passes }) => sum + passes, 0),
      legs: ordered,
    }
  );
}

/** Whether a leg has each of these values; it may tell more, such as the browser of a part of its tests. */
function hasAxes(leg: string, wanted: Axes): boolean {
  const entries = Object.entries(wanted);
  if (entries.length === 0) return true;
  const axes = axesOf(leg);
  return entries.every(([name, value]) => axisValue(axes, name) === value);
}

const placeKey = (one: LegFailure): string => JSON.stringify([one.testId, one.pipelineName, one.jobName]);
