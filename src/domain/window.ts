/** Windows of time and their buckets (spec §4.4, design §4). All times in milliseconds since the epoch. */
import { DAY_MS, HOUR_MS } from './time.ts';

/** Start inclusive, end exclusive. */
export interface Window {
  start: number;
  end: number;
}

/** The widths of spec §4.4, narrowest first. */
export const BUCKET_WIDTHS_MS = [HOUR_MS, 4 * HOUR_MS, DAY_MS, 2 * DAY_MS] as const;
/** The smallest width is chosen that gives no more buckets than this; the widest may give more. */
const BUCKETS_WANTED_MAX = 48;
/** A series is never longer. */
export const BUCKETS_MAX = 1_000;

/** `end` defaults to a day after `start` when only that is given, else to now; `start` to a day before `end`. */
export function resolveWindow(start: number | undefined, end: number | undefined, now: number): Window {
  const resolvedEnd = end ?? (start === undefined ? now : start + DAY_MS);
  return { start: start ?? resolvedEnd - DAY_MS, end: resolvedEnd };
}

/** The smallest width for which length ÷ width ≤ 48, else the widest. */
export function bucketWidth({ start, end }: Window): number {
  return (
    BUCKET_WIDTHS_MS.find((width) => (end - start) / width <= BUCKETS_WANTED_MAX) ?? (BUCKET_WIDTHS_MS[3] as number)
  );
}

/** How many buckets cover a window. */
export const bucketCount = (window: Window, width: number): number =>
  Math.ceil(window.end / width) - Math.floor(window.start / width);

/** The starts of the buckets that cover a window: whole, aligned to the epoch in UTC, so the outer two may reach beyond it. */
export function bucketStarts(window: Window, width: number): number[] {
  const first = Math.floor(window.start / width) * width;
  return Array.from({ length: bucketCount(window, width) }, (_, i) => first + i * width);
}
