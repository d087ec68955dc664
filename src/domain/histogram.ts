/** The intervals of a histogram of events. Pure. */
import { DAY_MS, HOUR_MS, SECOND_MS } from './time.ts';
import type { Window } from './window.ts';

const MINUTE_MS = 60 * SECOND_MS;

/** Intervals of the public interface, shortest first. */
export const INTERVALS_MS = [
  15 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  20 * MINUTE_MS,
  HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  DAY_MS,
] as const;
/** About as many as a chart shows one by one. The longest window of the log, 93 days, has 93 of the longest interval. */
export const INTERVALS_WANTED_MAX = 120;

/** The shortest interval of which the window has at most 120, or else the longest. */
export const intervalOf = ({ start, end }: Window): number =>
  INTERVALS_MS.find((interval) => (end - start) / interval <= INTERVALS_WANTED_MAX) ?? DAY_MS;
