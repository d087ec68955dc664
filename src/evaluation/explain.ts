/**
 * Why a test's verdicts are what they are, as of any moment: applies the rules of the evaluation to the same
 * executions, from the beginning, and notes what decided. Only reads.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import { attemptOf, comparePositions, isTrouble, runKey, runKeyOf } from '../domain/execution.ts';
import type { FlakyRule } from '../domain/flakiness.ts';
import { foldHealth, type HealthState, healthRule, healthyState } from '../domain/health.ts';
import type { Trouble } from '../domain/infrastructure.ts';
import { type Judged, judge } from '../domain/judge.ts';
import { FLAKY_TO_BROKEN_COMMITS } from '../domain/judgement-constants.ts';
import { isRecovered, type RecoveryEvidence } from '../domain/quarantine-rules.ts';
import type { Health } from '../domain/status.ts';
import type { Quarantine } from '../postgres/quarantine-records.ts';
import type { IdentityState } from './health.ts';
import { QuarantineEvidenceStore } from './quarantine-evidence.ts';
import { recentIdentities, recoveryOf } from './quarantines.ts';
import { fullRunKey, RunStore, type TroubledRun } from './run-store.ts';
import {
  EvaluationStore,
  executionColumns,
  executionOf,
  type IdentifiedExecution,
  type Identity,
  identityKey,
} from './store.ts';
import { judgeRun, Troubles } from './troubles.ts';

/** An execution with what an explanation shows about it. */
export interface ExplainedExecution extends IdentifiedExecution {
  /** When it was received; milliseconds since the epoch, 0 if that was not recorded. */
  receivedAt: number;
  /** Empty if unknown. */
  jobUrl: string;
}

/**
 * The newest executions of a test that an explanation considers: 110 a day for 90 days. Judging so many takes 0.2 s, in
 * which the process answers nothing else. No rule looks back nearly as far.
 */
export const EXECUTIONS_MAX = 10_000;

interface Step {
  from: Health;
  to: Health;
  rule: string;
  /** The executions that led to the change; last, the one that caused it. */
  executions: ExplainedExecution[];
}

export interface IdentityExplanation extends IdentityState {
  /** Whether the health and recovery of the test cover it. */
  isRecent: boolean;
  /** In order of finishing. */
  executions: ExplainedExecution[];
  /** Every change of health, oldest first. */
  steps: Step[];
  judged: Judged;
  /** The troubled runs of its pipeline and CI job in which it failed, by `runKeyOf`. */
  troubles: ReadonlyMap<string, Trouble>;
}

const executions = defineQuery(
  'evaluation/explain',
  { repository_id: 'UUID', test_id: 'UUID', until_ms: 'Int64', executions: 'UInt32' },
  executionColumns.extend({ received_at_ms: z.number(), job_url: z.string() }).transform(
    (row): ExplainedExecution => ({
      ...executionOf(row),
      receivedAt: row.received_at_ms,
      jobUrl: row.job_url,
    }),
  ),
);

export interface ExplainOptions {
  repositoryId: string;
  testId: string;
  isFlakyDetectionEnabled: boolean;
  /** Executions that finished later do not count; milliseconds since the epoch. */
  asOf: number;
}

/**
 * Explains each identity of the test on the default branch from its retained executions, the newest
 * {@link EXECUTIONS_MAX}; newest identity first.
 */
export async function explainTest(clickhouse: ClickHouse, options: ExplainOptions): Promise<IdentityExplanation[]> {
  const { repositoryId, testId, asOf } = options;
  const all = await clickhouse.select(executions, {
    repository_id: repositoryId,
    test_id: testId,
    until_ms: asOf,
    executions: EXECUTIONS_MAX,
  });
  const troubles = new Troubles(await troublesOf(new RunStore(clickhouse, repositoryId, asOf), all));
  const fingerprints = await new EvaluationStore(clickhouse, repositoryId).fingerprints([testId], 0);
  const explained = [...Map.groupBy(all, identityKey).values()].map((group) => {
    const ordered = group.sort(comparePositions);
    const [first] = ordered as [ExplainedExecution];
    const { isFlakyDetectionEnabled } = options;
    const ofPlace = troubles.of(first);
    const judged = judge(ordered, { troubles: ofPlace, fingerprints, isFlakyDetectionEnabled });
    const { state, steps } = traced(ordered, judged, fingerprints);
    const { pipelineName, jobName } = first;
    const newestAt = ordered.at(-1)?.finishedAt ?? 0;
    return { testId, pipelineName, jobName, state, newestAt, executions: ordered, steps, judged, troubles: ofPlace };
  });
  const recent = new Set(recentIdentities(explained).get(testId));
  return explained
    .map((identity) => ({ ...identity, isRecent: recent.has(identity) }))
    .sort((a, b) => b.newestAt - a.newestAt);
}

export interface RecoveryExplanation {
  quarantine: Quarantine;
  isRecovered: boolean;
  identities: readonly (Identity & RecoveryEvidence)[];
}

/** How far each quarantine of an explained test had recovered by that moment, as the evaluation decides it. */
export async function explainRecovery(
  clickhouse: ClickHouse,
  { repositoryId, asOf }: Pick<ExplainOptions, 'repositoryId' | 'asOf'>,
  identities: readonly IdentityExplanation[],
  quarantines: readonly Quarantine[],
): Promise<RecoveryExplanation[]> {
  const evidence = new QuarantineEvidenceStore(clickhouse, repositoryId, asOf);
  const open = quarantines.filter(({ createdAt }) => createdAt.getTime() <= asOf);
  return [...(await recoveryOf(evidence, recentIdentities(identities), open))].map(([quarantine, found]) => ({
    quarantine,
    isRecovered: isRecovered(found.map((one) => one.evidence)),
    identities: found.map((one) => ({ ...one.identity, ...one.evidence })),
  }));
}

/** The troubled runs among those in which the test failed, as of the store's moment. */
async function troublesOf(store: RunStore, all: readonly ExplainedExecution[]): Promise<TroubledRun[]> {
  const inTrouble = new Set(
    all.filter(isTrouble).map((one) => JSON.stringify([one.pipelineName, one.jobName, runKeyOf(one)])),
  );
  const troubled: TroubledRun[] = [];
  for (const run of await store.candidates(0)) {
    if (!inTrouble.has(JSON.stringify([run.pipelineName, run.jobName, runKey(run)]))) continue;
    const seen = await store.asOf(run);
    const trouble = seen ? await judgeRun(store, seen) : 'none';
    if (trouble !== 'none') troubled.push({ ...run, trouble });
  }
  return [...new Map(troubled.map((run) => [fullRunKey(run), run])).values()];
}

/** Folds the health and records every step. */
function traced(
  ordered: readonly ExplainedExecution[],
  judged: Judged,
  fingerprints: ReadonlyMap<bigint, string>,
): { state: HealthState; steps: Step[] } {
  let state = healthyState();
  const steps: Step[] = [];
  for (const [i, execution] of ordered.entries()) {
    if (judged.heldBack.has(execution.executionId)) continue;
    const rule = judged.flaky.get(execution.executionId);
    const next = foldHealth(state, execution, rule !== undefined);
    if (next.health !== state.health)
      steps.push({
        from: state.health,
        to: next.health,
        rule: rule
          ? `${healthRule(state.health, next.health)} (${FLAKY_RULES[rule]})`
          : healthRule(state.health, next.health),
        executions: [
          ...(rule
            ? counterparts(ordered, execution, rule, judged, fingerprints)
            : leadingTo(ordered.slice(0, i), state.health, next.health, next, judged)),
          execution,
        ],
      });
    state = next;
  }
  return { state, steps };
}

const FLAKY_RULES: Readonly<Record<FlakyRule, string>> = {
  within_run: 'flagged by its source, or passed after failed attempts',
  contradicted: 'the same commit passed in another attempt or run',
  repeated: 'an isolated failure that came back with the same message',
};

/** The executions that make an execution flaky, other than itself. */
function counterparts(
  ordered: readonly ExplainedExecution[],
  execution: ExplainedExecution,
  rule: FlakyRule,
  { flaky, heldBack }: Judged,
  fingerprints: ReadonlyMap<bigint, string>,
): ExplainedExecution[] {
  const others = ordered.filter((one) => one !== execution && !heldBack.has(one.executionId));
  if (rule === 'contradicted') {
    const pass = others.find(
      (one) => one.commit === execution.commit && one.status === 'passed' && attemptOf(one) !== attemptOf(execution),
    );
    return pass ? [pass] : [];
  }
  if (rule === 'within_run') return [];
  const fingerprint = fingerprints.get(execution.executionId);
  const repetitions = others.filter(
    (one) =>
      flaky.has(one.executionId) &&
      one.commit !== execution.commit &&
      fingerprints.get(one.executionId) === fingerprint,
  );
  const distance = (one: ExplainedExecution): number => Math.abs(one.finishedAt - execution.finishedAt);
  return repetitions.sort((a, b) => distance(a) - distance(b)).slice(0, 1);
}

/** For a rule that needs several executions, those before the last one. */
function leadingTo(
  before: readonly ExplainedExecution[],
  from: Health,
  to: Health,
  state: HealthState,
  { heldBack }: Judged,
): ExplainedExecution[] {
  const counted = before.filter((one) => !heldBack.has(one.executionId));
  if (to === 'broken') return from === 'flaky' ? counted.slice(-(FLAKY_TO_BROKEN_COMMITS - 1)) : [];
  if (from === 'broken') return counted.slice(-1);
  // The first of the clean passes in a row.
  return counted.slice(-(state.cleanPasses - 1)).slice(0, 1);
}
