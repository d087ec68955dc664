/** Versions as stores and clients report them, such as `18.4 (Debian 18.4-1)` or `v2026.10.3`. */
import { compareVersions } from 'compare-versions';

/**
 * The first run of dotted numbers, of which the library takes at most four; a text without one counts as 0, so as very
 * old.
 */
const numbersOf = (version: string): string => /\d+(?:\.\d+){0,3}/.exec(version)?.[0] ?? '0';

/** Whether `a` is below (-1), equal to (0) or above (1) `b`, by their leading numbers; missing parts count as 0. */
export const compareByNumbers = (a: string, b: string): -1 | 0 | 1 => compareVersions(numbersOf(a), numbersOf(b));
