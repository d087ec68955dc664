/**
 * What was believed of an identity some passes ago. Clean passes are only counted (belief-fold.ts), so they can be taken back
 * without a look at what came before them. Pure.
 */
import type { Belief } from './belief.ts';

/**
 * The belief before its last executions, if they are all clean passes; undefined if it does not follow from what is believed
 * now.
 *
 * @param passes how many came since.
 * @param commit of the last execution before them.
 */
export function beforePasses(belief: Belief, passes: number, commit: string): Belief | undefined {
  // One pass that stays has ended what was before it.
  if (passes >= belief.passes) return undefined;
  // By passing, a flaky test recovers, and at which pass it did is not known. No other health changes by a second pass.
  const isSame = belief.status === 'flaky' || (belief.status === 'healthy' && !belief.wasFlaky);
  return isSame ? { ...belief, passes: belief.passes - passes, commit } : undefined;
}
