/**
 * The belief about one identity (test, pipeline, CI job), and what is said of it: a Bayes filter over *healthy*,
 * *flaky* at one of a few rates, and *broken*. The state changes between commits, rarely without one (broken from outside).
 * It is plain data; belief-fold.ts says how executions change it.
 */
import { afterPasses, BROKEN, flakyOf, newWeights, rateOf } from './belief-weights.ts';
import type { Position } from './execution.ts';
import type { Health } from './status.ts';

/** From which probability on something is said of a test, and until which. */
export interface HealthLevels {
  flakyFrom: number;
  /** Far below `flakyFrom`, so that a lucky row of passes is not a recovery. */
  flakyUntil: number;
  brokenFrom: number;
  brokenUntil: number;
}
export const HEALTH_LEVELS: HealthLevels = { flakyFrom: 0.8, flakyUntil: 0.05, brokenFrom: 0.6, brokenUntil: 0.4 };
/** A test that is so likely not healthy is called broken while it fails, else what is likelier. */
const UNHEALTHY_FROM = 0.97;
/** From here on, a test that was flaky, broken or unknown is surely healthy. */
export const SURE_FROM = 0.97;

/** Executions in each list. */
export const EVIDENCE_KEPT = 8;
/** An execution that may become evidence. */
export interface WeighedPlace {
  executionId: string;
  /** Empty when unknown. */
  commit: string;
  /** Milliseconds since the epoch. */
  finishedAt: number;
}

export interface Evidence extends WeighedPlace {
  /** Whether the test was called flaky while this was evidence: then the execution counts as flaky. */
  isFlaky: boolean;
  /** From a pull request that passed on the same commit: statistics of the default branch do not count it. */
  isContradicted: boolean;
}

export interface Belief {
  /** Healthy, flaky at each of {@link FLAKY_RATES}, broken; they add up to 1. Before the passes that are only counted. */
  weights: readonly number[];
  /** Clean passes since. */
  passes: number;
  /** How much of the weight of broken was flaky before. */
  brokenFromFlaky: number;
  /** How much of the weight of healthy was broken on `failingCommits` and fixed since. */
  fixedShare: number;
  /** The commit of the last execution. */
  commit: string;
  /** Commits with a failure, newest last. */
  failingCommits: readonly { commit: string; at: number }[];
  /** The last failure, how likely its run explains it if the test is healthy, and what else `RunTrouble` says of its run. */
  trouble: { at: number; share: number; shared: number; lasting: number; together: number };
  /** When the weights were last weighed, and when the last execution finished; both 0 while it has only passed. */
  weighedAt: number;
  seenAt: number;
  status: Health;
  /** Whether it was flaky before it broke. */
  wasFlaky: boolean;
  /** Whether it was sure to be healthy at some failure since it was last called flaky or broken: {@link isSurelyHealthy}. */
  wasSure: boolean;
  /** Failures, and passes after failed attempts, that its own flakiness explains best, newest last. */
  evidence: readonly Evidence[];
  /** The first failures since the last pass, oldest first. */
  streak: readonly WeighedPlace[];
}

export const newBelief = (): Belief => ({
  weights: newWeights(),
  passes: 0,
  brokenFromFlaky: 0,
  fixedShare: 0,
  commit: '',
  failingCommits: [],
  trouble: { at: 0, share: 0, shared: 0, lasting: 0, together: 0 },
  weighedAt: 0,
  seenAt: 0,
  status: 'healthy',
  wasFlaky: false,
  wasSure: false,
  evidence: [],
  streak: [],
});

/** The belief after some of the executions of an identity. */
export interface BeliefAt {
  /** The last execution that it knows; null before the first. */
  at: Position | null;
  belief: Belief;
}

/** Nothing is known yet. */
export const unknownBelief = (): BeliefAt => ({ at: null, belief: newBelief() });

export interface Probabilities {
  healthy: number;
  flaky: number;
  broken: number;
  /** How often the test fails on its own while it is flaky. */
  flakyRate: number;
}

/**
 * The weights, with the passes since.
 *
 * @param mayChange whether it may have come to fail at another rate meanwhile, if it is flaky.
 */
export function weightsOf({ weights, passes, weighedAt, seenAt }: Belief, mayChange = true): readonly number[] {
  // No one knows when a test that has only passed first did.
  const lasted = weighedAt === 0 ? Number.POSITIVE_INFINITY : Math.max(0, seenAt - weighedAt);
  return afterPasses(weights, { count: passes, lasted, mayChange });
}

export function probabilitiesOf(belief: Belief): Probabilities {
  const weights = weightsOf(belief);
  const flaky = flakyOf(weights);
  return { healthy: weights[0] ?? 0, flaky, broken: weights[BROKEN] ?? 0, flakyRate: rateOf(weights) };
}

export interface Verdict {
  status: Health;
  /** How likely the status is right: of *healthy*, how likely the test is neither flaky nor broken. */
  probability: number;
  /** The executions that decided, oldest first: of *flaky* its own failures, of *broken* the first since the last pass. */
  evidence: readonly WeighedPlace[];
}

/** Whether a test has failed on two commits or more by a moment, for so many milliseconds and without a pass between. */
export function keepsFailing(
  { status, streak }: Pick<Belief, 'status' | 'streak'>,
  at: number,
  since: number,
): boolean {
  const [first] = streak;
  return (
    first !== undefined &&
    status !== 'flaky' &&
    at - first.finishedAt >= since &&
    streak.some(({ commit }) => commit !== first.commit)
  );
}

/** Failures since the last pass that are evidence of flaky. */
export function evidenceInRow({ evidence, streak }: Pick<Belief, 'evidence' | 'streak'>): readonly Evidence[] {
  const [first] = streak;
  if (!first) return [];
  return evidence.filter(
    ({ executionId, finishedAt, isContradicted }) =>
      !isContradicted &&
      (finishedAt > first.finishedAt || streak.some((failure) => failure.executionId === executionId)),
  );
}

/** The verdict about the test, how sure it is, and why. The first execution of the evidence says since which commit. */
export function verdictOf(belief: Belief): Verdict {
  const { status, evidence, streak } = belief;
  const because = { healthy: [], flaky: evidence, broken: streak };
  return { status, probability: probabilitiesOf(belief)[status], evidence: because[status] };
}

interface Sureness {
  /** The probabilities of this belief, where they are known already. */
  probabilities?: Pick<Probabilities, 'healthy'>;
  /** How likely the test must be healthy. */
  confidence?: number;
}

/**
 * Whether the test is healthy with a probability of 97 %, or was and has not been called flaky or broken since: a failure
 * that its run explains does not take it back.
 */
export const isSurelyHealthy = (belief: Belief, { probabilities, confidence = SURE_FROM }: Sureness = {}): boolean =>
  belief.status === 'healthy' &&
  ((belief.wasSure && confidence <= SURE_FROM) || (probabilities ?? probabilitiesOf(belief)).healthy >= confidence);

/**
 * The status of a test, by its status before. A flaky one is healthy again once it would have failed at its rate; that it
 * fails at another one, more rarely, only keeps it from being surely healthy.
 */
export function statusAfter(
  { status, wasFlaky }: Pick<Belief, 'status' | 'wasFlaky'>,
  belief: Belief,
  { flakyFrom, flakyUntil, brokenFrom, brokenUntil } = HEALTH_LEVELS,
): Health {
  const { flaky, broken } = probabilitiesOf(belief);
  if (broken >= (status === 'broken' ? brokenUntil : brokenFrom)) return 'broken';
  const wasCalledFlaky = status === 'flaky' || (status === 'broken' && wasFlaky);
  if (wasCalledFlaky ? flakyOf(weightsOf(belief, false)) >= flakyUntil : flaky >= flakyFrom) return 'flaky';
  // One of the two, though it is not clear which. A test that has only failed lately is not called flaky for it.
  if (flaky + broken >= UNHEALTHY_FROM) return flaky > broken && belief.streak.length === 0 ? 'flaky' : 'broken';
  return 'healthy';
}
