/** The belief about a test before it failed on a commit, from the belief of today. Pure. */
import { type Belief, weightsOf } from './belief.ts';
import { afterPasses, BROKEN, newWeights, normalised, ratesBefore } from './belief-weights.ts';
import type { Health } from './status.ts';

/** How sure a health of which nothing else is known any more is. */
const SURE = 0.95;

export interface BeliefToday {
  belief: Belief;
  /** Executions of the leg on the default branch. */
  executions: number;
}

/**
 * Weights of healthy, flaky at each rate and broken. The belief of today knows what came after the failure: if it has led to
 * another health, or the belief rests on the commit itself, all that is taken over is what the test was then.
 *
 * @param today of the leg, or of the one that is nearest to it; undefined for a test that never ran on the default branch
 * @param health on the default branch when it failed
 */
export function weightsBefore(
  today: BeliefToday | undefined,
  { health, commit }: { health: Health | null; commit: string },
): readonly number[] {
  if (!today || health === null) return newWeights();
  const { belief, executions } = today;
  const restsOnCommit = [...belief.evidence, ...belief.streak].some((one) => one.commit === commit);
  if (belief.status === health && !restsOnCommit) return weightsOf(belief);
  const passed = afterPasses(newWeights(), {
    count: Math.max(0, executions - 1),
    lasted: Number.POSITIVE_INFINITY,
    mayChange: true,
  });
  if (health === 'healthy') return normalised(passed.map((weight, state) => (state === BROKEN ? 0 : weight)));
  if (health === 'broken') return mixed(passed, (state) => (state === BROKEN ? 1 : 0));
  const rates = ratesBefore(belief.status === 'broken' ? newWeights() : weightsOf(belief), 0);
  return mixed(passed, (state) => (state === 0 || state === BROKEN ? 0 : (rates[state - 1] ?? 0)));
}

/** Surely of these states, else as it was. */
const mixed = (weights: readonly number[], shareOf: (state: number) => number): number[] =>
  weights.map((weight, state) => SURE * shareOf(state) + (1 - SURE) * weight);
