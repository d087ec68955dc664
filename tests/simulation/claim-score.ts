/** Claims about the failures of a day of pull requests, from what the service would know, beside what really caused them. */
import { newBelief } from '../../src/domain/belief.ts';
import { type ClaimEvidence, claimVerdict, explanationsOf, rerunsNeeded } from '../../src/domain/change-claim.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { NEARBY_MS, type Trouble, troublesOf } from '../../src/domain/trouble-elsewhere.ts';
import { weightsBefore } from '../../src/domain/weights-before.ts';
import { randomFrom } from '../support/random.ts';
import { type Asked, changeOf, elsewhereOf, healthOf, isWholeRun, knowMain, type Main } from './moment-score.ts';
import type { Cause, MomentRun, MomentWorld } from './moment-worlds.ts';

/** A claim with the truth. */
export interface ScoredClaim {
  probability: number;
  verdict: ReturnType<typeof claimVerdict>;
  cause: Cause;
  /** Whether the default branch knew the test as flaky when it failed. */
  isKnownFlaky: boolean;
}

/** `after reruns`: an hour after the run has ended, with the reruns that the claim asked for then. */
export type ClaimAsked = Asked | 'after reruns';

/** Claims about each failed test of each pull request. */
export function scoreClaims(world: MomentWorld, asked: ClaimAsked): ScoredClaim[] {
  const random = randomFrom(world.runs.length);
  const mainAtEnd = asked === 'later' ? knowMain(world.runs) : undefined;
  const pulls = Map.groupBy(
    world.runs.filter(({ pullRequest }) => pullRequest !== null),
    ({ id }) => id,
  );
  return [...pulls.values()].flatMap((all) => {
    const [first] = all;
    if (!first) return [];
    const look = new Look(world, asked === 'later' ? all : [first], { until: first.at, mainAtEnd });
    const afterwards = asked === 'after reruns' ? new Look(world, [first], { until: first.at + HOUR_MS }) : undefined;
    return look.failedTests.map((test): ScoredClaim => {
      let evidence = look.evidenceOf(test);
      const cause = all.find(({ causes }) => causes.has(test))?.causes.get(test) ?? 'flaky';
      const needed = afterwards && rerunsNeeded(evidence);
      if (needed) {
        const rate = rateOfReruns(world, first, test, cause);
        evidence = { ...afterwards.evidenceOf(test), ...rerun(evidence, { reruns: needed.reruns, rate, random }) };
      }
      const explanations = explanationsOf(evidence);
      const verdict = claimVerdict(explanations, evidence);
      return { probability: explanations.change, verdict, cause, isKnownFlaky: evidence.health === 'flaky' };
    });
  });
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
  { reruns, rate, random }: { reruns: number; rate: number; random: () => number },
): Pick<ClaimEvidence, 'failures' | 'passes'> {
  for (let failed = 0; failed < reruns; failed++)
    if (random() >= rate) return { failures: failures + failed, passes: passes + 1 };
  return { failures: failures + reruns, passes };
}

const WHOLE_RUN: Trouble = { sign: 'run', changes: 0, isOnDefaultBranch: false };

/** What the service knows of some attempts of a CI job by a moment. */
class Look {
  readonly #attempts: readonly MomentRun[];
  readonly #first: MomentRun;
  readonly #main: Main;
  readonly #onMain: readonly MomentRun[];
  readonly #others: readonly MomentRun[];
  readonly #around: ClaimEvidence['around'];
  /** By attempt. */
  readonly #troubles: ReadonlyMap<MomentRun, { healthy: number; of: (test: number) => Trouble | undefined }>;

  /** @param mainAtEnd what is known of the default branch when all of the day is known; undefined: what is known until then */
  constructor(
    { runs, knowsAuthors }: MomentWorld,
    attempts: readonly MomentRun[],
    { until, mainAtEnd }: { until: number; mainAtEnd?: Main | undefined },
  ) {
    const known = mainAtEnd ? runs : runs.filter(({ at }) => at <= until);
    const [first] = attempts;
    if (!first) throw new TypeError('at least one attempt');
    const main = mainAtEnd ?? knowMain(known);
    const others = known.filter(({ commit }) => commit !== first.commit);
    const elsewhere = elsewhereOf(first, others, main, knowsAuthors);
    this.#attempts = attempts;
    this.#first = first;
    this.#main = main;
    this.#others = others;
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

  evidenceOf(test: number): ClaimEvidence {
    const failures = this.#attempts.filter(({ causes }) => causes.has(test));
    const [failure = this.#first] = failures;
    const health = healthOf(this.#main, test, failure.at);
    const before = this.#onMain.filter((run) => run.at < failure.at && run.job === failure.job);
    const signs = failures.map((run) => this.#troubles.get(run)?.of(test));
    const belief = this.#main.rules.beliefs.get(test) ?? newBelief();
    return {
      weights: weightsBefore({ belief, executions: before.length }, { health, commit: failure.commit }),
      health,
      defaultFailures: before.filter(({ troubles }) => troubles.has(test)).length,
      isNewGroup: failures.some((run) => {
        const firstAt = this.#main.groups.get(`${test}/${run.troubles.get(test)?.message}`);
        return firstAt === undefined || firstAt >= run.at;
      }),
      failures: failures.length,
      passes: this.#attempts.length - failures.length,
      otherLegs: { passed: false, failed: 0 },
      tests: failure.identities.length,
      together: (this.#troubles.get(failure)?.healthy ?? 0) + (health === 'healthy' ? 0 : 1),
      trouble: signs.every((one) => one !== undefined) ? (signs[0] ?? null) : null,
      around: this.#around,
      otherPullRequests: pullsFailing(test, this.#others, failure),
      base: null,
      laterFailures: null,
      nearness: 1,
    };
  }
}

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
