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
import { covers } from '../domain/quarantine-scope.ts';
import type { Health } from '../domain/status.ts';
import type { Leg } from '../domain/test-identity.ts';
import { healthOfTest } from '../domain/test-state.ts';
import type { FailureGroupRecord } from '../postgres/failure-groups.ts';
import type { KnownTest } from '../postgres/known-tests.ts';
import type { Quarantine } from '../postgres/quarantine-records.ts';
import type { Repository } from '../postgres/repositories.ts';
import { type Commits, FAILED_TESTS_MAX } from './commits.ts';
import type { InsightsDeps } from './common.ts';
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
  health: Health | null;
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
  const [results, troubles, tests, quarantines] = await Promise.all([
    deps.commits.resultsOf(repository, { commit, runs, testIds }, known, signal),
    RunTroubles.of(deps.db, repository.id, runs.filter(mayBeTroubled).map(placeOf)),
    Promise.all(testIds.map((id) => deps.knownTests.find(repository, id))),
    deps.evidence.quarantinesOf(repository, testIds),
  ]);
  const asked = results.flatMap(({ test_id: testId, failures }) =>
    failures.map(({ id }) => ({ testId, failureId: id })),
  );
  const groups = await deps.evidence.groupsOf(repository, asked);
  const found: Found = {
    runs: new Map(runs.map((run) => [runKey(run), run])),
    tests: new Map(testIds.map((id, i) => [id, tests[i]])),
    groups,
    quarantines,
    troubled: new Set(),
  };
  const byRun = Map.groupBy(results, runKey);
  for (const [key, run] of found.runs) {
    const isTroubled = run.on_default
      ? troubles.of(placeOf(run)).trouble !== 'none'
      : isOutage(run, byRun.get(key) ?? [], found.tests);
    if (isTroubled) found.troubled.add(key);
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
  quarantines: ReadonlyMap<string, readonly Quarantine[]>;
  /** By {@link runKey}. */
  troubled: Set<string>;
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
function judged(
  results: readonly CommitResult[],
  { runs, tests, groups, quarantines, troubled }: Found,
): LegFailure | undefined {
  const listed = results.filter((result) => runs.has(runKey(result)));
  const failed = listed.filter(({ is_failed }) => is_failed).sort((one, other) => other.finished_ms - one.finished_ms);
  const [newest] = failed;
  if (!newest) return undefined;
  const { test_id: testId, test_name: testName, pipeline_name: pipelineName, job_name: jobName, axes } = newest;
  const test = tests.get(testId);
  const isOfJob = (one: Leg): boolean => one.pipelineName === pipelineName && one.jobName === jobName;
  const own = test?.legs.find((one) => isOfJob(one) && one.axes === axes) ?? test?.identities.find(isOfJob);
  const health = own?.health ?? (test ? healthOfTest(test.identities) : null);
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
      isInTroubledRun: failed.every((result) => troubled.has(runKey(result))),
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
    known: shown?.known,
    quarantine,
  };
}

/** A run off the default branch is not judged, so this goes by what the failing tests are on the default branch. */
function isOutage(run: CommitRun, results: readonly CommitResult[], tests: Found['tests']): boolean {
  const isHealthy = (testId: string): boolean => {
    const test = tests.get(testId);
    return test !== undefined && healthOfTest(test.identities) === 'healthy';
  };
  const failed = results.filter(({ test_id, is_failed }) => is_failed && isHealthy(test_id));
  const healthyTests = new Set(failed.map(({ test_id }) => test_id)).size;
  return isTroubledOffDefault({ passed: run.passed, failedHealthy: failed.length, healthyTests });
}

/** Whether a leg has each of these values; it may tell more, such as the browser of a part of its tests. */
function hasAxes(leg: string, wanted: Axes): boolean {
  const entries = Object.entries(wanted);
  if (entries.length === 0) return true;
  const axes = axesOf(leg);
  return entries.every(([name, value]) => axisValue(axes, name) === value);
}

const placeKey = (row: CommitResult): string => JSON.stringify([row.test_id, row.pipeline_name, row.job_name]);
