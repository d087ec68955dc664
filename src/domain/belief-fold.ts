/**
 * The fold of a belief (belief.ts) over executions, in the order of finishing. A failure can be explained by the test or by
 * its run: `RunTrouble` (run-trouble.ts) says how likely a healthy test fails in it. Pure; it can stop anywhere and continue
 * later.
 *
 * Clean passes of a test that is not broken are only counted, and weighed in closed form when something else happens, so a
 * test that has only passed is a number.
 */
import {
  type Belief,
  EVIDENCE_KEPT,
  type Evidence,
  evidenceInRow,
  HEALTH_LEVELS,
  isSurelyHealthy,
  keepsFailing,
  statusAfter,
  type WeighedPlace,
  weightsOf,
} from './belief.ts';
import { BROKEN, FLAKY_RATES, flakyOf, normalised, RATE_SHARES, rateOf, ratesBefore, sum } from './belief-weights.ts';
import { breakFactor, type OtherLegsClue } from './other-legs.ts';
import { RARE_TROUBLE, type RunTrouble, TROUBLE_LASTS_MS } from './run-trouble.ts';
import { DAY_MS } from './time.ts';

/** A broken test fails, but a pass now and then proves no fix (matrix legs, a name that two tests share). */
export const BROKEN_FAILS = 0.997;
/** How often a test that is broken on the default branch passes and fails on one commit of a pull request. */
const BROKEN_CONTRADICTED = 0.05;

/** For each commit that breaks a test, how many times something else does, from one execution to the next. */
const OUTSIDE_SHARE = 4 / 7;
/** How likely a commit ends a break, and how likely something else does. */
export const CHANCE_OF_FIX = { byCommit: 0.1, fromOutside: 0.004 } as const;

const COMMITS_KEPT = 4;
const COMMITS_KEPT_MS = 14 * DAY_MS;
/** Below this, what is left of broken is no longer followed. */
const BROKEN_FOLLOWED = 1e-4;

/** The fields of an execution on the default branch that the fold needs. Skipped ones are not folded. */
export interface WeighedExecution extends WeighedPlace {
  /** `retried`: it passed, after failed attempts within the run. */
  result: 'passed' | 'failed' | 'retried';
}

/** The belief after one more execution. Does not change `belief`. */
export function foldBelief(belief: Belief, execution: WeighedExecution, trouble: RunTrouble = RARE_TROUBLE): Belief {
  if (execution.result === 'passed') return afterPass(belief, execution);
  return execution.result === 'failed'
    ? afterFailure(belief, execution, unlessBroken(belief, execution, trouble))
    : afterRetry(belief, execution, trouble);
}

/** Possible causes of a failure: the test itself (it is flaky), its run, a commit that broke it, or the world outside. */
export const CAUSES = ['test', 'run', 'commit', 'outside'] as const;
export type Cause = (typeof CAUSES)[number];

/**
 * The likeliest cause of a failure, or of the failed attempts before a pass, by what was believed before it. If a test
 * breaks on a new commit, the commit did it; on a commit that had passed, it was broken from outside.
 */
export function causeOf(belief: Belief, execution: WeighedExecution, trouble: RunTrouble): Cause {
  const weights = weightsOf(belief);
  const isRetry = execution.result === 'retried';
  const { breaks, healthyFails } = isRetry
    ? { breaks: 0, healthyFails: endedWithin(0, trouble) }
    : oddsOf(belief, execution, unlessBroken(belief, execution, trouble));
  let own = 0;
  for (const [i, rate] of FLAKY_RATES.entries())
    own += (weights[i + 1] ?? 0) * (1 - breaks) * (1 - healthyFails) * rate * (isRetry ? 1 - rate : 1);
  const unbroken = sum(weights.slice(0, BROKEN));
  const run = unbroken * (1 - breaks) * healthyFails;
  const broken = isRetry ? 0 : (weights[BROKEN] ?? 0) + unbroken * breaks;
  if (broken > Math.max(own, run)) return breakerOf(belief, execution);
  return own > run ? 'test' : 'run';
}

/** The cause of the break, if this failure begins one. */
export const breakerOf = (belief: Belief, execution: WeighedPlace): Extract<Cause, 'commit' | 'outside'> =>
  isNewCommit(belief, execution) ? 'commit' : 'outside';

/** The belief after one commit of a pull request both passed and failed, by that moment. It says nothing about broken. */
export function foldContradiction(belief: Belief, failure: WeighedPlace, trouble: RunTrouble, at: number): Belief {
  const weights = [...weightsOf(belief)];
  const healthyFails = endedWithin(Math.abs(at - failure.finishedAt), trouble);
  for (let i = 0; i < BROKEN; i++) {
    const rate = i === 0 ? 0 : (FLAKY_RATES[i - 1] ?? 0);
    weights[i] = (weights[i] ?? 0) * (healthyFails + (1 - healthyFails) * rate) * (1 - rate);
  }
  const broken = weights[BROKEN] ?? 0;
  const others = sum(weights.slice(0, BROKEN));
  // Never likelier than before.
  const weighed = Math.min(broken * BROKEN_CONTRADICTED, broken === 1 ? 1 : (others * broken) / (1 - broken));
  weights[BROKEN] = others === 0 ? broken : weighed;
  const isOwn = healthyFails < rateOf(weights);
  return withStatus({
    ...belief,
    ...weighedAsOf(at),
    weights: normalised(weights),
    wasSure: isSurelyHealthy(belief),
    evidence: isOwn ? withEvidence(belief.evidence, failure, true) : belief.evidence,
  });
}

/** The belief after another leg showed something about the last failure, if that is the first of a row. */
export function foldOtherLegs(belief: Belief, shown: OtherLegsClue): Belief {
  const [first, ...later] = belief.streak;
  if (first?.executionId !== shown.failure.executionId || later.length > 0) return belief;
  const weights = [...belief.weights];
  // In a run in trouble, the other legs may be in the same trouble.
  weights[BROKEN] = (weights[BROKEN] ?? 0) * breakFactor(shown) ** (1 - belief.trouble.shared);
  const next = { ...belief, weights: normalised(weights), wasSure: isSurelyHealthy(belief) };
  const status = statusAfter(belief, next);
  // Other legs call no test flaky: only its own results do.
  const wasFlaky = belief.status === 'flaky' || belief.wasFlaky;
  return withStatus(next, status === 'flaky' && !wasFlaky ? 'healthy' : status);
}

/** Whether a pass on a new commit is only counted: the test is not broken. */
export const isPassCounted = ({ weights }: Belief): boolean => (weights[BROKEN] ?? 0) === 0;

/** The belief after so many clean passes that are only counted ({@link isPassCounted}), the last at that moment. */
export function afterCleanPasses(belief: Belief, count: number, finishedAt: number, commit = belief.commit): Belief {
  const seenAt = belief.weighedAt === 0 ? 0 : finishedAt;
  const passed = ended({ ...belief, passes: belief.passes + count, seenAt, commit });
  // Only a flaky test can change by passing.
  return belief.status === 'healthy' ? passed : withStatus(passed);
}

function afterPass(belief: Belief, execution: WeighedExecution): Belief {
  const isContradiction = isFailingCommit(belief, execution);
  if (isPassCounted(belief) && !(isContradiction && belief.fixedShare > 0))
    return afterCleanPasses(belief, 1, execution.finishedAt, execution.commit);
  const isNew = isNewCommit(belief, execution);
  const weights = [...weightsOf(belief)];
  if (isContradiction && belief.commit === execution.commit) weighEndOfTrouble(weights, belief, execution);
  let { fixedShare } = belief;
  if (isContradiction && belief.commit !== execution.commit) {
    // It was not the commit that broke the test.
    const healthy = weights[0] ?? 0;
    weights[0] = healthy * (1 - fixedShare * (1 - OUTSIDE_SHARE));
    // A break that ended for one commit ended for all of them: the others say nothing new.
    fixedShare = 0;
  }
  const broken = weights[BROKEN] ?? 0;
  const fixed = broken * (isNew && !isContradiction ? CHANCE_OF_FIX.byCommit : CHANCE_OF_FIX.fromOutside);
  // It is as flaky again as it was before the break. Of a row that is longer than what is kept, that is not known any more.
  const rates = belief.streak.length < EVIDENCE_KEPT ? ratesBefore(weights, belief.streak.length) : RATE_SHARES;
  const back = fixed * (1 - belief.brokenFromFlaky);
  const healthy = (weights[0] ?? 0) + back;
  fixedShare = healthy === 0 ? 0 : ((weights[0] ?? 0) * fixedShare + back) / healthy;
  weights[0] = healthy;
  for (const [i, rate] of FLAKY_RATES.entries())
    weights[i + 1] = ((weights[i + 1] ?? 0) + fixed * belief.brokenFromFlaky * (rates[i] ?? 0)) * (1 - rate);
  weights[BROKEN] = (broken - fixed) * (1 - BROKEN_FAILS);
  const normal = normalised(weights);
  if ((normal[BROKEN] ?? 0) < BROKEN_FOLLOWED) normal[BROKEN] = 0;
  const { commit } = execution;
  const now = belief.weighedAt === 0 ? 0 : execution.finishedAt;
  return withStatus(ended({ ...belief, ...weighedAsOf(now), weights: normalised(normal), fixedShare, commit }));
}

/** The fields of a belief that was weighed at that time. */
const weighedAsOf = (now: number): Pick<Belief, 'passes' | 'weighedAt' | 'seenAt'> => ({
  passes: 0,
  weighedAt: now,
  seenAt: now,
});

/** How likely a healthy test fails in a run, and passes so many milliseconds later. */
const endedWithin = (apart: number, { healthyFails, lasting }: Pick<RunTrouble, 'healthyFails' | 'lasting'>): number =>
  healthyFails - lasting * Math.exp(-apart / TROUBLE_LASTS_MS);

/** The test passes on the commit on which it has just failed: the sooner, the less likely trouble explains the failure. */
function weighEndOfTrouble(weights: number[], { trouble, streak }: Belief, { finishedAt }: WeighedPlace): void {
  if (trouble.lasting === 0 || streak.length === 0) return;
  const healthyFails = RARE_TROUBLE.healthyFails / (1 - trouble.share);
  const ended = endedWithin(finishedAt - trouble.at, { healthyFails, lasting: trouble.lasting });
  for (let i = 0; i < BROKEN; i++) {
    const rate = i === 0 ? 0 : (FLAKY_RATES[i - 1] ?? 0);
    weights[i] = ((weights[i] ?? 0) * (ended + (1 - ended) * rate)) / (healthyFails + (1 - healthyFails) * rate);
  }
}

/** How many steps of {@link RunTrouble.together} (12 %) lie between two runs in which as many tests failed. */
const SAME_SHARE = 1.2;

/** The trouble of a run, if it is any to this test: no outage fails the same tests again and again, and as many each time. */
function unlessBroken(belief: Belief, { finishedAt }: WeighedPlace, trouble: RunTrouble): RunTrouble {
  const { together } = belief.trouble;
  const isAsMuch = Math.max(together, trouble.together) <= SAME_SHARE * Math.min(together, trouble.together);
  if (trouble.brokenAfter === 0 || !isAsMuch || !keepsFailing(belief, finishedAt, trouble.brokenAfter)) return trouble;
  const breaks = Math.max(trouble.breaks, trouble.together);
  return { ...trouble, healthyFails: RARE_TROUBLE.healthyFails, breaks, isShared: 0 };
}

/** How likely a failure breaks the test, or the infrastructure fails it, by what was known before it. */
function oddsOf(
  belief: Belief,
  execution: WeighedPlace,
  trouble: RunTrouble,
): { breaks: number; healthyFails: number } {
  const isNew = isNewCommit(belief, execution);
  const again =
    trouble.isShared * belief.trouble.share * Math.exp((belief.trouble.at - execution.finishedAt) / TROUBLE_LASTS_MS);
  return {
    breaks: trouble.anyBreaks * (isNew ? 1 : OUTSIDE_SHARE) + trouble.breaks * (isNew ? 1 : 0.1),
    healthyFails: trouble.healthyFails + (1 - trouble.healthyFails) * again,
  };
}

function afterFailure(belief: Belief, execution: WeighedExecution, trouble: RunTrouble): Belief {
  const weights = [...weightsOf(belief)];
  const { breaks, healthyFails } = oddsOf(belief, execution, trouble);
  const flakyBefore = flakyOf(weights);
  const healthyBefore = weights[0] ?? 0;
  const brokenBefore = weights[BROKEN] ?? 0;
  const broken = brokenBefore + (healthyBefore + flakyBefore) * breaks;
  const brokenFromFlaky = (brokenBefore * belief.brokenFromFlaky + flakyBefore * breaks) / broken;
  weights[0] = healthyBefore * (1 - breaks) * healthyFails;
  for (const [i, rate] of FLAKY_RATES.entries())
    weights[i + 1] = (weights[i + 1] ?? 0) * (1 - breaks) * (healthyFails + (1 - healthyFails) * rate);
  weights[BROKEN] = broken * BROKEN_FAILS;
  const after = normalised(weights);
  const rate = rateOf(after);
  const isBroken = (after[BROKEN] ?? 0) >= HEALTH_LEVELS.brokenFrom;
  const streak = belief.streak.length < EVIDENCE_KEPT ? [...belief.streak, placeOf(execution)] : belief.streak;
  // A break explains the failures with which it began.
  const explained = isBroken ? evidenceInRow({ evidence: belief.evidence, streak }) : [];
  const known = explained.length === 0 ? belief.evidence : belief.evidence.filter((one) => !explained.includes(one));
  return withStatus({
    ...belief,
    ...weighedAsOf(execution.finishedAt),
    weights: after,
    brokenFromFlaky,
    fixedShare: 0,
    wasSure: isSurelyHealthy(belief),
    commit: execution.commit,
    failingCommits: withCommit(belief, execution),
    trouble: {
      at: execution.finishedAt,
      share: 1 - Math.min(1, RARE_TROUBLE.healthyFails / healthyFails),
      shared: trouble.isShared,
      lasting: trouble.lasting,
      together: trouble.together,
    },
    evidence: healthyFails < rate && !isBroken ? withEvidence(known, execution) : known,
    streak,
  });
}

/** A failure and a pass on one commit, at once. */
function afterRetry(belief: Belief, execution: WeighedExecution, trouble: RunTrouble): Belief {
  const weights = [...weightsOf(belief)];
  const healthyFails = endedWithin(0, trouble);
  weights[0] = (weights[0] ?? 0) * healthyFails;
  for (const [i, rate] of FLAKY_RATES.entries())
    weights[i + 1] = (weights[i + 1] ?? 0) * (healthyFails + (1 - healthyFails) * rate) * (1 - rate);
  weights[BROKEN] = (weights[BROKEN] ?? 0) * BROKEN_FAILS * (1 - BROKEN_FAILS);
  const after = normalised(weights);
  const isOwn = healthyFails < rateOf(after);
  const passed = ended({ ...belief, commit: execution.commit });
  return withStatus({
    ...passed,
    ...weighedAsOf(execution.finishedAt),
    weights: after,
    wasSure: isSurelyHealthy(belief),
    evidence: isOwn ? withEvidence(passed.evidence, execution) : passed.evidence,
  });
}

/** A pass ends a row of failures. On the same commit, it shows that they were the test's own, if not their run's. */
function ended(belief: Belief): Belief {
  const { streak, trouble, commit, weights } = belief;
  if (streak.length === 0) return belief;
  const own =
    RARE_TROUBLE.healthyFails / (1 - trouble.share) < rateOf(weights)
      ? streak.filter((one) => one.commit === commit && commit !== '')
      : [];
  return { ...belief, streak: [], evidence: own.reduce((known, one) => withEvidence(known, one), belief.evidence) };
}

const isNewCommit = ({ commit, failingCommits }: Belief, execution: WeighedPlace): boolean =>
  execution.commit === '' ||
  (execution.commit !== commit && !failingCommits.some((one) => one.commit === execution.commit));

const isFailingCommit = ({ failingCommits }: Belief, { commit, finishedAt }: WeighedExecution): boolean =>
  commit !== '' && failingCommits.some((one) => one.commit === commit && one.at > finishedAt - COMMITS_KEPT_MS);

function withCommit({ failingCommits }: Belief, { commit, finishedAt }: WeighedExecution): Belief['failingCommits'] {
  if (commit === '') return failingCommits;
  const others = failingCommits.filter((one) => one.commit !== commit);
  return [...others, { commit, at: finishedAt }].slice(-COMMITS_KEPT);
}

function withEvidence(known: readonly Evidence[], place: WeighedPlace, isContradicted = false): readonly Evidence[] {
  if (known.some((one) => one.executionId === place.executionId)) return known;
  return [...known, { ...placeOf(place), isFlaky: false, isContradicted }].slice(-EVIDENCE_KEPT);
}

const placeOf = ({ executionId, commit, finishedAt }: WeighedPlace): WeighedPlace => ({
  executionId,
  commit,
  finishedAt,
});

function withStatus(belief: Belief, status = statusAfter(belief, belief)): Belief {
  const evidence = status === 'flaky' ? called(belief.evidence) : belief.evidence;
  if (status === belief.status) return evidence === belief.evidence ? belief : { ...belief, evidence };
  const wasFlaky = belief.status === 'flaky';
  // Evidence from before a recovery does not count again.
  return { ...belief, status, wasFlaky, wasSure: false, evidence: wasFlaky && status === 'healthy' ? [] : evidence };
}

/** The evidence of a test that is called flaky. */
const called = (evidence: readonly Evidence[]): readonly Evidence[] =>
  evidence.every(({ isFlaky }) => isFlaky) ? evidence : evidence.map((one) => ({ ...one, isFlaky: true }));
