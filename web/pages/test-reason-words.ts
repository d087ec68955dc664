/** The explanation of one pipeline and CI job, in words. */
import type { Explanation } from '../../src/explain/explanation-schema.ts';
import { formatCount, formatCounted, formatProbability, formatShare } from '../ui/format.ts';

type Identity = Explanation['identities'][number];
type Reason = Pick<
  Identity,
  | 'health_status'
  | 'health_probability'
  | 'has_enough_runs'
  | 'flaky_rate'
  | 'executions_count'
  | 'flaky_count'
  | 'held_back_count'
  | 'clean_passes'
  | 'clean_passes_needed'
>;

export function reasonInWords(one: Reason): string {
  const { health_status: health, held_back_count: held } = one;
  const probability = formatProbability(one.health_probability);
  return [
    `${formatCounted(one.executions_count, 'execution')} on the default branch: ${formatCount(one.flaky_count)} flaky, ${formatCount(held)} failed because of ${held === 1 ? 'its run' : 'their runs'}.`,
    one.has_enough_runs
      ? `It is ${health} with a probability of ${probability}.`
      : `They are not enough to be sure: it is ${health} with a probability of ${probability}.`,
    ...(health === 'flaky'
      ? [`On its own, it fails in about ${formatShare(one.flaky_rate)} of its runs.`, ...passesInWords(one)]
      : []),
  ].join(' ');
}

/** How many passes make a flaky test healthy. A pass counts if none of its attempts failed. */
function passesInWords({ clean_passes: passes, clean_passes_needed: needed }: Reason): string[] {
  if (needed === null) return [];
  const end = `after ${formatCounted(needed, 'more such pass', 'more such passes')} in a row it is surely healthy.`;
  return passes === 0
    ? [`Its newest execution did not pass at the first attempt; ${end}`]
    : [`It has passed ${formatCounted(passes, 'time')} in a row at the first attempt; ${end}`];
}

/** Said instead of changes. Those of months that have left may not be known. */
export const unchangedInWords = (health: Identity['health_status']): string =>
  health === 'healthy' ? 'No change of its health is known.' : `It has been ${health} for as long as is known.`;
