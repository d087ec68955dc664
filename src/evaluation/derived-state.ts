/**
 * The state of a test as it follows from everything that is retained of it: what a rebuild writes, and what `verify`
 * compares the stored state with.
 */
import { RATIO_DAYS, summaryOf } from '../domain/test-state.ts';
import { DAY_MS } from '../domain/time.ts';
import type { HealthChangeRecord } from '../postgres/health-changes.ts';
import type { FirstFailure, IdentityRecord, TestState } from '../postgres/test-states.ts';
import { beginning, continueFold, type Fold, writeFold } from './fold.ts';
import type { Checkpoints, IdentityState } from './health.ts';
import { conclusiveIn, type TestHistory } from './history.ts';
import { identityKey, isFlakyRule, type VerdictRule, verdictsOf } from './store.ts';

export interface DerivedState {
  test: TestState;
  identities: IdentityRecord[];
  checkpoints: Checkpoints[];
  /** Of health, since the baselines. */
  changes: HealthChangeRecord[];
  /** For the quarantines. */
  states: IdentityState[];
}

/**
 * @param rules the verdicts on the executions.
 * @param baselines where the folds start, by `identityKey`.
 */
export function deriveState(
  testId: string,
  history: TestHistory,
  rules: ReadonlyMap<bigint, VerdictRule>,
  baselines: ReadonlyMap<string, Fold>,
): DerivedState {
  const verdicts = verdictsOf(rules);
  const derived: DerivedState = {
    test: { testId, name: history.name, firstFailure: firstFailureOf(history), flakyDays: flakyDaysOf(history, rules) },
    identities: [],
    checkpoints: [],
    changes: [],
    states: [],
  };
  for (const { pipelineName, jobName, executions } of history.identities.values()) {
    const identity = { testId, pipelineName, jobName };
    const baseline = baselines.get(identityKey(identity)) ?? beginning();
    const conclusive = executions.filter(({ status }) => status !== 'skipped');
    const { end, checkpoint, changes } = continueFold(baseline, conclusive, verdicts);
    derived.identities.push({
      ...identity,
      summary: summaryOf(executions),
      health: end.state.health,
      fold: writeFold(end),
      checkpointAt: checkpoint.at?.finishedAt ?? 0,
    });
    derived.checkpoints.push({ ...identity, baseline, older: checkpoint, newer: checkpoint });
    for (const change of changes) derived.changes.push({ ...identity, ...change });
    if (end.at) derived.states.push({ ...identity, newestAt: end.at.finishedAt, state: end.state });
  }
  return derived;
}

function firstFailureOf(history: TestHistory): FirstFailure | null {
  let first: FirstFailure | null = null;
  for (const { status, finishedAt: failedAt, executionId, commit } of conclusiveIn(history)) {
    if (status !== 'failed') continue;
    const isEarlier =
      first === null || failedAt < first.failedAt || (failedAt === first.failedAt && executionId < first.executionId);
    if (isEarlier) first = { failedAt, executionId, commit };
  }
  return first;
}

function flakyDaysOf(history: TestHistory, rules: ReadonlyMap<bigint, VerdictRule>): TestState['flakyDays'] {
  const days = new Map<number, number>();
  let newest = 0;
  for (const { executionId, finishedAt } of conclusiveIn(history)) {
    const day = Math.floor(finishedAt / DAY_MS);
    newest = Math.max(newest, day);
    if (isFlakyRule(rules.get(executionId))) days.set(day, (days.get(day) ?? 0) + 1);
  }
  return [...days].filter(([day]) => day > newest - RATIO_DAYS).sort(([one], [other]) => one - other);
}
