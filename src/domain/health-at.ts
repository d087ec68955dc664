/** The health of an identity at some moment, from when it changed. Pure. */
import type { Health } from './status.ts';

/** A change of health, as it is stored. */
export interface HealthStep {
  /** When the execution that changed it finished; milliseconds since the epoch. */
  at: number;
  /** When the first failure of the episode finished; null on recovery. */
  beganAt: number | null;
  before: Health;
  after: Health;
}

/**
 * A failure is judged by what the default branch was when it happened: no repair changes that afterwards. Only a health of
 * `healthy` gives way to what was found out later, because an episode begins with its first failure, and is called so some
 * failures after it.
 *
 * @param steps in order of time
 * @param now the health after the last of them
 */
export function healthAt(steps: readonly HealthStep[], moment: number, now: Health): Health {
  const next = steps.find(({ at }) => at > moment);
  if (!next) return now;
  const hasBegun = next.beganAt !== null && next.beganAt <= moment;
  return next.before === 'healthy' && hasBegun ? next.after : next.before;
}
