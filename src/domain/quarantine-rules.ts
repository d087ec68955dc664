/** When a test is quarantined by itself, and when a quarantined one has recovered (design §7). Pure. */
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

/** Who made a quarantine: a person or a client, or the evaluation. */
export const QUARANTINE_SOURCES = ['manual', 'auto'] as const;
export type QuarantineSource = (typeof QUARANTINE_SOURCES)[number];

/**
 * What one identity of a test has shown in the last 30 days, and since a person last released it from a quarantine: what was known when
 * it was released is not held against it again. Skipped and held-back executions are not counted. Times are milliseconds.
 */
export interface QuarantineEvidence {
  pipelineName: string;
  jobName: string;
  /** As of now: the whole history counts for it, also what lies before a release. */
  health: Health;
  executions: number;
  failures: number;
  firstAt: number;
  newestAt: number;
  /** Commits (runs, where the commit is unknown) with a flaky execution. */
  flakyCommits: number;
  /** Known commits that have failed since the last pass, and when they did first and last. */
  brokenCommits: number;
  brokenFirstAt: number;
  brokenNewestAt: number;
}

/** Why the test is to be quarantined, with the figures, in a sentence for people; null: it is not. */
export function quarantineReason(mode: AutoQuarantineMode, identities: readonly QuarantineEvidence[]): string | null {
  if (mode === 'off') return null;
  for (const one of identities) if (isFlakyEnough(one)) return flakyReason(one);
  if (mode === 'flaky+broken') for (const one of identities) if (isBrokenEnough(one)) return brokenReason(one);
  return null;
}

function isFlakyEnough(one: QuarantineEvidence): boolean {
  return (
    one.health === 'flaky' &&
    one.executions >= QUARANTINE_EXECUTIONS_MIN &&
    one.newestAt - one.firstAt >= QUARANTINE_SPAN_MS_MIN &&
    one.failures >= QUARANTINE_FAILURE_SHARE_MIN * one.executions &&
    one.flakyCommits >= QUARANTINE_FLAKY_COMMITS_MIN
  );
}

function isBrokenEnough(one: QuarantineEvidence): boolean {
  return (
    one.health === 'broken' &&
    one.brokenCommits >= QUARANTINE_BROKEN_COMMITS_MIN &&
    one.brokenNewestAt - one.brokenFirstAt >= QUARANTINE_BROKEN_MS_MIN
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

/** What one identity of a quarantined test has shown since the quarantine was made. */
export interface RecoveryEvidence {
  health: Health;
  /** Clean passes in a row up to now, of those that finished after the quarantine was made. */
  cleanPasses: number;
  /** How many are no longer luck, by its failure share (health.ts). */
  cleanPassesNeeded: number;
}

/** Whether every identity that ran lately is healthy and has passed often enough since; of none: no. */
export function isRecovered(identities: readonly RecoveryEvidence[]): boolean {
  return (
    identities.length > 0 &&
    identities.every((one) => one.health === 'healthy' && one.cleanPasses >= one.cleanPassesNeeded)
  );
}
