/**
 * When the tests of a report finished. Reports say when a suite started and how long each test took, sometimes when a
 * test started, often nothing; the time when a test finished is put together from what there is.
 */

/** The time of a suite: when it started, and the seconds its tests have taken so far. */
export interface SuiteClock {
  /** Milliseconds since the epoch; null while neither the suite nor one around it says. */
  startedAtMs: number | null;
  elapsedSeconds: number;
}

/** A suite's clock: its own when it has a timestamp, else that of the suite around it. */
export const suiteClock = (timestampMs: number | null, around: SuiteClock | undefined): SuiteClock =>
  timestampMs === null && around ? around : { startedAtMs: timestampMs, elapsedSeconds: 0 };

/** When a test finished that took this long, as far as is known. Its time passes in all the suites around it. */
export function finishTest(timestampMs: number | null, seconds: number, suites: readonly SuiteClock[]): number | null {
  for (const clock of new Set(suites)) clock.elapsedSeconds += seconds;
  if (timestampMs !== null) return Math.round(timestampMs + seconds * 1000);
  const known = suites.findLast((clock) => clock.startedAtMs !== null);
  if (!known || known.startedAtMs === null) return null;
  return Math.round(known.startedAtMs + known.elapsedSeconds * 1000);
}
