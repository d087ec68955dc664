/** Places from which the belief about an identity can start over, when something comes before what it has taken in. */
import { type StoredBelief, unknownBelief } from '../postgres/belief-text.ts';
import type { StoredEnd } from './recent-courses.ts';
import type { Identity } from './store.ts';

/** Where a belief can start over: the baseline first, later ones after it. */
export type Starts = readonly [baseline: StoredBelief, ...StoredBelief[]];

export interface KnownBelief extends Identity {
  /** Undefined if it has never run on the default branch. */
  stored: StoredEnd | undefined;
  starts: Starts;
}

/** Of an identity that nothing is stored of. */
export const NOTHING_KNOWN: Pick<KnownBelief, 'stored' | 'starts'> = { stored: undefined, starts: [unknownBelief()] };

/** Checkpoints are days apart, so a place that is close becomes one only if there is no other. */
export const withFirst = (starts: Starts, close: StoredBelief): Starts =>
  starts.length === 1 && starts[0] !== close ? [starts[0], close] : starts;

/** The newest place before that moment. What is older than the baseline came too late. */
export function startBefore(
  { stored, starts }: Pick<KnownBelief, 'stored' | 'starts'>,
  moment: number,
): { start: StoredBelief; restart: Starts } {
  const isBefore = ({ at }: StoredBelief): boolean => at === null || at.finishedAt < moment;
  const [baseline, ...later] = starts;
  const kept = later.filter(isBefore);
  const end = stored?.belief;
  return { start: end && isBefore(end) ? end : (kept.at(-1) ?? baseline), restart: [baseline, ...kept] };
}
