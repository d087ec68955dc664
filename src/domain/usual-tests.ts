/**
 * Whether a leg of a CI job ran far fewer tests than it uses to. A runner that stops at the first failure (`-x`, `--bail`, nextest)
 * reports what ran until then, and the rest looks like tests that do not exist.
 */

/** How many tests a CI job ran in its first attempts on the default branch; skipped ones did not run. */
export interface UsualTests {
  runs: number;
  /** Three of four runs had at least so many. */
  lowerQuartile: number;
  median: number;
}

const WEEK_DAYS = 7;

/**
 * The days whose runs say what is usual on a day: its week and the two before. All days of a week share them, so they are
 * read once for it.
 *
 * @param day number of a day since 1970
 */
export function usualDaysOf(day: number): { firstDay: number; lastDay: number } {
  const week = day - (day % WEEK_DAYS);
  return { firstDay: Math.max(0, week - 2 * WEEK_DAYS), lastDay: week + WEEK_DAYS - 1 };
}

/** Fewer runs say nothing about what is usual. */
export const USUAL_RUNS_MIN = 5;
/** Half of the tests of a smaller job may be gone for many reasons. */
const USUAL_TESTS_MIN = 10;
/** Far fewer: less than a half. */
const SHARE_MAX = 0.5;

/**
 * How many tests the job usually runs, if this attempt ran far fewer; otherwise null. A later attempt may run only what
 * failed, so nothing is said of it. Most runs must agree: a job that chooses its tests runs few of them every other time.
 *
 * @param ran tests that passed or failed
 */
export function usualIfFewer(
  { ran, runAttempt }: { ran: number; runAttempt: number },
  usual: UsualTests | undefined,
): number | null {
  if (!usual || runAttempt !== 1 || usual.runs < USUAL_RUNS_MIN || usual.median < USUAL_TESTS_MIN) return null;
  return ran < SHARE_MAX * usual.lowerQuartile ? usual.median : null;
}
