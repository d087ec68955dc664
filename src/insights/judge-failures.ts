/** Judges the failed tests of a commit from what was read. Pure. */
import { type CommitResult, type CommitRun, runKey } from '../commits/commit-record.ts';
import { type Attachment, attachmentsOf } from '../domain/attachments.ts';
import type { ClaimEvidence } from '../domain/change-claim.ts';
import { type CommitVerdict, commitVerdict, isNewGroup, isTroubledOffDefault } from '../domain/commit-verdict.ts';
import { totalsOf } from '../domain/failure-group.ts';
import { type Episode, episodeAt, worstEpisode } from '../domain/health-at.ts';
import type { NearnessFactors } from '../domain/nearness.ts';
import { covers } from '../domain/quarantine-scope.ts';
import type { Health } from '../domain/status.ts';
import { type Leg, legKey } from '../domain/test-identity.ts';
import { countedIdentities, type NewestFacts, newestOf } from '../domain/test-state.ts';
import { type Elsewhere, type Trouble, troublesOf } from '../domain/trouble-elsewhere.ts';
import type { FailureGroupRecord } from '../postgres/failure-groups.ts';
import type { StoredStep } from '../postgres/health-steps.ts';
import type { KnownTest } from '../postgres/known-tests.ts';
import type { Quarantine } from '../postgres/quarantine-records.ts';
import { ClaimEvidences } from './claim-evidence.ts';
import { type FailingElsewhere, messageOf } from './failing-elsewhere.ts';
import { groupKey } from './failure-evidence.ts';

/** A test that failed on a commit in a leg of a CI job. */
export interface LegFailure {
  /** `axesText` */
  axes: string;
  verdict: CommitVerdict;
  testId: string;
  testName: string;
  pipelineName: string;
  jobName: string;
  /** The failure that is shown: the newest that is new to the default branch, or else the newest. */
  shown: CommitResult['failures'][number] | undefined;
  /** The attachments of all attempts of the execution whose failure is shown. */
  attachments: Attachment[];
  failedAt: number;
  run: CommitRun;
  failures: number;
  passes: number;
  /** On the default branch when it failed; null for a test that never ran there. */
  episode: Episode | null;
  /** The trouble that explains it; null for other verdicts. */
  trouble: Trouble | null;
  /** Other pull requests on which the test failed; null if that was not asked, or cannot be read now. */
  failingPullRequests: number | null;
  /** The group of `shown` on the default branch. */
  known: FailureGroupRecord | undefined;
  quarantine: Quarantine | undefined;
  /** What its newest execution on the default branch says of it, in the same leg if it ran there; null if it never ran. */
  facts: NewestFacts | null;
  /** For the claim that the change caused it. */
  claim: ClaimEvidence;
  /** The changed file that is nearest to the test; null: none is near, or none is known. */
  changedFile: string | null;
}

/** Tests as the default branch knows them. */
interface KnownTests {
  tests: ReadonlyMap<string, KnownTest | undefined>;
  /** By test. */
  steps: ReadonlyMap<string, readonly StoredStep[]>;
}

export interface Found extends KnownTests {
  commit: string;
  /** By {@link runKey}; without those that a filter leaves out. */
  runs: ReadonlyMap<string, CommitRun>;
  /** In any run of the commit, of the tests that failed in these. */
  results: readonly CommitResult[];
  /** By {@link groupKey}. */
  groups: ReadonlyMap<string, FailureGroupRecord>;
  quarantines: ReadonlyMap<string, readonly Quarantine[]>;
  /** Runs of the default branch that were judged troubled, by {@link runKey}. */
  troubled: ReadonlySet<string>;
  /** Files that the commit changed; empty: not known. */
  changedFiles: readonly string[];
  /** What nearness to them says in this repository. */
  nearnessFactors: NearnessFactors;
}

/** A run in which so much failed that it explains all of it. */
const WHOLE_RUN: Trouble = { sign: 'run', changes: 0, isOnDefaultBranch: false };

/** A verdict for each test and leg in which it failed. */
export function judgeFailures(found: Found, failing: FailingElsewhere): LegFailure[] {
  const byRun = new Map(
    [...Map.groupBy(found.results, runKey)].map(([key, results]) => [key, failedHealthy(results, found)]),
  );
  const byLeg = Map.groupBy(found.results, legOf);
  const troubles = new Map(
    [...found.runs].map(([key, run]) => {
      if (run.on_default) return [key, found.troubled.has(key) ? WHOLE_RUN : undefined];
      const failed = byRun.get(key) ?? [];
      const [first] = failed;
      return [key, first && troublesOffDefault(run, failed, byLeg.get(legOf(first)) ?? [], failing.elsewhere)];
    }),
  );
  const troubleOf = (result: CommitResult): Trouble | undefined => {
    const trouble = troubles.get(runKey(result));
    return trouble instanceof Map ? trouble.get(result.test_id) : trouble;
  };
  const claims = new ClaimEvidences(found, failing, byRun);
  return [...Map.groupBy(found.results, (row) => JSON.stringify([row.test_id, legOf(row)])).values()].flatMap(
    (results) => judged(results, found, { troubleOf, pullRequests: failing.pullRequests, claims }) ?? [],
  );
}

const legOf = ({ pipeline_name, job_name, axes }: CommitResult): string =>
  legKey({ pipelineName: pipeline_name, jobName: job_name, axes });

/** The verdict on the results of one test in one leg; undefined if it only passed there. */
function judged(
  results: readonly CommitResult[],
  found: Found,
  {
    troubleOf,
    pullRequests,
    claims,
  }: {
    troubleOf: (result: CommitResult) => Trouble | undefined;
    pullRequests: FailingElsewhere['pullRequests'];
    claims: ClaimEvidences;
  },
): LegFailure | undefined {
  const { runs, tests, groups, quarantines } = found;
  const listed = results.filter((result) => runs.has(runKey(result)));
  const failed = listed.filter(({ is_failed }) => is_failed).sort((one, other) => other.finished_ms - one.finished_ms);
  const [newest] = failed;
  if (!newest) return undefined;
  const { test_id: testId, test_name: testName, pipeline_name: pipelineName, job_name: jobName, axes } = newest;
  const test = tests.get(testId);
  const failedAt = Math.min(...failed.map(({ finished_ms }) => finished_ms));
  const episode = episodeWhen(failedAt, testId, { pipelineName, jobName, axes }, found);
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
  const troubles = failed.map(troubleOf);
  const verdict = commitVerdict({
    isQuarantined: quarantine !== undefined || failed.every(({ is_quarantined }) => is_quarantined),
    isTroubled: troubles.every((trouble) => trouble !== undefined),
    hasPassedOnDefault: test?.identities.some(({ summary }) => summary.lastSuccessAt !== null) ?? false,
    groups: seen,
    health: episode?.health ?? null,
  });
  const trouble = troubles.every((one) => one !== undefined) ? (troubles[0] ?? null) : null;
  const passes = listed.reduce((sum, one) => sum + (one.is_failed ? 0 : one.executions), 0);
  const failingPullRequests = pullRequests?.get(testId) ?? null;
  const isNew = seen.length === 0 || seen.some(isNewGroup);
  return {
    claim: claims.of(found.commit, run, {
      ...{ testId, pipelineName, jobName, axes, failedAt },
      ...{ health: episode?.health ?? null, isNewGroup: isNew, failures: failed.length, passes },
      ...{ trouble: verdict === 'infrastructure' ? trouble : null, otherPullRequests: failingPullRequests },
    }),
    changedFile: claims.nearness(testId).file,
    verdict,
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
    passes,
    episode,
    trouble: (verdict === 'infrastructure' && troubles[0]) || null,
    failingPullRequests,
    known: shown?.known,
    quarantine,
    facts: test ? factsOf(test, { pipelineName, jobName, axes }) : null,
  };
}

function factsOf({ legs, identities }: KnownTest, leg: Leg): NewestFacts | null {
  const own = legs.find((one) => legKey(one) === legKey(leg))?.summary.newest;
  return own ?? newestOf(identities.map(({ summary }) => summary));
}

/**
 * The health of a test on the default branch at some moment: in the leg, else in the CI job, else the worst of where it ran lately. Null
 * for a test that never ran there.
 */
function episodeWhen(moment: number, testId: string, leg: Leg, { tests, steps }: KnownTests): Episode | null {
  const test = tests.get(testId);
  if (!test) return null;
  const isOfJob = (one: Leg): boolean => one.pipelineName === leg.pipelineName && one.jobName === leg.jobName;
  const ofJob = test.legs.filter(isOfJob);
  const own = ofJob.filter(({ axes }) => axes === leg.axes);
  return worstOf(
    own.length > 0 ? own : ofJob.length > 0 ? ofJob : countedIdentities(test.legs),
    moment,
    steps.get(testId),
  );
}

/** The worst health of a test, wherever it ran on the default branch; null if it did not. */
export function healthThen(moment: number, testId: string, { tests, steps }: KnownTests): Health | null {
  const test = tests.get(testId);
  return test ? (worstOf(countedIdentities(test.legs), moment, steps.get(testId))?.health ?? null) : null;
}

function worstOf(legs: KnownTest['legs'], moment: number, steps: readonly StoredStep[] = []): Episode | null {
  const byLeg = Map.groupBy(steps, legKey);
  return worstEpisode(legs.map((leg) => episodeAt(byLeg.get(legKey(leg)) ?? [], moment, leg.health)));
}

/** The failures of a run of tests that were healthy on the default branch. */
const failedHealthy = (results: readonly CommitResult[], found: KnownTests): CommitResult[] =>
  results.filter(({ test_id: testId, is_failed, finished_ms, ...at }) => {
    const leg = { pipelineName: at.pipeline_name, jobName: at.job_name, axes: at.axes };
    return is_failed && episodeWhen(finished_ms, testId, leg, found)?.health === 'healthy';
  });

/** A run off the default branch is not judged, so this goes by what the failing tests were on the default branch. */
function troublesOffDefault(
  run: CommitRun,
  failed: readonly CommitResult[],
  ofLeg: readonly CommitResult[],
  elsewhere: Elsewhere,
): Map<string, Trouble> | Trouble {
  const byTest = Map.groupBy(failed, ({ test_id }) => test_id);
  if (isTroubledOffDefault({ passed: run.passed, failedHealthy: failed.length, healthyTests: byTest.size }))
    return WHOLE_RUN;
  const own = runKey(run);
  const passed = new Set(ofLeg.flatMap((one) => (one.is_failed || runKey(one) === own ? [] : [one.test_id])));
  return troublesOf(
    [...byTest].map(([testId, ofTest]) => {
      const failures = ofTest.flatMap((result) => result.failures);
      const groups = [...new Set(failures.map(({ id }) => id))];
      return { testId, groups, messages: [...new Set(failures.map(messageOf))], hasPassedAgain: passed.has(testId) };
    }),
    elsewhere,
  );
}
