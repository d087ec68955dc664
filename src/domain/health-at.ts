/** The health of an identity at some moment, from when it changed. Pure. */
import { type Health, worstHealth } from './status.ts';

/** A change of health, as it is stored. */
export interface HealthStep {
  /** When the execution that changed it finished; milliseconds since the epoch. */
  at: number;
  /** When the first failure of the episode finished; null on recovery. */
  beganAt: number | null;
  before: Health;
  after: Health;
}

/** A health, and for flaky or broken how long it was so. */
export interface Episode {
  health: Health;
  /** The first failure; null if healthy, and if it is not known any more. */
  beganAt: number | null;
  /** When it was healthy again; null if healthy, and if it still is not. */
  endedAt: number | null;
}

/**
 * A failure is judged by what the default branch was when it happened: no repair changes that afterwards. Only a health of
 * `healthy` gives way to what was found out later, because an episode begins with its first failure, and is called so some
 * failures after it.
 *
 * @param steps in order of time
 * @param now the health after the last of them
 */
export function episodeAt(steps: readonly HealthStep[], moment: number, now: Health): Episode {
  const found = steps.findIndex(({ at }) => at > moment);
  const later = found < 0 ? [] : steps.slice(found);
  const [next] = later;
  const hasBegun = next?.before === 'healthy' && next.beganAt !== null && next.beganAt <= moment;
  const step = hasBegun ? next : found < 0 ? steps.at(-1) : steps[found - 1];
  const health = hasBegun ? next.after : next ? next.before : now;
  if (health === 'healthy') return { health, beganAt: null, endedAt: null };
  return {
    health,
    beganAt: step?.after === health ? step.beganAt : null,
    endedAt: later.find(({ after }) => after === 'healthy')?.at ?? null,
  };
}

/** The one that {@link worstHealth} names; null without any. */
export function worstEpisode(episodes: readonly Episode[]): Episode | null {
  const worst = worstHealth(episodes.map(({ health }) => health));
  return episodes.find(({ health }) => health === worst) ?? null;
}
