/** When a test is quarantined automatically, and when a quarantined test has recovered. Pure. */
import {
  QUARANTINE_BROKEN_COMMITS_MIN,
  QUARANTINE_BROKEN_MS_MIN,
  QUARANTINE_EXECUTIONS_MIN,
  QUARANTINE_FAILURE_SHARE_MIN,
  QUARANTINE_FLAKY_COMMITS_MIN,
  QUARANTINE_SPAN_MS_MIN,
} from './judgement-constants.ts';
import type { Health } from './status.ts';

/** Which tests of a repository are quarantined automatically. */
export const AUTO_QUARANTINE_MODES = ['off', 'flaky', 'flaky+broken'] as const;
export type AutoQuarantineMode = (typeof AUTO_QUARANTINE_MODES)[number];

/** What a change of the mode is called in the event log; undefined if nothing changed. */
export function autoQuarantineChange(
  before: AutoQuarantineMode,
  after: AutoQuarantineMode,
): 'enabled' | 'disabled' | 'modified' | undefined {
  if (before === after) return undefined;
  if (before === 'off') return 'enabled';
  return after === 'off' ? 'disabled' : 'modified';
}

/** Who made a quarantine: a person or a client, or the evaluation. */
export const QUARANTINE_SOURCES = ['manual', 'auto'] as const;
export type QuarantineSource = (typeof QUARANTINE_SOURCES)[number];

/** How many days before its end a quarantine is announced to end, unless the repository says otherwise. */
export const QUARANTINE_WARNING_DAYS_DEFAULT = 3;
export const QUARANTINE_WARNING_DAYS_MAX = 90;

/** The most that `--quarantine-limit` may be: a repository with more has no use for a limit. */
export const QUARANTINE_LIMIT_MAX = 100_000;

/**
 * What one identity of a test has shown in the last 30 days, but only since a person last released the test: what was
 * known then does not count against it again. Skipped and held-back executions do not count. Times are milliseconds
 * since the epoch.
 */
export interface QuarantineEvidence {
  pipelineName: string;
  jobName: string;
  /** As of now, from the whole history, also from before a release. */
  health: Health;
  executions: number;
  failures: number;
  firstAt: number;
  newestAt: number;
  /** Commits (runs, where the commit is unknown) with a flaky execution. */
  flakyCommits: number;
  /** Known commits with a failure since the last pass, and when the first and the last of these failures finished. */
  brokenCommits: number;
  brokenFirstAt: number;
  brokenNewestAt: number;
}

/** What a test must have shown, by the names of the constants. Only a backtest changes them. */
export const QUARANTINE_CONSTANTS = {
  QUARANTINE_EXECUTIONS_MIN,
  QUARANTINE_SPAN_MS_MIN,
  QUARANTINE_FAILURE_SHARE_MIN,
  QUARANTINE_FLAKY_COMMITS_MIN,
  QUARANTINE_BROKEN_COMMITS_MIN,
  QUARANTINE_BROKEN_MS_MIN,
} as const;
export type QuarantineConstant = keyof typeof QUARANTINE_CONSTANTS;
export type QuarantineConstants = Readonly<Record<QuarantineConstant, number>>;

/** Why the test should be quarantined, with figures, in a sentence for people; null if it should not. */
export function quarantineReason(
  mode: AutoQuarantineMode,
  identities: readonly QuarantineEvidence[],
  constants: QuarantineConstants = QUARANTINE_CONSTANTS,
): string | null {
  if (mode === 'off') return null;
  for (const one of identities) if (isFlakyEnough(one, constants)) return flakyReason(one);
  if (mode === 'flaky+broken')
    for (const one of identities) if (isBrokenEnough(one, constants)) return brokenReason(one);
  return null;
}

function isFlakyEnough(one: QuarantineEvidence, constants: QuarantineConstants): boolean {
  return (
    one.health === 'flaky' &&
    one.executions >= constants.QUARANTINE_EXECUTIONS_MIN &&
    one.newestAt - one.firstAt >= constants.QUARANTINE_SPAN_MS_MIN &&
    one.failures >= constants.QUARANTINE_FAILURE_SHARE_MIN * one.executions &&
    one.flakyCommits >= constants.QUARANTINE_FLAKY_COMMITS_MIN
  );
}

function isBrokenEnough(one: QuarantineEvidence, constants: QuarantineConstants): boolean {
  return (
    one.health === 'broken' &&
    one.brokenCommits >= constants.QUARANTINE_BROKEN_COMMITS_MIN &&
    one.brokenNewestAt - one.brokenFirstAt >= constants.QUARANTINE_BROKEN_MS_MIN
  );
}

function flakyReason(one: QuarantineEvidence): string {
  const share = ((100 * one.failures) / one.executions).toFixed(1);
  return `Flaky in ${place(one)}: failed in ${one.failures} of ${one.executions} executions (${share} %) since ${date(one.firstAt)}, flaky on ${one.flakyCommits} commits.`;
}

function brokenReason(one: QuarantineEvidence): string {
  return `Broken in ${place(one)}: failed on ${one.brokenCommits} commits without a pass, from ${date(one.brokenFirstAt)} to ${date(one.brokenNewestAt)}.`;
}

const place = ({ pipelineName, jobName }: QuarantineEvidence): string => `${pipelineName} / ${jobName}`;
const date = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** What one identity of a quarantined test has shown since the quarantine was created. */
export interface RecoveryEvidence {
  health: Health;
  /** Clean passes in a row up to now that finished after the quarantine was created. */
  cleanPasses: number;
  /** How many rule out luck, given its failure share (health.ts). */
  cleanPassesNeeded: number;
}

/** Whether every identity that ran recently is healthy and has passed often enough since; false without any. */
export function isRecovered(identities: readonly RecoveryEvidence[]): boolean {
  return (
    identities.length > 0 &&
    identities.every((one) => one.health === 'healthy' && one.cleanPasses >= one.cleanPassesNeeded)
  );
}
