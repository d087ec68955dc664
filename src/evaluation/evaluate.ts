/**
 * Judges what a block has brought: troubled runs first, then the verdicts on executions, then the health of every identity that they or
 * new executions concern. Reads what is stored, so it can be repeated at any time and in any order.
 */
import { judge } from '../domain/judge.ts';
import type { TouchedTest } from '../ledger/block.ts';
import { type IdentityEnd, judgeHealth } from './health.ts';
import type { RunStore } from './run-store.ts';
import { type EvaluationStore, identityKey, isFlakyRule, type Verdict, type VerdictRule } from './store.ts';
import { judgeRuns, Troubles } from './troubles.ts';
import { judgeVerdicts } from './verdicts.ts';

export interface EvaluateOptions {
  /** Off: nothing is judged flaky. */
  isFlakyDetectionEnabled: boolean;
  /** Drawn under the repository's lock, so that a later evaluation has a higher one. */
  version: number;
}

export interface EvaluationStores {
  executions: EvaluationStore;
  runs: RunStore;
}

/**
 * Judges what is new about the touched tests, and others whose evidence changes with a troubled run.
 *
 * What is written first is what a repetition finds out by what is written last: an evaluation that is cut off anywhere is made good
 * by evaluating the same once more. So health comes before the verdicts that it follows from, and both before the troubled runs.
 *
 * @param onJudged hears, before the last is written, where every identity of the tests concerned stands.
 */
export async function evaluate(
  stores: EvaluationStores,
  touched: ReadonlyMap<string, TouchedTest>,
  { isFlakyDetectionEnabled, version }: EvaluateOptions,
  onJudged: (ends: IdentityEnd[]) => Promise<void>,
): Promise<void> {
  if (touched.size === 0) return;
  const since = new Map([...touched].map(([testId, test]) => [testId, test.since]));
  const lookFrom = (testId: string, at: number): unknown => since.set(testId, Math.min(since.get(testId) ?? at, at));
  const oldest = [...since.values()].reduce((least, at) => Math.min(least, at), Number.MAX_SAFE_INTEGER);
  const { executions, runs } = stores;
  const [troubledRuns, folds] = await Promise.all([judgeRuns(runs, oldest), executions.folds([...touched.keys()])]);
  const changed = await judgeVerdicts(executions, touched, { troubledRuns, folds, isFlakyDetectionEnabled });
  for (const [testId, at] of troubledRuns.concerned) lookFrom(testId, at);
  // A verdict that changes on an old execution changes the health from there on.
  for (const { testId, finishedAt } of changed) lookFrom(testId, finishedAt);
  const others = [...since.keys()].filter((testId) => !touched.has(testId));
  const known = others.length === 0 ? folds : [...folds, ...(await executions.folds(others))];
  const { rows, ends } = await judgeHealth(executions, known, since, changed);
  await executions.writeHealth(rows, version);
  await executions.writeVerdicts(changed, version);
  await onJudged(ends);
  await runs.write(troubledRuns.changed, version);
}

/** Judges all retained executions of some tests anew: verdicts, then health from the baseline. The runs have been judged before. */
export async function evaluateAnew(
  stores: EvaluationStores,
  testIds: string[],
  { isFlakyDetectionEnabled, version }: EvaluateOptions,
): Promise<IdentityEnd[]> {
  const executions = await stores.executions.history(testIds, 0);
  const troubles = new Troubles((await stores.runs.troubled(0)).values());
  const fingerprints = await stores.executions.fingerprints(testIds, 0);
  const stored = new Map(
    (await stores.executions.storedVerdicts(testIds, 0)).map(({ executionId, rule }) => [executionId, rule]),
  );
  const changed: Verdict[] = [];
  for (const group of Map.groupBy(executions, identityKey).values()) {
    const [first] = group;
    if (!first) continue;
    const rules = rulesOf(judge(group, { troubles: troubles.of(first), fingerprints, isFlakyDetectionEnabled }));
    for (const { testId, executionId, finishedAt } of group) {
      const rule = rules.get(executionId);
      if (rule !== stored.get(executionId)) changed.push({ testId, executionId, finishedAt, rule });
    }
  }
  const since = new Map(testIds.map((testId) => [testId, 0]));
  const { rows, ends } = await judgeHealth(stores.executions, await stores.executions.folds(testIds), since, changed);
  await stores.executions.writeHealth(rows, version);
  await stores.executions.writeVerdicts(changed, version);
  return ends;
}

/** As they are stored. */
export function rulesOf({ flaky, holds }: ReturnType<typeof judge>): Map<bigint, VerdictRule> {
  const rules = new Map<bigint, VerdictRule>(flaky);
  for (const [id, hold] of holds) if (hold !== 'released') rules.set(id, hold);
  return rules;
}

/** Whether two verdicts are the same evidence; a failure that waits and one that was never confirmed both prove nothing. */
export const isSameEvidence = (one: VerdictRule | undefined, other: VerdictRule | undefined): boolean =>
  (one === undefined) === (other === undefined) && isFlakyRule(one) === isFlakyRule(other);
