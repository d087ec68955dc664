/** How sure a health is: what lists, details and explanations say beside it. Pure. */
import { type Belief, isSurelyHealthy, type Probabilities, probabilitiesOf } from './belief.ts';
import type { Position } from './execution.ts';
import { PASSED } from './only-passed.ts';
import type { Health } from './status.ts';

/** From least to most. */
export const LEVELS = ['low', 'medium', 'high'] as const;
export type Level = (typeof LEVELS)[number];

/**
 * How likely a health must be for the confidence to be medium, and high. Most tests are healthy, so little is needed to
 * think so of a new one: 97 % takes 45 clean passes, 99 % takes 259.
 */
const CONFIDENCES: Readonly<Record<Health, readonly [medium: number, high: number]>> = {
  healthy: [0.97, 0.99],
  flaky: [0.8, 0.95],
  broken: [0.8, 0.95],
};

/** The belief about an identity after some of its executions. */
interface Known {
  /** The last of them; null before the first that passed or failed. */
  at: Position | null;
  belief: Belief;
}

export interface HealthConfidence {
  /** How likely the health is right, to three digits; null if the test was not judged yet. */
  probability: number | null;
  confidence: Level;
  /** False: what is said of the test is likeliest, but it has not run often enough to know. */
  hasEnoughRuns: boolean;
}

const UNKNOWN: HealthConfidence = { probability: null, confidence: 'low', hasEnoughRuns: false };

/** @param health as it is shown: where flaky tests are not looked for, one that only may be flaky is healthy. */
export function healthConfidence(health: Health, { at, belief }: Known): HealthConfidence {
  if (at === null) return UNKNOWN;
  const probabilities = knownProbabilities(belief);
  const probability = likelihoodOf(health, belief, probabilities);
  const [medium, high] = CONFIDENCES[health];
  const confidence = probability >= high ? 'high' : probability >= medium ? 'medium' : 'low';
  const hasEnoughRuns =
    health === 'flaky' ||
    // A few failures of a new test: it may as well be flaky.
    (health === 'broken' && probability >= 0.5) ||
    (health === 'healthy' && (confidence !== 'low' || isSurelyHealthy(belief, { probabilities })));
  return { probability: Math.round(1_000 * probability) / 1_000, confidence, hasEnoughRuns };
}

const REMEMBERED_MAX = 10_000;
/**
 * Probabilities of tests that have only passed, by how often after the first time: nearly all tests, with the same few
 * numbers.
 */
const ofPassed = new Map<number, Probabilities>();

function knownProbabilities(belief: Belief): Probabilities {
  if (belief.weights !== PASSED.weights) return probabilitiesOf(belief);
  let known = ofPassed.get(belief.passes);
  if (known === undefined) {
    if (ofPassed.size >= REMEMBERED_MAX) ofPassed.clear();
    known = probabilitiesOf(belief);
    ofPassed.set(belief.passes, known);
  }
  return known;
}

/** A probability as people read it, with the digits of the API. 100% is never true. */
export const percent = (probability: number): string => `${Math.min(999, Math.round(1_000 * probability)) / 10}%`;

function likelihoodOf(health: Health, belief: Belief, probabilities: Probabilities): number {
  return health === 'healthy' && belief.status === 'flaky' ? 1 - probabilities.broken : probabilities[health];
}

/**
 * Confidence in the health of a test, from its identities that count: the likeliest of those that make it so. For a healthy
 * test it is the least likely, because every identity must be healthy.
 */
export function confidenceOfTest(
  health: Health,
  identities: readonly (Known & { health: Health })[],
): HealthConfidence {
  const found = identities
    .filter((one) => one.health === health)
    .map((one) => healthConfidence(health, one))
    .sort((one, other) => (one.probability ?? 0) - (other.probability ?? 0));
  return (health === 'healthy' ? found[0] : found.at(-1)) ?? UNKNOWN;
}
