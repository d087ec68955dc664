/**
 * A test that has never done anything but pass, as nearly every test: what is believed of it is a number of passes, so it
 * does not matter in which order they come. Pure.
 */
import { type Belief, newBelief } from './belief.ts';
import { foldBelief } from './belief-fold.ts';

/** After one pass. Each further one changes nothing but the count and the commit. */
export const PASSED: Belief = foldBelief(newBelief(), { executionId: '', result: 'passed', finishedAt: 0, commit: '' });

/** The belief after so many passes of a test that was not known, one at least; `commit` is that of the last. */
export const passedOnly = (passes: number, commit: string): Belief => ({ ...PASSED, passes: passes - 1, commit });

/** Whether nothing but passes came. */
export const hasOnlyPassed = (belief: Belief): boolean =>
  belief.status === 'healthy' &&
  belief.weighedAt === 0 &&
  !belief.wasFlaky &&
  !belief.wasSure &&
  belief.failingCommits.length + belief.evidence.length + belief.streak.length === 0 &&
  belief.fixedShare === PASSED.fixedShare &&
  belief.brokenFromFlaky === PASSED.brokenFromFlaky &&
  // Usually the same array: beliefs share it when they are read or made.
  (belief.weights === PASSED.weights || belief.weights.every((weight, i) => weight === PASSED.weights[i]));
