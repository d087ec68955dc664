/** Lengths of time that several rules count in. */

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** After every execution; milliseconds since the epoch. */
export const END_OF_TIME = Date.UTC(2200, 0, 1);

/** The UTC day of a moment, in days since the epoch. */
export const dayOf = (at: number): number => Math.floor(at / DAY_MS);
