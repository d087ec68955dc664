/** Every constant of the judgements. docs/judgements.md shows what each one trades. */
import { DAY_MS, HOUR_MS } from './time.ts';

/**
 * The version of all rules together: health, flaky executions, hold-back, auto-quarantine and recovery. `explain`
 * prints it. Raise it with every change of a rule or constant; stored verdicts then need a `rebuild`.
 */
export const JUDGEMENT_VERSION = 1;

/** Passing runs in a row that make a broken test healthy again: a single pass may be luck. */
export const BROKEN_RECOVERY_RUNS = 2;

/** Commits in a row on which a flaky test must fail, without a pass in between, to be broken. */
export const FLAKY_TO_BROKEN_COMMITS = 3;

/** The time that the clean passes of a flaky test must span before it is healthy. */
export const FLAKY_RECOVERY_MS_MIN = 3 * DAY_MS;

/** The probability that a row of clean passes is luck may be at most this. */
export const LUCK_PROBABILITY_MAX = 0.05;

/** Bounds of the failure share, and of the number of clean passes that follows from it. */
export const FAILURE_SHARE_MIN = 0.01;
export const FAILURE_SHARE_MAX = 0.5;
export const CLEAN_PASSES_MIN = 10;
export const CLEAN_PASSES_MAX = 300;

/** Days that the failure share covers: the UTC day of the last failure and the days before it. */
export const FAILURE_SHARE_DAYS = 30;

/** The health of a test covers the identities that ran within this time before its newest execution. */
export const HEALTH_RECENT_DAYS = 14;

/**
 * Two isolated failures of one kind are flaky if they are at most this far apart. The passes that isolate a failure are
 * at most this far from it.
 */
export const REPEATED_FAILURE_MS = 14 * DAY_MS;
export const REPEATED_FAILURE_EXECUTIONS = 50;

/** A run is troubled only if at least this many tests that passed before fail in it: a few may well break together. */
export const TROUBLE_TESTS_MIN = 10;
/** And only if their failures are at least this share of those failures plus the passes of the run. */
export const TROUBLE_SHARE_MIN = 0.3;
/** At this share everything fails. A code change that does so would also fail to build. */
export const OUTAGE_SHARE_MIN = 0.9;
/**
 * A test "passed before" a run if it passed within this time before it, whatever happened in between: so a day on which
 * everything fails stays troubled until its evening. It is more than a day because the last good run was the evening
 * before.
 */
export const PASSED_RECENTLY_MS = 36 * HOUR_MS;
/** How far before a run a test's last result counts, and for how long a held-back failure can be confirmed. */
export const TROUBLE_REACH_MS = 14 * DAY_MS;

/** What a flaky test must have shown before it is quarantined automatically. */
export const QUARANTINE_EXECUTIONS_MIN = 20;
export const QUARANTINE_SPAN_MS_MIN = HOUR_MS;
export const QUARANTINE_FAILURE_SHARE_MIN = 0.02;
/** One red commit never quarantines a test, however often it runs. */
export const QUARANTINE_FLAKY_COMMITS_MIN = 2;
/** The same for a broken test. */
export const QUARANTINE_BROKEN_COMMITS_MIN = 3;
export const QUARANTINE_BROKEN_MS_MIN = DAY_MS;
