/** Forgetting tests: how many at once, and what is said where there are none. */

/** Tests that a request may name. */
export const FORGOTTEN_NAMED_MAX = 1_000;
/** Tests that one request forgets: of more, the others are left to the next. */
export const FORGOTTEN_AT_ONCE_MAX = 10_000;
/** Tests that an answer names. */
export const FORGOTTEN_SHOWN_MAX = 100;

/** Why nothing was forgotten. */
export const nothingToForget = (quarantined: number): string =>
  quarantined > 0
    ? 'Each of these tests is quarantined. End the quarantine first. Nothing was forgotten.'
    : 'No test of this repository matches. Search for it to see its name and id. Nothing was forgotten.';
