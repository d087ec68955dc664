/**
 * The health of identities. A fold continues from its checkpoint, or starts over from its baseline when something
 * arrived behind the checkpoint.
 */
import { comparePositions } from '../domain/execution.ts';
import type { HealthState } from '../domain/health.ts';
import { beginning, continueFold, type Fold, isBehind } from './fold.ts';
import { splitByRecency } from './recency.ts';
import {
  type EvaluationStore,
  type HealthRow,
  type IdentifiedExecution,
  type Identity,
  identityKey,
  type StoredVerdict,
  type Verdict,
  type VerdictRule,
  type Verdicts,
  verdictsOf,
} from './store.ts';

/** The state of an identity after all its executions. */
export interface IdentityState extends Identity {
  state: HealthState;
  /** When its newest execution finished; milliseconds since the epoch. */
  newestAt: number;
}

export interface JudgedHealth {
  /** The rows that changed. */
  rows: HealthRow[];
  /** Every identity of the tests. */
  states: IdentityState[];
}

/**
 * Judges the health of every identity of these tests from what is stored.
 *
 * @param known the stored folds of these tests.
 * @param since when the first change of each test happened; milliseconds since the epoch.
 * @param changed verdicts that are not stored yet.
 */
export async function judgeHealth(
  store: EvaluationStore,
  known: readonly HealthRow[],
  since: ReadonlyMap<string, number>,
  changed: readonly Verdict[],
): Promise<JudgedHealth> {
  const folds = new Map(known.map((fold) => [identityKey(fold), fold]));
  const { fromCheckpoint, fromBaseline } = splitByCheckpoint(known, since);
  const { recent, older } = splitByRecency(fromCheckpoint);
  const rows: HealthRow[] = [];
  const states = new Map<string, IdentityState>(
    known.map(({ testId, pipelineName, jobName, newestAt, checkpoint }) => [
      identityKey({ testId, pipelineName, jobName }),
      { testId, pipelineName, jobName, newestAt, state: checkpoint.state },
    ]),
  );
  for (const [tests, start] of [
    [recent, 'checkpoint'],
    [older, 'checkpoint'],
    [fromBaseline, 'baseline'],
  ] as const) {
    if (tests.size === 0) continue;
    const testIds = [...tests.keys()];
    const from = [...tests.values()].reduce((least, at) => Math.min(least, at));
    const [executions, stored] = await Promise.all([store.history(testIds, from), store.storedVerdicts(testIds, from)]);
    const verdicts = withChanges(stored, changed);
    for (const [key, group] of Map.groupBy(executions, identityKey)) {
      const { row, state } = healthOf(group, folds.get(key), start, verdicts);
      if (row) rows.push(row);
      if (state) states.set(key, state);
    }
  }
  return { rows, states: [...states.values()] };
}

function withChanges(stored: readonly StoredVerdict[], changed: readonly Verdict[]): Verdicts {
  const rules = new Map<bigint, VerdictRule>(stored.map(({ executionId, rule }) => [executionId, rule]));
  for (const { executionId, rule } of changed)
    if (rule === undefined) rules.delete(executionId);
    else rules.set(executionId, rule);
  return verdictsOf(rules);
}

/**
 * Which tests continue from their checkpoints, and which start over because something arrived behind one of them; each
 * with the time from which its history is needed.
 */
function splitByCheckpoint(
  known: Iterable<{ testId: string; checkpoint: Fold; baseline: Fold }>,
  since: ReadonlyMap<string, number>,
): { fromCheckpoint: Map<string, number>; fromBaseline: Map<string, number> } {
  const fromCheckpoint = new Map(since);
  const fromBaseline = new Map<string, number>();
  for (const { testId, checkpoint, baseline } of known) {
    const changedAt = since.get(testId) ?? 0;
    if (isBehind(checkpoint, changedAt))
      fromBaseline.set(testId, Math.min(fromBaseline.get(testId) ?? Infinity, baseline.at?.finishedAt ?? 0));
    else fromCheckpoint.set(testId, Math.min(fromCheckpoint.get(testId) ?? changedAt, checkpoint.at?.finishedAt ?? 0));
  }
  for (const testId of fromBaseline.keys()) fromCheckpoint.delete(testId);
  return { fromCheckpoint, fromBaseline };
}

function healthOf(
  executions: readonly IdentifiedExecution[],
  known: HealthRow | undefined,
  start: 'checkpoint' | 'baseline',
  verdicts: Verdicts,
): { row?: HealthRow; state?: IdentityState } {
  const baseline = known?.baseline ?? beginning();
  const from = known?.[start] ?? baseline;
  const { end, checkpoint } = continueFold(from, executions, verdicts);
  const [first] = executions;
  if (!first || !end.at || (from.at && comparePositions(end.at, from.at) === 0 && start === 'checkpoint')) return {};
  const { testId, pipelineName, jobName } = first;
  const identity = { testId, pipelineName, jobName, newestAt: end.at.finishedAt };
  return {
    row: { ...identity, health: end.state.health, checkpoint, baseline },
    state: { ...identity, state: end.state },
  };
}
