/**
 * Judges what a block has brought: first troubled runs, then the verdicts on executions, then the health of every
 * identity that these or new executions affect. It reads what is stored, so it can be repeated at any time and in any
 * order.
 */
import { judge } from '../domain/judge.ts';
import type { TouchedTest } from '../ledger/block.ts';
import { type IdentityState, judgeHealth } from './health.ts';
import { type RunStore, TESTS_MAX } from './run-store.ts';
import { type EvaluationStore, identityKey, isFlakyRule, type Verdict, type VerdictRule } from './store.ts';
import { judgeRuns, Troubles } from './troubles.ts';
import { judgeVerdicts } from './verdicts.ts';

export interface EvaluateOptions {
  /** When off, nothing is judged flaky. */
  isFlakyDetectionEnabled: boolean;
  /** Drawn under the repository's lock, so that later evaluations have higher versions. */
  version: number;
}

export interface EvaluationStores {
  executions: EvaluationStore;
  runs: RunStore;
}

/**
 * Judges what is new about the touched tests, and about others whose evidence changes with a troubled run.
 *
 * Results are written before what they follow from: health before verdicts, and both before troubled runs. So an evaluation
 * that is interrupted anywhere can be repeated: it finds the same changes until the last of them is written.
 *
 * @param touched at most {@link TESTS_MAX}.
 * @param onJudged receives the state of every identity before the troubled runs are written, all identities of a test at once.
 */
export async function evaluate(
  stores: EvaluationStores,
  touched: ReadonlyMap<string, TouchedTest>,
  { isFlakyDetectionEnabled, nextVersion }: Omit<EvaluateOptions, 'version'> & { nextVersion(): Promise<number> },
  onJudged: (states: IdentityState[]) => Promise<void>,
): Promise<void> {
  if (touched.size === 0) return;
  const { executions, runs } = stores;
  const oldest = [...touched.values()].reduce((least, { since }) => Math.min(least, since), Number.MAX_SAFE_INTEGER);
  const troubledRuns = await judgeRuns(runs, oldest);
  // A troubled run may affect far more tests than the block that made it one.
  for (const tests of batchesOf(touched, troubledRuns.affected)) {
    const since = new Map([...tests].map(([testId, test]) => [testId, test.since]));
    const folds = await executions.folds([...tests.keys()]);
    const changed = await judgeVerdicts(executions, tests, { troubledRuns, folds, isFlakyDetectionEnabled });
    // A changed verdict on an old execution changes the health from there on.
    for (const { testId, finishedAt } of changed)
      since.set(testId, Math.min(since.get(testId) ?? finishedAt, finishedAt));
    const { rows, states } = await judgeHealth(executions, folds, since, changed);
    const version = await nextVersion();
    await executions.writeHealth(rows, version);
    await executions.writeVerdicts(changed, version);
    await onJudged(states);
  }
  if (troubledRuns.changed.length > 0) await runs.write(troubledRuns.changed, await nextVersion());
}

/** The touched tests, then the others that are affected; each with the time of its first change. */
function* batchesOf(
  touched: ReadonlyMap<string, TouchedTest>,
  affected: ReadonlyMap<string, number>,
): Generator<Map<string, TouchedTest>> {
  yield new Map(
    [...touched].map(([testId, { since, commits }]) => [
      testId,
      { since: Math.min(since, affected.get(testId) ?? since), commits },
    ]),
  );
  const others = [...affected].filter(([testId]) => !touched.has(testId));
  for (let from = 0; from < others.length; from += TESTS_MAX)
    yield new Map(others.slice(from, from + TESTS_MAX).map(([testId, since]) => [testId, { since, commits: [] }]));
}

/**
 * Judges all retained executions of some tests: verdicts, then health from the baseline. Runs must be judged before.
 */
export async function reevaluate(
  stores: EvaluationStores,
  testIds: string[],
  { isFlakyDetectionEnabled, version }: EvaluateOptions,
): Promise<IdentityState[]> {
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
  const { rows, states } = await judgeHealth(stores.executions, await stores.executions.folds(testIds), since, changed);
  await stores.executions.writeHealth(rows, version);
  await stores.executions.writeVerdicts(changed, version);
  return states;
}

/** The verdicts as they are stored. */
export function rulesOf({ flaky, holds }: ReturnType<typeof judge>): Map<bigint, VerdictRule> {
  const rules = new Map<bigint, VerdictRule>(flaky);
  for (const [id, hold] of holds) if (hold !== 'released') rules.set(id, hold);
  return rules;
}

/**
 * Whether two verdicts are the same evidence. A pending failure and one that was never confirmed both prove nothing.
 */
export const isSameEvidence = (one: VerdictRule | undefined, other: VerdictRule | undefined): boolean =>
  (one === undefined) === (other === undefined) && isFlakyRule(one) === isFlakyRule(other);
