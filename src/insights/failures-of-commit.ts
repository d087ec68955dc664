/** Failed tests of a commit, with a verdict on each: few statements, then pure rules. */

import { type CommitResult, type CommitRun, runKey } from '../commits/commit-record.ts';
import { type Attachment, attachmentsOf } from '../domain/attachments.ts';
import { type Axes, axesOf } from '../domain/axes.ts';
import { axisValue } from '../domain/axis-scope.ts';
import {
  COMMIT_VERDICTS,
  type CommitVerdict,
  commitVerdict,
  isNewGroup,
  isTroubledOffDefault,
} from '../domain/commit-verdict.ts';
import { totalsOf } from '../domain/failure-group.ts';
import { healthAt } from '../domain/health-at.ts';
import { covers } from '../domain/quarantine-scope.ts';
import { type Health, worstHealth } from '../domain/status.ts';
import { type Leg, legKey } from '../domain/test-identity.ts';
import { countedIdentities } from '../domain/test-state.ts';
import { TOGETHER_MIN, troubledTests } from '../domain/trouble-elsewhere.ts';
import type { FailureGroupRecord } from '../postgres/failure-groups.ts';
import type { StoredStep } from '../postgres/health-steps.ts';
import type { KnownTest } from '../postgres/known-tests.ts';
import type { Quarantine } from '../postgres/quarantine-records.ts';
import type { Repository } from '../postgres/repositories.ts';
import { type Commits, FAILED_TESTS_MAX } from './commits.ts';
import type { InsightsDeps } from './common.ts';
import { countPullRequests, type Nearby, readNearby } from './failing-elsewhere.ts';
import { type FailureEvidence, groupKey } from './failure-evidence.ts';
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
}

/** A test that failed on a commit in a leg of a CI job. */
interface LegFailure {
  /** `axesText` */
  axes: string;
  verdict: CommitVerdict;
  testId: string;
  testName: string;
  pipelineName: string;
  jobName: string;
  /** The failure that is shown: the newest that is new to the default branch, or else the newest. */
  shown: CommitResult['failures'][number] | undefined;
  /** Those of all attempts of the execution whose failure is shown. */
  attachments: Attachment[];
  failedAt: number;
  run: CommitRun;
  failures: number;
  passes: number;
  /** On the default branch when it failed. */
  health: Health | null;
  /** Other pull requests on which the test failed; null if that cannot be read now. */
  failingPullRequests: number | null;
  /** The group of `shown` on the default branch. */
  known: FailureGroupRecord | undefined;
  quarantine: Quarantine | undefined;
}

/** A test that failed on a commit in one pipeline and CI job: in the leg whose verdict comes first, with the counts of all. */
export interface CommitFailure extends LegFailure {
  legs: LegFailure[];
}

export interface CommitFailures {
  /** Attempts of CI jobs that were uploaded for the commit, by UTC day. */
  runs: CommitRun[];
  failures: CommitFailure[];
}

/** Reads and judges what failed on a commit: up to {@link FAILED_TESTS_MAX} tests. */
export async function readCommitFailures(
  deps: InsightsDeps & { commits: Commits; evidence: FailureEvidence },
  repository: Repository,
  { commit, pipelines, jobs, branches, runIds, runAttempt, axes }: CommitFilters,
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
  if (testIds.length === 0) return { runs, failures: [] };
  const [results, troubles, tests, quarantines, pullRequests, nearby] = await Promise.all([
    deps.commits.resultsOf(repository, { commit, runs, testIds }, known, signal),
    RunTroubles.of(deps.db, repository.id, runs.filter(mayBeTroubled).map(placeOf)),
    Promise.all(testIds.map((id) => deps.knownTests.find(repository, id))),
    deps.evidence.quarantinesOf(repository, testIds),
    countPullRequests(deps, repository, { runs, testIds }, signal),
    readNearby(deps, repository, { runs, testIds }, signal),
  ]);
  const asked = results.flatMap(({ test_id: testId, failures }) =>
    failures.map(({ id }) => ({ testId, failureId: id })),
  );
  // Only what has failed there was ever anything but healthy.
  const failedThere = tests.flatMap((test) =>
    test?.legs.some(({ health, summary }) => health !== 'healthy' || summary.lastFailureAt !== null)
      ? [test.testId]
      : [],
  );
  const [groups, steps] = await Promise.all([
    deps.evidence.groupsOf(repository, asked),
    deps.evidence.stepsOf(repository, failedThere),
  ]);
  const found: Found = {
    runs: new Map(runs.map((run) => [runKey(run), run])),
    tests: new Map(testIds.map((id, i) => [id, tests[i]])),
    groups,
    steps,
    quarantines,
    pullRequests,
    troubled: new Map(),
  };
  const byRun = Map.groupBy(results, runKey);
  const byLeg = Map.groupBy(results, ({ pipeline_name, job_name, axes }) =>
    legKey({ pipelineName: pipeline_name, jobName: job_name, axes }),
  );
  for (const [key, run] of found.runs) {
    const isWhole = run.on_default && troubles.of(placeOf(run)).trouble !== 'none';
    const ofLeg = byLeg.get(legKey(placeOf(run))) ?? [];
    found.troubled.set(
      key,
      isWhole
        ? 'all'
        : run.on_default
          ? new Set()
          : troubledOffDefault(run, byRun.get(key) ?? [], ofLeg, nearby, found),
    );
  }
  const failures = [...Map.groupBy(results, placeKey).values()].flatMap((group) => {
    const legs = [...Map.groupBy(group, ({ axes }) => axes).values()].flatMap((leg) => judged(leg, found) ?? []);
    return folded(legs) ?? [];
  });
  return { runs, failures };
}

interface Found {
  /** By {@link runKey}; without those that a filter leaves out. */
  runs: ReadonlyMap<string, CommitRun>;
  tests: ReadonlyMap<string, KnownTest | undefined>;
  /** By {@link groupKey}. */
  groups: ReadonlyMap<string, FailureGroupRecord>;
  /** By test. */
  steps: ReadonlyMap<string, readonly StoredStep[]>;
  quarantines: ReadonlyMap<string, readonly Quarantine[]>;
  pullRequests: ReadonlyMap<string, number> | null;
  /** By {@link runKey}: the tests whose failures trouble explains. */
  troubled: Map<string, ReadonlySet<string> | 'all'>;
}

/** Undefined if the test failed in none of its legs. */
function folded(legs: LegFailure[]): CommitFailure | undefined {
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

/** The verdict on the results of one test in one leg; undefined if it only passed there. */
function judged(results: readonly CommitResult[], found: Found): LegFailure | undefined {
  const { runs, tests, groups, quarantines, troubled, pullRequests } = found;
  const listed = results.filter((result) => runs.has(runKey(result)));
  const failed = listed.filter(({ is_failed }) => is_failed).sort((one, other) => other.finished_ms - one.finished_ms);
  const [newest] = failed;
  if (!newest) return undefined;
  const { test_id: testId, test_name: testName, pipeline_name: pipelineName, job_name: jobName, axes } = newest;
  const test = tests.get(testId);
  const failedAt = Math.min(...failed.map(({ finished_ms }) => finished_ms));
  const health = healthWhen(failedAt, test, { pipelineName, jobName, axes }, found.steps.get(testId));
  const evidence = failed.flatMap((result) =>
    result.failures.map((failure) => {
      const known = groups.get(groupKey({ testId, failureId: failure.id }));
      return { result, failure, known };
    }),
  );
  const seen = [...Map.groupBy(evidence, ({ failure }) => failure.id).values()].map((group) => ({
    group,
    firstHereAt: Math.min(...group.map(({ result }) => result.finished_ms)),
    firstOnDefaultAt: group[0]?.known ? totalsOf(group[0].known).firstAt : null,
  }));
  const shown = (seen.find(isNewGroup)?.group ?? evidence)[0];
  const shownResult = shown?.result ?? newest;
  const run = runs.get(runKey(shownResult));
  if (!run) return undefined;
  const branches = [run.branch, run.base_ref].filter((branch) => branch !== '');
  const covering = (axes: string, failureId: string | null) =>
    quarantines
      .get(testId)
      ?.find((one) => branches.some((branch) => covers(one, { branch, pipelineName, jobName, axes, failureId })));
  // One that is narrowed to axes or failure groups leaves the other failures of the same test.
  const isCovered = failed.every(({ axes, failures }) =>
    (failures.length > 0 ? failures.map(({ id }) => id) : [null]).every((id) => covering(axes, id) !== undefined),
  );
  const quarantine = isCovered ? covering(shownResult.axes, shown?.failure.id ?? null) : undefined;
  return {
    verdict: commitVerdict({
      isQuarantined: quarantine !== undefined || failed.every(({ is_quarantined }) => is_quarantined),
      isTroubled: failed.every((result) => {
        const explained = troubled.get(runKey(result));
        return explained === 'all' || explained?.has(testId) === true;
      }),
      hasPassedOnDefault: test?.identities.some(({ summary }) => summary.lastSuccessAt !== null) ?? false,
      groups: seen,
      health,
    }),
    testId,
    testName,
    pipelineName,
    jobName,
    axes,
    run,
    failedAt: shownResult.finished_ms,
    shown: shown?.failure,
    attachments: shownResult.failures.flatMap(({ attachments = '' }) => attachmentsOf(attachments)),
    failures: failed.length,
    passes: listed.reduce((sum, one) => sum + (one.is_failed ? 0 : one.executions), 0),
    health,
    failingPullRequests: pullRequests && (pullRequests.get(testId) ?? 0),
    known: shown?.known,
    quarantine,
  };
}

/**
 * Of a test on the default branch at some moment: in the leg, else in the CI job, else the worst of where it ran lately. Null
 * for a test that never ran there.
 */
function healthWhen(
  moment: number,
  test: KnownTest | undefined,
  leg: Leg,
  steps: readonly StoredStep[] = [],
): Health | null {
  if (!test) return null;
  const isOfJob = (one: Leg): boolean => one.pipelineName === leg.pipelineName && one.jobName === leg.jobName;
  const ofJob = test.legs.filter(isOfJob);
  const own = ofJob.filter(({ axes }) => axes === leg.axes);
  const places = own.length > 0 ? own : ofJob.length > 0 ? ofJob : countedIdentities(test.legs);
  const byLeg = Map.groupBy(steps, legKey);
  return worstHealth(places.map((place) => healthAt(byLeg.get(legKey(place)) ?? [], moment, place.health)));
}

/** A run off the default branch is not judged, so this goes by what the failing tests were on the default branch. */
function troubledOffDefault(
  run: CommitRun,
  results: readonly CommitResult[],
  ofLeg: readonly CommitResult[],
  nearby: Nearby,
  { tests, steps }: Found,
): ReadonlySet<string> | 'all' {
  const failed = results.filter(({ test_id: testId, is_failed, finished_ms, ...at }) => {
    const leg = { pipelineName: at.pipeline_name, jobName: at.job_name, axes: at.axes };
    return is_failed && healthWhen(finished_ms, tests.get(testId), leg, steps.get(testId)) === 'healthy';
  });
  const failedTests = new Set(failed.map(({ test_id }) => test_id));
  if (isTroubledOffDefault({ passed: run.passed, failedHealthy: failed.length, healthyTests: failedTests.size }))
    return 'all';
  if (failedTests.size < TOGETHER_MIN) return new Set();
  const own = runKey(run);
  const others = ofLeg.filter((result) => runKey(result) !== own);
  const passed = new Set(others.flatMap(({ test_id, is_failed }) => (is_failed ? [] : [test_id])));
  return troubledTests(
    {
      origin: nearby.originOf(run),
      startedAt: run.started_ms,
      endedAt: run.ended_ms,
      share: run.failed / Math.max(1, run.passed + run.failed),
      failedTests,
      passedAgain: others.length === 0 ? null : failedTests.intersection(passed),
    },
    nearby.runs,
  );
}

/** Whether a leg has each of these values; it may tell more, such as the browser of a part of its tests. */
function hasAxes(leg: string, wanted: Axes): boolean {
  const entries = Object.entries(wanted);
  if (entries.length === 0) return true;
  const axes = axesOf(leg);
  return entries.every(([name, value]) => axisValue(axes, name) === value);
}

const placeKey = (row: CommitResult): string => JSON.stringify([row.test_id, row.pipeline_name, row.job_name]);
