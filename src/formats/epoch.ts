/** Times in JSON as numbers since the epoch. */

/** The year 1973 in milliseconds: what is less are seconds. */
const MILLISECONDS_MIN = 1e11;
/** Later times cannot be written as dates. */
const MILLISECONDS_MAX = 8.64e15;

/** Milliseconds; null for what is no time. */
export function epochMs(value: number | null | undefined): number | null {
  if (value === null || value === undefined || !(value > 0)) return null;
  const ms = Math.round(value < MILLISECONDS_MIN ? value * 1000 : value);
  return ms <= MILLISECONDS_MAX ? ms : null;
}
