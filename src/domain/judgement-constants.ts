/** Every constant of the judgements (design §7), named in one place. docs/judgements.md says what each one trades. */
import { DAY_MS, HOUR_MS } from './time.ts';

/**
 * Of the rules of health, flaky executions, hold-back, auto-quarantine and recovery together; `explain` names it. To be raised
 * with every change of a rule or constant: stored verdicts then want `rebuild`.
 */
export const JUDGEMENT_VERSION = 1;

/** Passing runs in a row after which a broken test is healthy again: one pass may be luck. */
export const BROKEN_RECOVERY_RUNS = 2;

/** Commits in a row on which a flaky test failed without a pass between: then it is broken. */
export const FLAKY_TO_BROKEN_COMMITS = 3;

/** Over how long the clean passes of a flaky test must stretch before it is healthy. */
export const FLAKY_RECOVERY_MS_MIN = 3 * DAY_MS;

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

/** Two isolated failures of one kind are flaky when no more than this lies between them; what isolates them is no farther off. */
export const REPEATED_FAILURE_MS = 14 * DAY_MS;
export const REPEATED_FAILURE_EXECUTIONS = 50;

/** From so many tests that passed before and now fail on, a run is troubled: few of them may well be broken together. */
export const TROUBLE_TESTS_MIN = 10;
/** And from this share on of what passes in the run or passed before it. */
export const TROUBLE_SHARE_MIN = 0.3;
/** From this share on everything fails, which no change of code does without also failing to build. */
export const OUTAGE_SHARE_MIN = 0.9;
/**
 * A test that passed within this time before a run "passed before", whatever came between: a day on which everything fails goes on
 * being one until its evening. More than a day, because the last good run was the evening before.
 */
export const PASSED_RECENTLY_MS = 36 * HOUR_MS;
/** How far back a test's last result before a run is looked for, and for how long a held-back failure can be confirmed. */
export const TROUBLE_REACH_MS = 14 * DAY_MS;

/** What a flaky test must have shown before it is quarantined by itself. */
export const QUARANTINE_EXECUTIONS_MIN = 20;
export const QUARANTINE_SPAN_MS_MIN = HOUR_MS;
export const QUARANTINE_FAILURE_SHARE_MIN = 0.02;
/** One red commit never quarantines, however often it was run. */
export const QUARANTINE_FLAKY_COMMITS_MIN = 2;
/** And a broken one. */
export const QUARANTINE_BROKEN_COMMITS_MIN = 3;
export const QUARANTINE_BROKEN_MS_MIN = DAY_MS;
