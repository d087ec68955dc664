/** How a scenario ended, by its steps. */
import type { Status } from '../../domain/status.ts';

/** From the best to the worst, as Cucumber ranks them; behave has `error` and `untested`. */
const RANKED = ['unknown', 'passed', 'untested', 'skipped', 'pending', 'undefined', 'ambiguous', 'failed', 'error'];

export const rankOf = (status: string): number => RANKED.indexOf(status.toLowerCase());

export type StepStatus = Status | 'pending';

/** A step that is not defined, or defined twice, fails its run; a pending one does so unless it was told not to. */
export function statusOf(rank: number): StepStatus {
  const word = RANKED[rank];
  if (word === 'pending') return 'pending';
  if (word === 'skipped' || word === 'untested') return 'skipped';
  return rank <= RANKED.indexOf('passed') ? 'passed' : 'failed';
}
