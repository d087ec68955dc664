/**
 * The explanation of a test as a document: what the API answers, and what `ci-insights explain` prints. Long lists are
 * cut to their newest entries, and their length is given beside them (explanation-schema.ts).
 */

import { changed } from '../clickhouse/changed.ts';
import type { ClickHouse } from '../clickhouse/client.ts';
import { isActive, ownFailureOf } from '../domain/activity.ts';
import { axesOf } from '../domain/axes.ts';
import { runKeyOf } from '../domain/execution.ts';
import { FINGERPRINT_VERSION } from '../domain/fingerprint.ts';
import { percent } from '../domain/health-confidence.ts';
import { JUDGEMENT_VERSION } from '../domain/judgement-constants.ts';
import { formatMoment } from '../domain/moment.ts';
import type { ProbableFix } from '../domain/probable-fix.ts';
import { windowUpTo } from '../domain/ratio-window.ts';
import { worstHealth } from '../domain/status.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import type { Turn } from '../fair-queue.ts';
import type { Database } from '../postgres/client.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { EXECUTIONS_MAX, type ExplainOptions, explainTest, type IdentityExplanation } from './explain.ts';
import { explainRecovery, type RecoveryExplanation } from './explain-recovery.ts';
import type { ExplainedExecution } from './explained-execution.ts';
import { CHANGES_MAX, type Explanation, LISTED_MAX } from './explanation-schema.ts';
import type { FailsWith } from './fails-with-schema.ts';
import { legsOfTest } from './where-it-fails.ts';

export interface ExplanationDeps {
  clickhouse: ClickHouse;
  db: Database;
  quarantines: QuarantineStore;
}

export interface ExplanationInput {
  repository: { id: string; flakyDetectionEnabled: boolean };
  test: { id: string; name: string };
  /** Milliseconds since the epoch; undefined: now. */
  asOf: number | undefined;
  now: number;
  /** On whose behalf ClickHouse is read; undefined for the service's own commands. */
  turn?: Turn;
}

export const explanationOptions = ({ repository, test, asOf, now }: ExplanationInput): ExplainOptions => ({
  repositoryId: repository.id,
  test,
  isFlakyDetectionEnabled: repository.flakyDetectionEnabled,
  // Clocks of producers may be ahead.
  asOf: asOf ?? now + DAY_MS,
});

/** Explains a test from its retained executions on the default branch. */
export async function explain(
  deps: ExplanationDeps,
  { repository, test, asOf, now, turn }: ExplanationInput,
): Promise<Explanation> {
  const clickhouse = turn ? inTurn(deps.clickhouse, turn) : deps.clickhouse;
  const options = explanationOptions({ repository, test, asOf, now });
  const identities = await explainTest({ clickhouse, db: deps.db }, options);
  const [open, failsWith] = await Promise.all([
    identities.length === 0 ? [] : deps.quarantines.ofTests(repository.id, [test.id]),
    whatFailsWith(clickhouse, options, identities, asOf ?? now),
  ]);
  return documentOf({ test, asOf, now, identities, failsWith, recoveries: explainRecovery(options, identities, open) });
}

/** It covers the days up to that moment; null if the test did not fail in them. */
async function whatFailsWith(
  clickhouse: ClickHouse,
  { repositoryId, test, asOf }: { repositoryId: string; test: { id: string }; asOf: number },
  identities: readonly IdentityExplanation[],
  at: number,
): Promise<FailsWith | null> {
  const { start } = windowUpTo(at);
  const hasFailed = identities.some(({ failures }) => failures.some(({ execution }) => execution.finishedAt >= start));
  if (!hasFailed) return null;
  const window = { start, end: asOf + 1 };
  return (await legsOfTest(clickhouse, { repositoryId, testId: test.id, window })).failsWith;
}

/** The same ClickHouse, whose queries take their turns. */
export const inTurn = (clickhouse: ClickHouse, turn: Turn): ClickHouse =>
  changed(clickhouse, { select: (query, params) => clickhouse.select(query, params, turn) });

interface Explained extends Pick<ExplanationInput, 'test' | 'asOf' | 'now'> {
  /** Newest first. */
  identities: readonly IdentityExplanation[];
  failsWith: FailsWith | null;
  recoveries: readonly RecoveryExplanation[];
}

function documentOf({ test, asOf, now, identities, failsWith, recoveries }: Explained): Explanation {
  const executions = identities.reduce((sum, one) => sum + one.executions.length, 0);
  return {
    test_id: test.id,
    test_name: test.name,
    as_of: asOf === undefined ? null : formatMoment(asOf),
    rules_version: JUDGEMENT_VERSION,
    fingerprint_version: FINGERPRINT_VERSION,
    health_status: worstHealth(identities.filter((one) => one.isRecent).map((one) => one.health)),
    is_complete: executions < EXECUTIONS_MAX,
    fails_with: failsWith,
    identities: identities.map((one) => identityOf(one, asOf, now)),
    quarantines: recoveries.map(recoveryDocument),
  };
}

function identityOf(
  one: IdentityExplanation,
  asOf: number | undefined,
  now: number,
): Explanation['identities'][number] {
  const shown = (execution: ExplainedExecution) => executionOf(execution, asOf);
  const held = one.failures.filter(({ cause }) => cause === 'run');
  return {
    pipeline_name: one.pipelineName,
    job_name: one.jobName,
    axes: axesOf(one.axes),
    health_status: one.health,
    is_active: isActive({ health: one.health, ownFailureAt: ownFailureOf(one.belief) }, asOf ?? now),
    health_confidence: one.confidence,
    health_probability: one.probability ?? 0,
    has_enough_runs: one.hasEnoughRuns,
    probabilities: {
      healthy: rounded(one.probabilities.healthy),
      flaky: rounded(one.probabilities.flaky),
      broken: rounded(one.probabilities.broken),
    },
    flaky_rate: rounded(one.probabilities.flakyRate),
    since_commit: one.evidence[0]?.commit || null,
    is_recent: one.isRecent,
    executions_count: one.executions.length,
    flaky_count: one.failures.filter(({ isFlaky }) => isFlaky).length,
    held_back_count: held.length,
    clean_passes: one.cleanPasses,
    clean_passes_needed: one.cleanPassesNeeded,
    probable_fix: fixDocument(one.fix),
    changes_count: one.steps.length,
    changes: one.steps.slice(-CHANGES_MAX).map((step) => ({
      from: step.from,
      to: step.to,
      rule: ruleOf(step),
      probability: rounded(step.probability),
      executions: step.executions.map(shown),
    })),
    evidence: one.evidence.map(shown),
    failures_count: one.failures.length,
    failures: one.failures.slice(-LISTED_MAX).map(({ execution: failed, cause, isFlaky, run, otherLegs }) => ({
      execution: shown(failed),
      cause,
      is_flaky: isFlaky,
      other_legs: otherLegs,
      ...run,
    })),
    held_back: held.slice(-LISTED_MAX).map(({ execution: failed, run }) => ({
      execution: shown(failed),
      trouble: run.trouble,
      reason: run.reason ?? NO_REASON,
    })),
    contradictions_count: one.contradictions.length,
    contradictions: one.contradictions.slice(-LISTED_MAX).map(({ execution: failed, at, isEvidence, run }) => ({
      execution: shown(failed),
      at: formatMoment(at),
      is_evidence: isEvidence,
      ...run,
    })),
    troubled_runs: troubledRunsOf(one.failures).slice(-LISTED_MAX),
  };
}

/** Where too few other tests run, trouble that hits this one alone is as likely as anything. */
const NO_REASON = 'nothing else tells its run from the test';

export const fixDocument = (fix: ProbableFix | null): Explanation['identities'][number]['probable_fix'] =>
  fix && {
    commit: fix.commit,
    passed_at: formatMoment(fix.at),
    last_failing_commit: fix.lastFailingCommit || null,
    probability: rounded(fix.probability),
  };

export const rounded = (share: number): number => Math.round(1_000 * share) / 1_000;

function ruleOf({ from, to, probability: share, breaker, executions }: IdentityExplanation['steps'][number]): string {
  const said = `${to} with a probability of ${percent(share)}`;
  if (to === 'flaky') {
    const commits = new Set(executions.map(({ commit }) => commit)).size;
    return `${said}: its own failures on ${commits === 1 ? 'one commit' : `${commits} commits`}`;
  }
  if (to === 'healthy') return `${said}: passed since`;
  const cause =
    breaker === 'outside' ? 'something other than the commit, which had passed, broke it' : 'a commit broke it';
  return `${said}: ${from === 'flaky' ? 'it fails more than it did, and ' : ''}${cause}`;
}

/** Each troubled run once, in the order of the executions. */
function troubledRunsOf(failures: IdentityExplanation['failures']) {
  const runs = new Map<string, Explanation['identities'][number]['troubled_runs'][number]>();
  for (const { execution: failed, run } of failures)
    if (run.trouble !== 'none')
      runs.set(runKeyOf(failed), {
        day: formatMoment(dayOf(failed.finishedAt) * DAY_MS).slice(0, 10),
        run_id: failed.runId || null,
        run_attempt: failed.runAttempt,
        trouble: run.trouble,
        reason: run.reason ?? NO_REASON,
      });
  return [...runs.values()];
}

const executionOf = (one: ExplainedExecution, asOf: number | undefined) => ({
  status: one.status,
  finished_at: formatMoment(one.finishedAt),
  received_at: formatMoment(one.receivedAt),
  is_stored_later: asOf !== undefined && one.receivedAt > asOf,
  run_id: one.runId || null,
  run_attempt: one.runAttempt,
  commit: one.commit || null,
  job_url: one.jobUrl || null,
  pull_request: one.pullRequest || null,
});

const recoveryDocument = ({ quarantine, isRecovered, identities }: RecoveryExplanation) => ({
  quarantine_id: quarantine.id,
  source: quarantine.source,
  branch: quarantine.branch,
  pipeline_name: quarantine.pipelineName,
  job_name: quarantine.jobName,
  failure_ids: quarantine.failureIds,
  expires_at: quarantine.expiresAt && formatMoment(quarantine.expiresAt.getTime()),
  reason: quarantine.reason,
  created_at: formatMoment(quarantine.createdAt.getTime()),
  is_recovered: isRecovered,
  identities: identities.map(({ pipelineName, jobName, axes, health: status, cleanPasses, cleanPassesNeeded }) => ({
    pipeline_name: pipelineName,
    job_name: jobName,
    axes: axesOf(axes),
    health_status: status,
    clean_passes: cleanPasses,
    clean_passes_needed: cleanPassesNeeded,
  })),
});
