/** Claims about the failures of a day of pull requests, from what the service would know, beside what really caused them. */
import { newBelief } from '../../src/domain/belief.ts';
import {
  type ClaimEvidence,
  claimVerdict,
  explanationsOf,
  RERUNS_MAX,
  rerunsNeeded,
} from '../../src/domain/change-claim.ts';
import {
  FACTORS_BEFORE,
  type NearnessFactors,
  type NearnessKind,
  nearestOf,
  nearnessTogether,
} from '../../src/domain/nearness.ts';
import type { Break } from '../../src/domain/nearness-history.ts';
import { otherLegsOf } from '../../src/domain/other-legs.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { NEARBY_MS, type Trouble, troublesOf } from '../../src/domain/trouble-elsewhere.ts';
import { weightsBefore } from '../../src/domain/weights-before.ts';
import { randomFrom } from '../support/random.ts';
import { fileOfTest } from './change-files.ts';
import { type Asked, changeOf, elsewhereOf, healthOf, isWholeRun, knowMain, type Main } from './moment-score.ts';
import { type Cause, type MomentRun, type MomentWorld, TESTS } from './moment-worlds.ts';

/** A claim with the truth. */
export interface ScoredClaim {
  probability: number;
  verdict: ReturnType<typeof claimVerdict>;
  cause: Cause;
  /** Whether the default branch knew the test as flaky when it failed. */
  isKnownFlaky: boolean;
  /** Of a change: whether what it breaks fails now and then only. */
  isRare: boolean;
}

export const isChange = ({ cause }: ScoredClaim): boolean => cause === 'change';

/** How far probabilities are from what really was, on average: the logarithm of how likely the truth was said to be. */
export const surprise = (claims: readonly ScoredClaim[]): number =>
  claims.reduce((sum, claim) => {
    const said = isChange(claim) ? claim.probability : 1 - claim.probability;
    return sum - Math.log(Math.max(said, 1e-6));
  }, 0) / Math.max(1, claims.length);

/** `after reruns`: an hour after the run has ended, with the reruns that the claim asked for then. */
export type ClaimAsked = Asked | 'after reruns';

/** What a claim may be asked without, to see what it is worth. */
export type Sense = 'files' | 'base' | 'legs';

const BLIND: Readonly<Record<Sense, Partial<ClaimEvidence>>> = {
  files: { nearness: 1 },
  base: { base: null },
  legs: { otherLegs: otherLegsOf(0, 0) },
};

/** What the service knows of a failed test, by how much nearness counts. */
type Evidence = (factors: NearnessFactors) => ClaimEvidence;

/** A failed test of a pull request, as the service knows it whenever it is asked, and the truth. */
export interface Failure extends Pick<ScoredClaim, 'cause' | 'isKnownFlaky' | 'isRare'> {
  atOnce: Evidence;
  /** An hour later, but for its reruns. */
  afterwards: Evidence;
  /** Whether each rerun fails. */
  rerunsFail: readonly boolean[];
}

/** What the changes of a world break, as a history from which nearness is learned. */
export const breaksIn = (world: MomentWorld): Break[] =>
  pullsOf(world).flatMap((all) => {
    const victims = new Set(
      all.flatMap(({ causes }) => [...causes].flatMap(([test, cause]) => (cause === 'change' ? [test] : []))),
    );
    const changed = all[0]?.files ?? [];
    return victims.size === 0 ? [] : [{ victims: [...victims].map((test) => fileOfTest(test % TESTS)), changed }];
  });

/** The failed tests of each pull request. */
export function failuresIn(world: MomentWorld): Failure[] {
  const random = randomFrom(world.runs.length);
  const know = new Known(world.runs);
  return pullsOf(world).flatMap((all) => {
    const [first] = all;
    if (!first) return [];
    const atOnce = new Look(world, [first], { until: first.at, know });
    const afterwards = new Look(world, [first], { until: first.at + HOUR_MS, know });
    return atOnce.failedTests.map((test): Failure => {
      const cause = first.causes.get(test) ?? 'flaky';
      const rate = rateOfReruns(world, first, test, cause);
      const evidence = atOnce.evidenceOf(test);
      const isKnownFlaky = evidence(FACTORS_BEFORE).health === 'flaky';
      return {
        ...{ cause, isKnownFlaky, isRare: first.ownRate < 1, atOnce: evidence },
        afterwards: afterwards.evidenceOf(test),
        rerunsFail: Array.from({ length: RERUNS_MAX }, () => random() < rate),
      };
    });
  });
}

/** Claims about them, at once or with the reruns that the claim asked for then. */
export const claimsAbout = (
  failures: readonly Failure[],
  asked: 'at once' | 'after reruns',
  { without = [], factors = FACTORS_BEFORE }: { without?: readonly Sense[]; factors?: NearnessFactors } = {},
): ScoredClaim[] =>
  failures.map(({ cause, isKnownFlaky, isRare, atOnce, afterwards, rerunsFail }) => {
    const blind = Object.assign({}, ...without.map((sense) => BLIND[sense]));
    let evidence = { ...atOnce(factors), ...blind };
    const needed = asked === 'after reruns' ? rerunsNeeded(evidence) : null;
    if (needed) evidence = { ...afterwards(factors), ...blind, ...rerun(evidence, rerunsFail.slice(0, needed.reruns)) };
    return { ...claimFrom(evidence), cause, isKnownFlaky, isRare };
  });

/** Claims about them when all of the day is known. */
export function claimsLater(world: MomentWorld): ScoredClaim[] {
  const know = new Known(world.runs);
  return pullsOf(world).flatMap((all) => {
    const look = new Look(world, all, { until: Number.POSITIVE_INFINITY, know });
    return look.failedTests.map((test): ScoredClaim => {
      const evidence = look.evidenceOf(test)(FACTORS_BEFORE);
      const cause = all.find(({ causes }) => causes.has(test))?.causes.get(test) ?? 'flaky';
      const isRare = all.some(({ ownRate }) => ownRate < 1);
      return { ...claimFrom(evidence), cause, isRare, isKnownFlaky: evidence.health === 'flaky' };
    });
  });
}

function claimFrom(evidence: ClaimEvidence): Pick<ScoredClaim, 'probability' | 'verdict'> {
  const explanations = explanationsOf(evidence);
  return { probability: explanations.change, verdict: claimVerdict(explanations, evidence) };
}

/** The attempts of each CI job of each pull request. */
const pullsOf = ({ runs }: MomentWorld): MomentRun[][] => [
  ...Map.groupBy(
    runs.filter(({ pullRequest }) => pullRequest !== null),
    ({ id }) => id,
  ).values(),
];

/** The default branch as it is known at a moment. It changes with its own runs only. */
class Known {
  readonly #onMain: readonly MomentRun[];
  readonly #mains = new Map<number, Main>();

  constructor(runs: readonly MomentRun[]) {
    this.#onMain = runs.filter(({ isDefaultBranch }) => isDefaultBranch);
  }

  at(moment: number): Main {
    const known = this.#onMain.filter(({ at }) => at <= moment);
    const main = this.#mains.get(known.length) ?? knowMain(known);
    this.#mains.set(known.length, main);
    return main;
  }
}

const rateOfReruns = (
  { flaky, troubleLasts }: MomentWorld,
  { ownRate }: MomentRun,
  test: number,
  cause: Cause,
): number => ({ change: ownRate, main: 1, flaky: flaky.get(test) ?? 0, trouble: troubleLasts })[cause];

/** Who reruns a test stops once it passes. */
function rerun(
  { failures, passes }: ClaimEvidence,
  fails: readonly boolean[],
): Pick<ClaimEvidence, 'failures' | 'passes'> {
  const failed = fails.indexOf(false);
  return failed < 0
    ? { failures: failures + fails.length, passes }
    : { failures: failures + failed, passes: passes + 1 };
}

const WHOLE_RUN: Trouble = { sign: 'run', changes: 0, isOnDefaultBranch: false };

/** What the service knows of some attempts of a CI job by a moment. */
class Look {
  readonly #attempts: readonly MomentRun[];
  readonly #first: MomentRun;
  readonly #main: Main;
  readonly #onMain: readonly MomentRun[];
  readonly #others: readonly MomentRun[];
  /** Of the same commit, in its other CI jobs and legs. */
  readonly #besides: readonly MomentRun[];
  readonly #around: ClaimEvidence['around'];
  /** By attempt. */
  readonly #troubles: ReadonlyMap<MomentRun, { healthy: number; of: (test: number) => Trouble | undefined }>;

  constructor(
    { runs, knowsAuthors }: MomentWorld,
    attempts: readonly MomentRun[],
    { until, know }: { until: number; know: Known },
  ) {
    const known = runs.filter(({ at }) => at <= until);
    const [first] = attempts;
    if (!first) throw new TypeError('at least one attempt');
    const main = know.at(until);
    const others = known.filter(({ commit }) => commit !== first.commit);
    const elsewhere = elsewhereOf(first, others, main, knowsAuthors);
    this.#attempts = attempts;
    this.#first = first;
    this.#main = main;
    this.#others = others;
    this.#besides = known.filter(({ commit, job }) => commit === first.commit && job !== first.job);
    this.#onMain = known.filter(({ isDefaultBranch }) => isDefaultBranch);
    this.#around = around(others, first, { main, knowsAuthors });
    this.#troubles = new Map(
      attempts.map((run) => {
        const failed = [...run.troubles].filter(([test]) => healthOf(main, test, run.at) === 'healthy');
        const again = attempts.filter((one) => one !== run);
        const found = troublesOf(
          failed.map(([test, { message }]) => ({
            ...{ testId: String(test), groups: [`${test}/${message}`], messages: [message] },
            hasPassedAgain: again.some(({ causes }) => !causes.has(test)),
          })),
          elsewhere,
        );
        const isWhole = isWholeRun(run, failed.length);
        return [run, { healthy: failed.length, of: (test) => (isWhole ? WHOLE_RUN : found.get(String(test))) }];
      }),
    );
  }

  get failedTests(): number[] {
    return [...new Set(this.#attempts.flatMap(({ causes }) => [...causes.keys()]))];
  }

  evidenceOf(test: number): Evidence {
    const failures = this.#attempts.filter(({ causes }) => causes.has(test));
    const [failure = this.#first] = failures;
    const health = healthOf(this.#main, test, failure.at);
    const before = this.#onMain.filter((run) => run.at < failure.at && run.job === failure.job);
    const signs = failures.map((run) => this.#troubles.get(run)?.of(test));
    const belief = this.#main.rules.beliefs.get(test) ?? newBelief();
    const near = nearestIn(failure, test);
    const beside = [...failure.troubles.keys()]
      .filter((other) => other !== test && healthOf(this.#main, other, failure.at) === 'healthy')
      .map((other) => nearestIn(failure, other));
    const evidence: Omit<ClaimEvidence, 'nearness'> = {
      weights: weightsBefore({ belief, executions: before.length }, { health, commit: failure.commit }),
      health,
      defaultFailures: before.filter(({ troubles }) => troubles.has(test)).length,
      isNewGroup: failures.some((run) => {
        const firstAt = this.#main.groups.get(`${test}/${run.troubles.get(test)?.message}`);
        return firstAt === undefined || firstAt >= run.at;
      }),
      failures: failures.length,
      passes: this.#attempts.length - failures.length,
      otherLegs: this.#otherLegsOf(test),
      tests: failure.identities.length,
      together: (this.#troubles.get(failure)?.healthy ?? 0) + (health === 'healthy' ? 0 : 1),
      trouble: signs.every((one) => one !== undefined) ? (signs[0] ?? null) : null,
      around: this.#around,
      otherPullRequests: pullsFailing(test, this.#others, failure),
      base: this.#baseOf(test, failure),
      laterFailures: null,
    };
    return (factors) => ({
      ...evidence,
      nearness: nearnessTogether(
        factors[near],
        beside.map((kind) => factors[kind]),
      ),
    });
  }

  /** The newest result of each other leg. */
  #otherLegsOf(test: number): ClaimEvidence['otherLegs'] {
    const newest = new Map<number, boolean>();
    for (const { identities, causes } of this.#besides) {
      const there = Array.from(identities).find((one) => one !== test && one % TESTS === test % TESTS);
      if (there !== undefined) newest.set(there, causes.has(there));
    }
    const failed = [...newest.values()].filter((hasFailed) => hasFailed).length;
    return otherLegsOf(newest.size, failed);
  }

  #baseOf(test: number, { base, job }: MomentRun): ClaimEvidence['base'] {
    const there = this.#onMain.filter((run) => run.commit === base && run.job === job);
    const failures = there.filter(({ causes }) => causes.has(test)).length;
    return there.length === 0 ? null : { failures, passes: there.length - failures };
  }
}

/** Each made-up change names its files. */
const nearestIn = ({ files }: MomentRun, test: number): NearnessKind =>
  nearestOf(fileOfTest(test % TESTS), files)?.kind ?? 'far';

/** Other changes within the hour, and how many of them had failures of tests that were healthy on the default branch. */
function around(
  others: readonly MomentRun[],
  asked: MomentRun,
  { main, knowsAuthors }: { main: Main; knowsAuthors: boolean },
): ClaimEvidence['around'] {
  const near = others.filter(
    ({ at, isDefaultBranch }) => Math.abs(at - asked.at) <= NEARBY_MS && (!isDefaultBranch || at <= asked.at),
  );
  const byChange = Map.groupBy(near, (run) => changeOf(run, knowsAuthors));
  byChange.delete(changeOf(asked, knowsAuthors));
  const isFailing = (run: MomentRun): boolean =>
    run.troubles.keys().some((test) => main.rules.health(test) === 'healthy');
  return { changes: byChange.size, failing: [...byChange.values()].filter((some) => some.some(isFailing)).length };
}

/** As `failing_pull_requests` counts them. */
function pullsFailing(test: number, others: readonly MomentRun[], { at, pullRequest }: MomentRun): number {
  const failing = others.flatMap((run) =>
    run.pullRequest && run.causes.has(test) && run.at > at - 7 * DAY_MS && run.at < at + HOUR_MS
      ? [run.pullRequest.number]
      : [],
  );
  return new Set(failing.filter((number) => number !== pullRequest?.number)).size;
}
