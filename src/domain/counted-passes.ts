/**
 * Clean passes that are only counted (belief-fold.ts): they can be added, also among those that were counted before, and
 * taken back, without a look at what came before them. Pure.
 */
import { type Belief, statusAfter } from './belief.ts';
import { BROKEN } from './belief-weights.ts';
import { countFrom, type DayCounts, endOfDays } from './flat-counts.ts';
import { RATIO_DAYS } from './test-state.ts';
import { dayOf } from './time.ts';

/**
 * Whether so many more clean passes are only counted: it does not matter how many there are at once. After a break, a pass on a
 * commit that failed then says more; and at one of its passes, a flaky test recovers.
 *
 * @param isOn whether one of the passes is on this commit
 */
export const isCounting = (belief: Belief, passes: number, isOn: (commit: string) => boolean): boolean =>
  belief.weights[BROKEN] === 0 &&
  (belief.fixedShare === 0 || !belief.failingCommits.some(({ commit }) => isOn(commit))) &&
  staysAsItIs(belief, passes);

const staysAsItIs = (belief: Belief, passes: number): boolean =>
  belief.status === 'healthy' ||
  (belief.status === 'flaky' && statusAfter(belief, { ...belief, passes: belief.passes + passes }) === 'flaky');

/**
 * The belief after so many more clean passes, while {@link isCounting} them.
 *
 * @param commit of the last of them.
 */
export const afterCounted = (belief: Belief, passes: number, commit: string): Belief => ({
  ...belief,
  passes: belief.passes + passes,
  commit,
});

/**
 * Whether passes that arrive late come among those that were counted, while {@link isCounting} them. If fewer executions are
 * known since the beginning of a day than were counted, then counting began before that day.
 *
 * @param days of the identity
 * @param from when the first of the late passes finished
 */
export function areAmongCounted(belief: Belief, days: DayCounts, from: number): boolean {
  const day = dayOf(from);
  const isDayKnown = day >= (endOfDays(days) ?? 0) - RATIO_DAYS;
  return isDayKnown && wasAsItIs(belief) && countFrom(days, day) < belief.passes;
}

/**
 * The belief before its last executions, if they are all clean passes; undefined if it does not follow from what is believed
 * now.
 *
 * @param passes how many came since.
 * @param commit of the last execution before them.
 */
export const beforePasses = (belief: Belief, passes: number, commit: string): Belief | undefined =>
  // One pass that stays has ended what was before it.
  passes < belief.passes && wasAsItIs(belief) ? { ...belief, passes: belief.passes - passes, commit } : undefined;

/** By passing, a flaky test recovers, and at which pass it did is not known. No other health changes by a second pass. */
const wasAsItIs = ({ status, wasFlaky }: Belief): boolean => status === 'flaky' || (status === 'healthy' && !wasFlaky);
