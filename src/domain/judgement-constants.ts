/** Constants of the judgements but those of the filter (belief.ts, belief-weights.ts, run-trouble.ts). */
import { DAY_MS } from './time.ts';

/**
 * The version of all rules together: what runs mean, health, flaky executions, auto-quarantine and recovery. `explain`
 * prints it. From the first release on, a release that changes a rule or a constant raises it, and judges everything again.
 */
export const JUDGEMENT_VERSION = 1;

/** The health of a test covers the identities that ran within this time before its newest execution. */
export const HEALTH_RECENT_DAYS = 14;

/** How likely a test must be flaky, or broken, before it is quarantined automatically. */
export const QUARANTINE_PROBABILITY_MIN = 0.95;
/** On how many commits a flaky test must have failed on its own: one red commit never quarantines a test. */
export const QUARANTINE_FLAKY_COMMITS_MIN = 2;
/** Failures count that are no older than this, when its newest execution finishes. */
export const QUARANTINE_EVIDENCE_MS = 30 * DAY_MS;
/** On how many commits, and for how long, a broken test must have failed without a pass. */
export const QUARANTINE_BROKEN_COMMITS_MIN = 3;
export const QUARANTINE_BROKEN_MS_MIN = DAY_MS;

/** How long a quarantined test must have run before it can have recovered. */
export const RECOVERY_MS_MIN = 3 * DAY_MS;
