/** Gathers what a claim rests on, from what was read about a commit. Pure. */
import { type CommitResult, type CommitRun, runKey } from '../commits/commit-record.ts';
import type { ClaimEvidence } from '../domain/change-claim.ts';
import { forEachDay } from '../domain/flat-counts.ts';
import { type Nearness, type NearnessFactors, nearnessOf, nearnessTogether } from '../domain/nearness.ts';
import { otherLegsOf } from '../domain/other-legs.ts';
import { type Leg, legKey } from '../domain/test-identity.ts';
import { executionsOf, newestOf } from '../domain/test-state.ts';
import { DAY_MS } from '../domain/time.ts';
import { weightsBefore } from '../domain/weights-before.ts';
import type { KnownTest } from '../postgres/known-tests.ts';
import type { FailingElsewhere } from './failing-elsewhere.ts';

interface Found {
  tests: ReadonlyMap<string, KnownTest | undefined>;
  results: readonly CommitResult[];
  changedFiles: readonly string[];
  /** What nearness to them says in this repository. */
  nearnessFactors: NearnessFactors;
}

/** What the verdict on a failure knows already. */
type Judged = Leg &
  Pick<ClaimEvidence, 'health' | 'isNewGroup' | 'failures' | 'passes' | 'trouble' | 'otherPullRequests'> & {
    testId: string;
    failedAt: number;
  };

export class ClaimEvidences {
  readonly #found: Found;
  readonly #around: ClaimEvidence['around'];
  readonly #failedHealthy: ReadonlyMap<string, readonly CommitResult[]>;
  readonly #resultsOfTests: ReadonlyMap<string, readonly CommitResult[]>;

  /** @param failedHealthy by run: the failures of tests that were healthy on the default branch */
  constructor(found: Found, { around }: FailingElsewhere, failedHealthy: ReadonlyMap<string, readonly CommitResult[]>) {
    this.#found = found;
    this.#around = around;
    this.#failedHealthy = failedHealthy;
    this.#resultsOfTests = Map.groupBy(found.results, ({ test_id }) => test_id);
  }

  /** How near a test is to the files of the change. */
  nearness(testId: string): Nearness {
    const legs = this.#found.tests.get(testId)?.legs ?? [];
    const { changedFiles, nearnessFactors } = this.#found;
    const file = newestOf(legs.map(({ summary }) => summary))?.filepath || null;
    return nearnessOf(file, changedFiles, nearnessFactors);
  }

  /** @param run of the failure that is shown */
  of(commit: string, run: CommitRun, judged: Judged): ClaimEvidence {
    const { testId, failedAt, pipelineName, jobName, axes, ...rest } = judged;
    const leg = { pipelineName, jobName, axes };
    const test = this.#found.tests.get(testId);
    const known = nearestLeg(test, leg);
    const others = new Set((this.#failedHealthy.get(runKey(run)) ?? []).map(({ test_id }) => test_id));
    others.delete(testId);
    const streak = known?.belief.belief.streak ?? [];
    const later = new Set(streak.map(({ commit }) => commit));
    return {
      ...rest,
      weights: weightsBefore(known && { belief: known.belief.belief, executions: executionsOf(known.summary) }, {
        health: judged.health,
        commit,
      }),
      defaultFailures: defaultFailures(test, failedAt),
      otherLegs: this.#otherLegs(testId, leg),
      tests: run.passed + run.failed,
      together: others.size + 1,
      around: this.#around,
      base: null,
      nearness: nearnessTogether(
        this.nearness(testId).factor,
        Array.from(others, (other) => this.nearness(other).factor),
      ),
      laterFailures: run.on_default ? (streak[0]?.commit === commit ? later.size - 1 : 0) : null,
    };
  }

  /** The newest result of each other leg on the commit. */
  #otherLegs(testId: string, own: Leg): ClaimEvidence['otherLegs'] {
    const newest = new Map<string, CommitResult>();
    for (const result of this.#resultsOfTests.get(testId) ?? []) {
      const key = legKey({ pipelineName: result.pipeline_name, jobName: result.job_name, axes: result.axes });
      const known = newest.get(key);
      if (key !== legKey(own) && (!known || result.finished_ms > known.finished_ms)) newest.set(key, result);
    }
    return otherLegsOf(newest.size, [...newest.values()].filter(({ is_failed }) => is_failed).length);
  }
}

/** Failures on the default branch before that moment, of the last weeks; all older ones count as one. */
function defaultFailures(test: KnownTest | undefined, failedAt: number): number {
  if (!test?.firstFailure || test.firstFailure.failedAt >= failedAt) return 0;
  let failures = 0;
  for (const { summary } of test.identities)
    forEachDay(summary.days, (day, _passed, failed) => {
      if (day * DAY_MS < failedAt) failures += failed;
    });
  return Math.max(1, failures);
}

/** The leg, else one of its CI job, else any: the one that ran most. */
function nearestLeg(test: KnownTest | undefined, leg: Leg): KnownTest['legs'][number] | undefined {
  const rank = (one: KnownTest['legs'][number]): number =>
    one.pipelineName !== leg.pipelineName || one.jobName !== leg.jobName ? 0 : one.axes === leg.axes ? 2 : 1;
  return test?.legs.toSorted(
    (one, other) => rank(other) - rank(one) || executionsOf(other.summary) - executionsOf(one.summary),
  )[0];
}
