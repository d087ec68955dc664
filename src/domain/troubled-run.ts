/** A run that is judged (judge-runs.ts) as people see it: whether it is troubled, and why. Pure. */
import type { RunMeaning } from './judge-runs.ts';

/**
 * How much trouble a run was in. `partial`: {@link UNEXPECTED_MIN} tests or more failed unexpectedly, and a healthy test
 * fails in it with a probability of {@link PARTIAL_FROM} at least; `total`: of {@link TOTAL_FROM}.
 */
export const TROUBLES = ['none', 'partial', 'total'] as const;
type Trouble = (typeof TROUBLES)[number];

/** Far more than any commit breaks a test: then the run is the likelier cause of a failure. */
const PARTIAL_FROM = 0.01;
const TOTAL_FROM = 0.75;
/** More than any commit breaks a test: a single failure may come from either. */
const DOUBTFUL_FROM = 0.001;
/** With fewer unexpected failures, the commit may as well have broken the tests: the run is not called troubled. */
export const UNEXPECTED_MIN = 3;

export interface ShownRun {
  executions: number;
  /** Failures, and passes after failed attempts, of tests that were healthy before it. */
  unexpectedCount: number;
  /** Null if nothing went wrong in it. */
  meaning: RunMeaning | null;
}

export interface RunExplanation {
  trouble: Trouble;
  /** In a sentence for people; null if nothing went wrong in the run. */
  reason: string | null;
}

export function explainRun(run: ShownRun | undefined): RunExplanation {
  if (!run?.meaning) return { trouble: 'none', reason: null };
  const { executions, unexpectedCount, meaning } = run;
  const { healthyFails, isShared } = meaning.unexpected;
  const isSameAgain = meaning.unexpected.brokenAfter > 0;
  const trouble = unexpectedCount < UNEXPECTED_MIN || isSameAgain ? 'none' : troubleOf(healthyFails);
  const counted = `${unexpectedCount} of ${executions} executions failed unexpectedly`;
  if (isSameAgain) return { trouble, reason: `${counted}: just the tests that failed in the runs before` };
  if (trouble === 'none') {
    const why =
      healthyFails >= DOUBTFUL_FROM
        ? 'with so few tests, nothing tells a bad run from a bad test'
        : 'too few to be trouble';
    return { trouble, reason: `${counted}: ${why}` };
  }
  const ownShare = (isShared * Math.max(0, unexpectedCount - 1)) / Math.max(1, executions);
  const others = ownShare >= healthyFails / 2 ? '' : ', and so did others in the hour or day before it';
  const meant = `a healthy test fails in this run with a probability of ${percent(healthyFails)}`;
  return { trouble, reason: `${counted}${others}: ${meant}` };
}

const troubleOf = (healthyFails: number): Trouble =>
  healthyFails >= TOTAL_FROM ? 'total' : healthyFails >= PARTIAL_FROM ? 'partial' : 'none';

const percent = (share: number): string => `${Number((100 * share).toPrecision(2))}%`;
