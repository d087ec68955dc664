/**
 * Kinds of work that a pass of the evaluation leaves to be refreshed, in that order: each may follow from those before it.
 *
 * Judgements say what is believed of tests, and what follows from it at once:
 *
 * - `evidence`: the clues of commits;
 * - `judgements`: what runs mean and what is believed since a moment;
 * - `beginnings`: the exceptions with which tests became flaky or broken;
 * - `owners`: who owns tests, of some or of all;
 * - `quarantines`: which tests are quarantined automatically, and which have recovered.
 *
 * Summaries add up what is known of a repository:
 *
 * - `totals`: how many tests of the repository are in which health;
 * - `records`: the records of commits on which a test failed;
 * - `causes`: what failures have in common;
 * - `durations`: how long tests take;
 * - `renames`: which tests got another name.
 */
export const REFRESHES = {
  judgements: ['evidence', 'judgements', 'beginnings', 'owners', 'quarantines'],
  summaries: ['totals', 'records', 'causes', 'durations', 'renames'],
} as const;
export type RefreshName = keyof typeof REFRESHES;

export const STALE_KINDS = [...REFRESHES.judgements, ...REFRESHES.summaries] as const;
export type StaleKind = (typeof STALE_KINDS)[number];

/** An upload is not stored before these are refreshed: reads would show something else. */
export const JUDGING_KINDS = ['evidence', 'judgements'] as const satisfies readonly StaleKind[];
