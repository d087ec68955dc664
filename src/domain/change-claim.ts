/**
 * Did the change cause this failure? The probability that it did, from the belief about the test on the default branch and from
 * what the commit shows. Four explanations are compared: the change, the test's own flakiness, a break on the default branch, and the
 * infrastructure. Pure; docs/claims.md has the rule, docs/judgement-quality.md how often claims hold.
 */
import { BROKEN, FLAKY_RATES } from './belief-weights.ts';
import { breakFactor, type OtherLegs, otherLegsOf } from './other-legs.ts';
import type { Health } from './status.ts';
import type { Trouble } from './trouble-elsewhere.ts';

/** The words are those of the reasons of a red run (red-run-reason.ts); `unknown`: not enough to say. */
export const CLAIM_VERDICTS = ['change', 'broken', 'flaky', 'infrastructure', 'unknown'] as const;
export type ClaimVerdict = (typeof CLAIM_VERDICTS)[number];
type Explanation = Exclude<ClaimVerdict, 'unknown'>;

/** What is known of a test that failed on a commit. */
export interface ClaimEvidence {
  /** Weights of the belief about the leg on the default branch, as it was before the failure (prior-weights.ts). */
  weights: readonly number[];
  /** On the default branch when it failed; null for a test that never ran there. */
  health: Health | null;
  /** How often the test is known to have failed on the default branch. */
  defaultFailures: number;
  /** Whether the default branch had not failed in this way before. */
  isNewGroup: boolean;
  /** How often it failed on this commit in this CI job, and how often it passed: at least one failure. */
  failures: number;
  passes: number;
  /** What it did in its other legs and CI jobs on the commit. */
  otherLegs: OtherLegs;
  /** Tests of the run, and how many failed in it that were healthy on the default branch, this one included. */
  tests: number;
  together: number;
  trouble: Trouble | null;
  /** Other changes that ran within the hour, and on how many of them tests failed that were healthy on the default branch. */
  around: { changes: number; failing: number };
  /** Other pull requests on which it failed within a week; null: not known. */
  otherPullRequests: number | null;
  /** What it did on the commit that the change is based on; null: not known. */
  base: { failures: number; passes: number } | null;
  /** A commit of the default branch: how many later commits failed there too, without a pass. Null for other commits. */
  laterFailures: number | null;
  /** How many times likelier a change breaks it for being near a changed file; 1: not known. */
  nearness: number;
}

/** How likely each explanation is; they add up to 1. */
export type Explanations = Readonly<Record<Explanation, number>>;

/** From here on it is said to be the change, and at so much for all else not to be; between, it is not enough to say. */
export const CLAIM_SURE_FROM = 0.9;

/** How many commits break a test: of pull requests, of the default branch. */
const BREAKS = { pullRequest: 0.15, defaultBranch: 0.03 } as const;
/** How likely a run meets trouble that no sign has shown, as long as no one else has run. */
const TROUBLE = 0.08;
/** How often it hits few tests, if it does. */
const HITS_FEW = 0.3;
/** How many times likelier a sign makes it. */
const TROUBLE_SIGN = 75;
/**
 * On how many changes tests fail that were healthy: usually, and while there is trouble; and how much that tells at least and at
 * most. That others were well tells only so much: someone is the first to meet trouble.
 */
const AROUND = { usually: 0.3, inTrouble: 0.85, least: 0.25, most: 7.5 } as const;
/** A change that breaks a test together with others breaks k of them with a probability that falls as this power of k. */
const TOGETHER_POWER = 1.6;
const TOGETHER_SUM = 2.29;
/** Share of the tests broken by a change that always fail; the others fail now and then, at any rate. */
const ALWAYS = 0.9;
export const FAILS = 0.99;
/**
 * How likely a failure of a test that has failed before is in a way that is new. A flaky test shows another one the more rarely
 * the more often it has failed, as tables of the Chinese restaurant process.
 */
const NEW_GROUP = { change: 0.9, broken: 0.005, infrastructure: 0.8 } as const;
const NEW_GROUP_FLAKY = { concentration: 0.7, least: 0.02 } as const;
/** How likely a test fails again, or passes, when its run meets trouble and runs again. */
const TROUBLE_LASTS = 0.65;
/** A test that does not exist on the default branch is the change's own. */
const OWN_TEST = 0.5;
/**
 * By the number of other pull requests on which a healthy test fails: how many times likelier the change is. Of a flaky test, that
 * says nothing new.
 */
const OTHER_PULL_REQUESTS = [1, 0.35, 0.15, 0.08] as const;

export function explanationsOf(evidence: ClaimEvidence): Explanations {
  const { failures, passes, otherLegs, trouble, health } = evidence;
  const breaks = evidence.laterFailures === null ? BREAKS.pullRequest : BREAKS.defaultBranch;
  const together = Math.max(1, evidence.together);
  const tests = Math.max(together, evidence.tests, 1);
  const legs = breakFactor({ before: otherLegsOf(0, 0), after: otherLegs });
  // What a change breaks is this set of tests and no other, as what trouble hits is: only their number tells them apart.
  const ofOthers = together === 1 ? 1 - breaks : breaks * breaksSo(together - 1);
  const before = health === null ? 1 - OWN_TEST : (ofOthers * tests) / together;
  const own = health === null ? OWN_TEST : breaks * breaksSo(together);
  const { concentration, least } = NEW_GROUP_FLAKY;
  const newGroup = { ...NEW_GROUP, flaky: Math.max(least, concentration / (concentration + evidence.defaultFailures)) };
  const message = (one: Explanation): number =>
    evidence.defaultFailures === 0 ? 1 : evidence.isNewGroup ? newGroup[one] : 1 - newGroup[one];
  const there = onBase(evidence);
  const later = evidence.laterFailures ?? 0;
  let flaky = 0;
  for (const [i, rate] of FLAKY_RATES.entries())
    flaky += (evidence.weights[i + 1] ?? 0) * runs(rate, failures + there.failures + later, passes + there.passes);
  const weights: Record<Explanation, number> = {
    change:
      own *
      (ALWAYS * runs(FAILS, failures + later, passes) + (1 - ALWAYS) * anyRate(failures + later, passes)) *
      there.change *
      message('change') *
      legs *
      evidence.nearness *
      (health === 'healthy' || health === null
        ? (OTHER_PULL_REQUESTS[Math.min(evidence.otherPullRequests ?? 0, OTHER_PULL_REQUESTS.length - 1)] ?? 1)
        : 1),
    flaky: before * flaky * message('flaky'),
    broken:
      before *
      (evidence.weights[BROKEN] ?? 0) *
      runs(FAILS, failures + later, passes) *
      there.broken *
      message('broken'),
    infrastructure:
      TROUBLE *
      hitsSo(together, tests) *
      (trouble ? TROUBLE_SIGN : troubleAround(evidence.around)) *
      TROUBLE_LASTS ** (failures - 1 + passes + later) *
      there.infrastructure *
      message('infrastructure') *
      Math.max(1, legs),
  };
  const total = weights.change + weights.flaky + weights.broken + weights.infrastructure;
  // Nothing explains so much evidence.
  if (!(total > 0)) return { change: 0.25, flaky: 0.25, broken: 0.25, infrastructure: 0.25 };
  return {
    change: weights.change / total,
    flaky: weights.flaky / total,
    broken: weights.broken / total,
    infrastructure: weights.infrastructure / total,
  };
}

/**
 * The likeliest explanation, if it is sure whether it is the change. A doubt never excuses a failure, so something must show
 * each other explanation: that the same code has passed, signs of trouble, or the same failure on a default branch that is
 * broken. A flaky test may fail because of the change, too.
 */
export function claimVerdict(explanations: Explanations, evidence: ClaimEvidence): ClaimVerdict {
  if (explanations.change >= CLAIM_SURE_FROM) return 'change';
  if (explanations.change > 1 - CLAIM_SURE_FROM) return 'unknown';
  const others = (['broken', 'flaky', 'infrastructure'] as const).toSorted((a, b) => explanations[b] - explanations[a]);
  const [likeliest = 'broken'] = others;
  const isShown = {
    broken: evidence.health === 'broken' && !evidence.isNewGroup,
    flaky: evidence.passes > 0,
    infrastructure: evidence.trouble !== null || evidence.passes > 0,
  };
  return isShown[likeliest] ? likeliest : 'unknown';
}

/** How likely trouble hits so many of the tests of a run: any number of them, and now and then just a few. */
const hitsSo = (count: number, tests: number): number =>
  HITS_FEW / (count * (1 + Math.log(tests))) + (1 - HITS_FEW) / tests;

/** How many times likelier trouble is, from those that ran meanwhile. */
function troubleAround({ changes, failing }: ClaimEvidence['around']): number {
  const { usually, inTrouble, least, most } = AROUND;
  const factor = (inTrouble / usually) ** failing * ((1 - inTrouble) / (1 - usually)) ** (changes - failing);
  return Math.min(most, Math.max(least, factor));
}

/** How likely a change that breaks tests breaks so many of them. */
const breaksSo = (count: number): number => count ** -TOGETHER_POWER / TOGETHER_SUM;

/** How likely a test that fails with this rate fails and passes so often. */
export const runs = (rate: number, failures: number, passes: number): number => rate ** failures * (1 - rate) ** passes;

/** How often a change is based on a commit that has what the default branch has broken. */
const HAS_BREAK = 0.7;

interface OnBase {
  /** How many times likelier or less likely its results make each explanation but flakiness. */
  change: number;
  broken: number;
  infrastructure: number;
  /** Results that speak for each rate of a flaky test. */
  failures: number;
  passes: number;
}

/**
 * What the results of the base commit say. The history of a test that is flaky or broken on the default branch has them already, so
 * they tell no more than whether the base has the break. Where it is healthy, it fails as it does there: neither the change nor the
 * trouble of this run is on the base.
 */
function onBase({ base, weights, health }: ClaimEvidence): OnBase {
  const { failures, passes } = base ?? { failures: 0, passes: 0 };
  const healthy = runs(1 - FAILS, failures, passes);
  const broken = runs(FAILS, failures, passes);
  if (health === 'flaky' || health === 'broken') {
    const has = HAS_BREAK * broken;
    return { change: 1, broken: has / (has + (1 - HAS_BREAK) * healthy), infrastructure: 1, failures: 0, passes: 0 };
  }
  const usual = weights.reduce((sum, weight, state) => {
    const rate = FLAKY_RATES[state - 1];
    return sum + weight * (state === 0 ? healthy : rate === undefined ? broken : runs(rate, failures, passes));
  }, 0);
  return { change: usual, broken, infrastructure: usual, failures, passes };
}

/** The same over all rates: failures! passes! / (failures + passes + 1)!. */
function anyRate(failures: number, passes: number): number {
  let result = 1 / (failures + passes + 1);
  for (let i = 1; i <= passes; i++) result *= i / (failures + i);
  return result;
}

/** More reruns than this are not asked for. */
export const RERUNS_MAX = 50;

/**
 * How many reruns in the same leg would decide if they all fail, and what they would show. Null if so many would not, or if
 * nothing is left to decide.
 */
export function rerunsNeeded(evidence: ClaimEvidence): { reruns: number; verdict: ClaimVerdict } | null {
  if (claimVerdict(explanationsOf(evidence), evidence) !== 'unknown') return null;
  for (let reruns = 1; reruns <= RERUNS_MAX; reruns++) {
    const after = { ...evidence, failures: evidence.failures + reruns };
    const verdict = claimVerdict(explanationsOf(after), after);
    if (verdict !== 'unknown') return { reruns, verdict };
  }
  return null;
}
