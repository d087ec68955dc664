/** Every constant of the judgements (design §7), named in one place. docs/judgements.md says what each one trades. */

/** Passing runs in a row after which a broken test is healthy again: one pass may be luck. */
export const BROKEN_RECOVERY_RUNS = 2;

/** Commits in a row on which a flaky test failed without a pass between: then it is broken. */
export const FLAKY_TO_BROKEN_COMMITS = 3;

/** Over how long the clean passes of a flaky test must stretch before it is healthy. */
export const FLAKY_RECOVERY_MS_MIN = 3 * 24 * 3_600_000;

/** The chance that clean passes are luck must be below this. */
export const LUCK = 0.05;

/** Bounds of the failure share and of the number of clean passes that follows from it. */
export const FAILURE_SHARE_MIN = 0.01;
export const FAILURE_SHARE_MAX = 0.5;
export const CLEAN_PASSES_MIN = 10;
export const CLEAN_PASSES_MAX = 300;

/** Days that the failure share looks at: the UTC day of the last failure and those before it. */
export const FAILURE_SHARE_DAYS = 30;

/** A test's health looks at the identities that ran within this time before its newest execution. */
export const HEALTH_RECENT_DAYS = 14;

export const DAY_MS = 24 * 3_600_000;
