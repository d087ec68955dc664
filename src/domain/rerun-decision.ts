/**
 * What reruns of one test on the same code show: whether it is flaky or fails always, and whether that is sure enough to stop.
 * How likely each makes what was seen is the rule of claims (change-claim.ts); the two begin with even odds. Pure.
 */
import { FLAKY_RATES, RATE_SHARES } from './belief-weights.ts';
import { FAILS, runs } from './change-claim.ts';

export interface Reruns {
  failures: number;
  passes: number;
}

/** `flaky`: passed and failed. `broken`: fails always. `passes`: a test with this rate would have failed by now. */
type RerunVerdict = 'flaky' | 'broken' | 'passes';

export interface RerunDecision {
  /** The likeliest; null before the first run. */
  verdict: RerunVerdict | null;
  /** Probability of the verdict, from 0 to 1. */
  probability: number;
}

/** @param rate how often the test fails where it is flaky; null: not known, so any rate of flaky tests counts, as often as it occurs */
export function rerunDecision({ failures, passes }: Reruns, rate: number | null): RerunDecision {
  if (failures > 0 && passes > 0) return { verdict: 'flaky', probability: 1 };
  const flaky = flakyRuns({ failures, passes }, rate);
  if (passes > 0) return { verdict: 'passes', probability: 1 - flaky };
  if (failures === 0) return { verdict: null, probability: 0 };
  const broken = runs(FAILS, failures, 0);
  return { verdict: 'broken', probability: broken / (broken + flaky) };
}

/** How likely a flaky test fails and passes so often. */
function flakyRuns({ failures, passes }: Reruns, rate: number | null): number {
  if (rate !== null) return runs(Math.min(HIGHEST, Math.max(LOWEST, rate)), failures, passes);
  return FLAKY_RATES.reduce((sum, one, i) => sum + (RATE_SHARES[i] ?? 0) * runs(one, failures, passes), 0);
}

/** The lowest and the highest rate of flaky tests. One that fails more often cannot be told from one that always fails. */
const LOWEST = Math.min(...FLAKY_RATES);
const HIGHEST = Math.max(...FLAKY_RATES);

/** One run alone is no rerun: it decides nothing, however rarely the test fails. */
const RUNS_MIN = 2;

/** Whether it is sure enough to stop. */
export const isDecided = ({ failures, passes }: Reruns, { probability }: RerunDecision, until: number): boolean =>
  failures + passes >= RUNS_MIN && probability >= until;
