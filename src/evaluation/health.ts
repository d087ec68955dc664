/** The health of identities: folded on from their checkpoints, or anew where something came in behind one. */
import { comparePositions } from '../domain/execution.ts';
import type { HealthState } from '../domain/health.ts';
import { beginning, continueFold, type Fold, isBehind } from './fold.ts';
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
import { splitByTime } from './time-split.ts';

/** Where the fold of an identity stands after all of its executions. */
export interface IdentityEnd extends Identity {
  state: HealthState;
  /** When its newest execution finished; milliseconds since the epoch. */
  newestAt: number;
}

export interface JudgedHealth {
  /** Those that have changed. */
  rows: HealthRow[];
  /** Every identity of the tests. */
  ends: IdentityEnd[];
}

/**
 * The health of every identity of these tests, from what is stored of them.
 *
 * @param known where the folds of these tests stand.
 * @param since when the first change of each test was; milliseconds since the epoch.
 * @param changed verdicts that are not stored yet.
 */
export async function judgeHealth(
  store: EvaluationStore,
  known: readonly HealthRow[],
  since: ReadonlyMap<string, number>,
  changed: readonly Verdict[],
): Promise<JudgedHealth> {
  const folds = new Map(known.map((fold) => [identityKey(fold), fold]));
  const { onward, anew } = splitByCheckpoint(known, since);
  const { recent, older } = splitByTime(onward);
  const rows: HealthRow[] = [];
  const ends = new Map<string, IdentityEnd>(
    known.map(({ testId, pipelineName, jobName, newestAt, checkpoint }) => [
      identityKey({ testId, pipelineName, jobName }),
      { testId, pipelineName, jobName, newestAt, state: checkpoint.state },
    ]),
  );
  for (const [tests, start] of [
    [recent, 'checkpoint'],
    [older, 'checkpoint'],
    [anew, 'baseline'],
  ] as const) {
    if (tests.size === 0) continue;
    const testIds = [...tests.keys()];
    const from = [...tests.values()].reduce((least, at) => Math.min(least, at));
    const [executions, stored] = await Promise.all([store.history(testIds, from), store.storedVerdicts(testIds, from)]);
    const verdicts = withChanges(stored, changed);
    for (const [key, group] of Map.groupBy(executions, identityKey)) {
      const { row, end } = healthOf(group, folds.get(key), start, verdicts);
      if (row) rows.push(row);
      if (end) ends.set(key, end);
    }
  }
  return { rows, ends: [...ends.values()] };
}

function withChanges(stored: readonly StoredVerdict[], changed: readonly Verdict[]): Verdicts {
  const rules = new Map<bigint, VerdictRule>(stored.map(({ executionId, rule }) => [executionId, rule]));
  for (const { executionId, rule } of changed)
    if (rule === undefined) rules.delete(executionId);
    else rules.set(executionId, rule);
  return verdictsOf(rules);
}

/**
 * Which tests go on from their checkpoints, and which are folded anew because something came in behind one of them; each
 * with the time from which their history is needed.
 */
function splitByCheckpoint(
  known: Iterable<{ testId: string; checkpoint: Fold; baseline: Fold }>,
  since: ReadonlyMap<string, number>,
): { onward: Map<string, number>; anew: Map<string, number> } {
  const onward = new Map(since);
  const anew = new Map<string, number>();
  for (const { testId, checkpoint, baseline } of known) {
    const changedAt = since.get(testId) ?? 0;
    if (isBehind(checkpoint, changedAt))
      anew.set(testId, Math.min(anew.get(testId) ?? Number.MAX_SAFE_INTEGER, baseline.at?.finishedAt ?? 0));
    else onward.set(testId, Math.min(onward.get(testId) ?? changedAt, checkpoint.at?.finishedAt ?? 0));
  }
  for (const testId of anew.keys()) onward.delete(testId);
  return { onward, anew };
}

function healthOf(
  executions: readonly IdentifiedExecution[],
  known: HealthRow | undefined,
  start: 'checkpoint' | 'baseline',
  verdicts: Verdicts,
): { row?: HealthRow; end?: IdentityEnd } {
  const baseline = known?.baseline ?? beginning();
  const from = known?.[start] ?? baseline;
  const { end, checkpoint } = continueFold(from, executions, verdicts);
  const [first] = executions;
  if (!first || !end.at || (from.at && comparePositions(end.at, from.at) === 0 && start === 'checkpoint')) return {};
  const { testId, pipelineName, jobName } = first;
  const identity = { testId, pipelineName, jobName, newestAt: end.at.finishedAt };
  return {
    row: { ...identity, health: end.state.health, checkpoint, baseline },
    end: { ...identity, state: end.state },
  };
}
