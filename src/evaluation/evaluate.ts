/**
 * Judges what a block has brought: verdicts on flaky executions first, then the health of every identity they or new
 * executions concern. Reads what is stored, so it can be repeated at any time and in any order.
 */
import { comparePositions } from '../domain/execution.ts';
import { type FlakyRule, flakyOnCommit } from '../domain/flakiness.ts';
import { DAY_MS } from '../domain/judgement-constants.ts';
import type { TouchedTest } from '../ledger/block.ts';
import { beginning, continueFold, type Fold, isBehind } from './fold.ts';
import { type EvaluationStore, type HealthRow, type IdentifiedExecution, identityKey, type Verdict } from './store.ts';

/** What is read in one statement from one moment on lies within this time. */
const RECENT_MS = 2 * DAY_MS;

export interface EvaluateOptions {
  /** Off: nothing is judged flaky. */
  isFlakyDetectionEnabled: boolean;
  /** Drawn under the repository's lock, so that a later evaluation has a higher one. */
  version: number;
}

export async function evaluate(
  store: EvaluationStore,
  touched: ReadonlyMap<string, TouchedTest>,
  options: EvaluateOptions,
): Promise<void> {
  const testIds = [...touched.keys()];
  if (testIds.length === 0) return;
  const since = new Map([...touched].map(([testId, test]) => [testId, test.since]));
  if (options.isFlakyDetectionEnabled) {
    const changed = await judgeFlaky(store, touched);
    await store.writeVerdicts(changed, options.version);
    // A verdict that changes on an old execution changes the health from there on.
    for (const { testId, finishedAt } of changed)
      since.set(testId, Math.min(since.get(testId) ?? finishedAt, finishedAt));
  }
  await store.writeHealth(await judgeHealth(store, since, options.isFlakyDetectionEnabled), options.version);
}

/** Judges all retained executions of some tests anew: verdicts, then health from the baseline. */
export async function evaluateAnew(store: EvaluationStore, testIds: string[], options: EvaluateOptions): Promise<void> {
  const executions = await store.history(testIds, 0);
  const known = await store.flaky(testIds, 0);
  const changed: Verdict[] = [];
  for (const group of Map.groupBy(executions, identityKey).values())
    changed.push(...changedVerdicts(group, options.isFlakyDetectionEnabled ? flakyOf(group) : new Map(), known));
  await store.writeVerdicts(changed, options.version);
  const since = new Map(testIds.map((testId) => [testId, 0]));
  await store.writeHealth(await judgeHealth(store, since, options.isFlakyDetectionEnabled), options.version);
}

/** The flaky executions of one identity, with the rule. */
export function flakyOf(executions: readonly IdentifiedExecution[]): Map<bigint, FlakyRule> {
  const onCommits = Map.groupBy(executions, (execution) => execution.commit).values();
  return new Map([...onCommits].flatMap((group) => [...flakyOnCommit(group)]));
}

function changedVerdicts(
  executions: readonly IdentifiedExecution[],
  verdicts: ReadonlyMap<bigint, FlakyRule>,
  known: ReadonlySet<bigint>,
): Verdict[] {
  return executions
    .filter(({ executionId }) => verdicts.has(executionId) !== known.has(executionId))
    .map(({ testId, executionId, finishedAt }) => {
      const rule = verdicts.get(executionId);
      return { testId, executionId, finishedAt, isFlaky: rule !== undefined, rule: rule ?? 'contradicted' };
    });
}

/** Verdicts on the touched commits that differ from what is stored. */
async function judgeFlaky(store: EvaluationStore, touched: ReadonlyMap<string, TouchedTest>): Promise<Verdict[]> {
  const onKnownCommits = [...touched].filter(([, test]) => test.commits.some((commit) => commit !== ''));
  const commits = [...new Set(onKnownCommits.flatMap(([, test]) => test.commits))].filter((commit) => commit !== '');
  if (commits.length === 0) return [];
  const testIds = await store.failingOn(
    onKnownCommits.map(([testId]) => testId),
    commits,
  );
  if (testIds.length === 0) return [];
  const executions = (await store.onCommits(testIds, commits)).filter((execution) =>
    touched.get(execution.testId)?.commits.includes(execution.commit),
  );
  if (executions.length === 0) return [];
  const oldest = executions.reduce(
    (least, execution) => Math.min(least, execution.finishedAt),
    Number.POSITIVE_INFINITY,
  );
  const known = await store.flaky(testIds, oldest);
  const groups = Map.groupBy(executions, (execution) => `${execution.commit}\0${identityKey(execution)}`).values();
  return [...groups].flatMap((group) => changedVerdicts(group, flakyOnCommit(group), known));
}

/** The health of every identity of these tests that has executions since the given times. */
async function judgeHealth(
  store: EvaluationStore,
  since: ReadonlyMap<string, number>,
  isFlakyDetectionEnabled: boolean,
): Promise<HealthRow[]> {
  const known = new Map((await store.folds([...since.keys()])).map((fold) => [identityKey(fold), fold]));
  const { onward, anew } = splitByCheckpoint(known.values(), since);
  const { recent, older } = splitByTime(onward);
  const rows: HealthRow[] = [];
  for (const [tests, start] of [
    [recent, 'checkpoint'],
    [older, 'checkpoint'],
    [anew, 'baseline'],
  ] as const) {
    if (tests.size === 0) continue;
    const testIds = [...tests.keys()];
    const from = [...tests.values()].reduce((least, at) => Math.min(least, at));
    const executions = await store.history(testIds, from);
    const flaky = isFlakyDetectionEnabled ? await store.flaky(testIds, from) : new Set<bigint>();
    for (const [key, group] of Map.groupBy(executions, identityKey)) {
      const row = healthOf(group, known.get(key), start, flaky);
      if (row) rows.push(row);
    }
  }
  return rows;
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

/** Tests that run often stand at recent checkpoints; read together with one that seldom runs, they would be read from its on. */
function splitByTime(tests: ReadonlyMap<string, number>): { recent: Map<string, number>; older: Map<string, number> } {
  const newest = [...tests.values()].reduce((most, at) => Math.max(most, at), 0);
  const isRecent = (at: number): boolean => at >= newest - RECENT_MS;
  return {
    recent: new Map([...tests].filter(([, at]) => isRecent(at))),
    older: new Map([...tests].filter(([, at]) => !isRecent(at))),
  };
}

function healthOf(
  executions: readonly IdentifiedExecution[],
  known: { checkpoint: Fold; baseline: Fold } | undefined,
  start: 'checkpoint' | 'baseline',
  flaky: ReadonlySet<bigint>,
): HealthRow | undefined {
  const baseline = known?.baseline ?? beginning();
  const from = known?.[start] ?? baseline;
  const { end, checkpoint } = continueFold(from, executions, flaky);
  const [first] = executions;
  if (!first || !end.at || (from.at && comparePositions(end.at, from.at) === 0 && start === 'checkpoint'))
    return undefined;
  return {
    testId: first.testId,
    pipelineName: first.pipelineName,
    jobName: first.jobName,
    health: end.state.health,
    newestAt: end.at.finishedAt,
    checkpoint,
    baseline,
  };
}
