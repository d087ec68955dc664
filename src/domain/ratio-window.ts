/**
 * The days that shares and counts of a test cover, everywhere: the last 30 UTC days, the current one included. Lists,
 * details, charts and clients ask here, so that the same figure is the same wherever it stands.
 */
import { type DayCounts, forEachDay } from './flat-counts.ts';
import { DAY_MS, dayOf } from './time.ts';
import type { Window } from './window.ts';

/** Ratios cover this many UTC days, the current one included. */
export const RATIO_DAYS = 30;

/** Days since the epoch; `end` is the first day after it. */
export interface DaySpan {
  first: number;
  end: number;
}

/** So many UTC days, the current one included. */
export const daysUpTo = (now: number, days = RATIO_DAYS): DaySpan => ({
  first: dayOf(now) - days + 1,
  end: dayOf(now) + 1,
});

/** The same as moments; milliseconds since the epoch. */
export function windowUpTo(now: number, days = RATIO_DAYS): Window {
  const { first, end } = daysUpTo(now, days);
  return { start: first * DAY_MS, end: end * DAY_MS };
}

/** Passes and failures of the ratio's days as of `now`. */
export function recentCounts(
  summaries: Iterable<{ days: DayCounts }>,
  now: number,
): { passed: number; failed: number } {
  const { first, end } = daysUpTo(now);
  let passed = 0;
  let failed = 0;
  for (const { days } of summaries)
    forEachDay(days, (day, passes, failures) => {
      if (day < first || day >= end) return;
      passed += passes;
      failed += failures;
    });
  return { passed, failed };
}
