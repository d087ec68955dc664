/** Windows of time and their buckets. All times are in milliseconds since the epoch. */
import { MOMENT_MAX, MOMENT_MIN } from './moment.ts';
import { DAY_MS, HOUR_MS } from './time.ts';

/** Start inclusive, end exclusive. */
export interface Window {
  start: number;
  end: number;
}

/** The widths of buckets, narrowest first. */
export const BUCKET_WIDTHS_MS = [HOUR_MS, 4 * HOUR_MS, DAY_MS, 2 * DAY_MS] as const;
/** The narrowest width that gives at most this many buckets is chosen; the widest may give more. */
const BUCKETS_WANTED_MAX = 48;
/** A longer series is refused. */
export const BUCKETS_MAX = 1_000;

/**
 * `end` defaults to a day after `start`, or to now without `start`; `start` defaults to a day before `end`. Neither leaves
 * the years of moments.
 */
export function resolveWindow(start: number | undefined, end: number | undefined, now: number): Window {
  const resolvedEnd = end ?? (start === undefined ? now : Math.min(start + DAY_MS, MOMENT_MAX));
  return { start: start ?? Math.max(resolvedEnd - DAY_MS, MOMENT_MIN), end: resolvedEnd };
}

/** The narrowest width for which length ÷ width ≤ 48, or else the widest. */
export function bucketWidth({ start, end }: Window): number {
  return BUCKET_WIDTHS_MS.find((width) => (end - start) / width <= BUCKETS_WANTED_MAX) ?? BUCKET_WIDTHS_MS[3];
}

/** How many buckets cover a window. */
export const bucketCount = (window: Window, width: number): number =>
  Math.ceil(window.end / width) - Math.floor(window.start / width);

/**
 * The starts of the buckets that cover a window. They are aligned to the epoch in UTC, so the outer two may reach
 * beyond it.
 */
export function bucketStarts(window: Window, width: number): number[] {
  const first = Math.floor(window.start / width) * width;
  return Array.from({ length: bucketCount(window, width) }, (_, i) => first + i * width);
}

/** UTC days since the epoch, both inclusive. */
export interface Days {
  from: number;
  to: number;
}
