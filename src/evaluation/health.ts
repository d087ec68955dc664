/**
 * The health of identities. Almost always what is new finished after everything known, and the fold continues with it. If
 * something arrived out of order, or an older verdict changed, the test is folded again from the newest checkpoint before
 * that, with what ClickHouse has stored.
 */
import { comparePositions } from '../domain/execution.ts';
import type { HealthState } from '../domain/health.ts';
import { beginning, CHECKPOINT_LAG_MS, continueFold, type Fold, type HealthChange, isBehind } from './fold.ts';
import { type NewsOfIdentity, placeOf, type TestNews } from './news.ts';
import { splitByRecency } from './recency.ts';
import {
  type EvaluationStore,
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

/** The fold of an identity after everything that was evaluated, and when its newer checkpoint is (0: there is none). */
export interface KnownFold extends Identity {
  end: Fold;
  checkpointAt: number;
}

/** A fold with the changes of health that it met; if it started over, they replace those that are known from there on. */
export interface ChangedFold extends KnownFold {
  changes: HealthChange[];
  restartedAt: Fold | undefined;
}

/** Where a fold can start over, from old to new. */
export interface Checkpoints extends Identity {
  baseline: Fold;
  older: Fold;
  newer: Fold;
}

/** Reads and writes checkpoints, in the transaction of the evaluation. */
export interface CheckpointStore {
  read(testIds: readonly string[]): Promise<Checkpoints[]>;
  write(rows: readonly Checkpoints[]): Promise<void>;
  /** The newer checkpoint becomes the older one, and the given fold the newer one. */
  advance(rows: readonly (Identity & { newer: Fold })[]): Promise<void>;
}

/** What changed about a test. */
export interface TestChange {
  /** All that changed, if it is all new; undefined if something changed about what was known. */
  news: TestNews | undefined;
  /** The earliest change; milliseconds since the epoch. */
  since: number;
}

/**
 * Folds what changed. Returns the folds that differ from the known ones, and keeps the checkpoints up to date.
 *
 * @param known by test.
 * @param changed verdicts that are not stored yet.
 */
export async function judgeHealth(
  stores: { executions: EvaluationStore; checkpoints: CheckpointStore },
  known: ReadonlyMap<string, readonly KnownFold[]>,
  tests: ReadonlyMap<string, TestChange>,
  changed: readonly Verdict[],
): Promise<Folds> {
  const inOrder = new Map<string, TestNews>();
  const outOfOrder = new Map<string, number>();
  for (const [testId, { news, since }] of tests)
    if (news && isInOrder(news, known.get(testId) ?? [])) inOrder.set(testId, news);
    else outOfOrder.set(testId, since);
  const folds = await appendNews(stores.checkpoints, known, inOrder, changed);
  if (outOfOrder.size > 0) for (const fold of await foldAgain(stores, known, outOfOrder, changed)) addFold(folds, fold);
  return folds;
}

/** Folds of identities, by test id. */
export type Folds = Map<string, ChangedFold[]>;

function addFold(folds: Folds, fold: ChangedFold): void {
  const of = folds.get(fold.testId);
  if (of) of.push(fold);
  else folds.set(fold.testId, [fold]);
}

/** Continues the folds of tests with what {@link isInOrder}. Returns the folds that changed. */
export async function appendNews(
  checkpoints: CheckpointStore,
  known: ReadonlyMap<string, readonly KnownFold[]>,
  tests: ReadonlyMap<string, TestNews>,
  changed: readonly Verdict[],
): Promise<Folds> {
  const rules = new Map(changed.map(({ executionId, rule }) => [executionId, rule]));
  const folds: Folds = new Map();
  const advanced: (Identity & { newer: Fold })[] = [];
  for (const [testId, news] of tests) {
    const byPlace = byPlaceOf(known.get(testId));
    for (const identity of news.identities) {
      const found = appended(identity, testId, byPlace.get(placeOf(identity)), rules);
      if (found) addFold(folds, found.known);
      if (found?.advance) advanced.push(found.advance);
    }
  }
  await checkpoints.advance(advanced);
  return folds;
}

const byPlaceOf = (folds: readonly KnownFold[] = []): ReadonlyMap<string, KnownFold> =>
  new Map(folds.map((fold) => [placeOf(fold), fold]));

/** Whether everything new about a test finished after everything that is known of it. */
export function isInOrder(news: TestNews, known: readonly KnownFold[]): boolean {
  if (known.every(({ end }) => !isBehind(end, news.since))) return true;
  const byPlace = byPlaceOf(known);
  return news.identities.every((identity) => {
    const end = byPlace.get(placeOf(identity))?.end.at;
    return !end || identity.conclusive().every((execution) => comparePositions(execution, end) > 0);
  });
}

interface Appended {
  known: ChangedFold;
  advance?: Identity & { newer: Fold };
}

function appended(
  news: NewsOfIdentity,
  testId: string,
  before: KnownFold | undefined,
  rules: ReadonlyMap<bigint, VerdictRule | undefined>,
): Appended | undefined {
  const executions = news.conclusive();
  if (executions.length === 0) return undefined;
  const { end, changes } = continueFold(before?.end ?? beginning(), executions, verdictsOnNew(executions, rules));
  const finishedAt = end.at?.finishedAt ?? 0;
  const identity = { testId, pipelineName: news.pipelineName, jobName: news.jobName };
  const folded = { ...identity, end, changes, restartedAt: undefined };
  if (!before?.end.at) return { known: { ...folded, checkpointAt: finishedAt } };
  if (finishedAt - before.checkpointAt < CHECKPOINT_LAG_MS)
    return { known: { ...folded, checkpointAt: before.checkpointAt } };
  const checkpointAt = before.end.at.finishedAt;
  return { known: { ...folded, checkpointAt }, advance: { ...identity, newer: before.end } };
}

/** An execution that its source flags is flaky from the start, unless the verdict on it says otherwise. */
function verdictsOnNew(
  executions: readonly IdentifiedExecution[],
  rules: ReadonlyMap<bigint, VerdictRule | undefined>,
): Verdicts {
  return verdictsOf(
    executions.flatMap(({ executionId, isFlakyWithinRun }) => {
      const rule = rules.has(executionId) ? rules.get(executionId) : isFlakyWithinRun ? 'within_run' : undefined;
      return rule === undefined ? [] : [[executionId, rule] as const];
    }),
  );
}

async function foldAgain(
  { executions: store, checkpoints }: { executions: EvaluationStore; checkpoints: CheckpointStore },
  known: ReadonlyMap<string, readonly Identity[]>,
  since: ReadonlyMap<string, number>,
  changed: readonly Verdict[],
): Promise<ChangedFold[]> {
  const stored = await checkpoints.read([...since.keys()]);
  const restarts = new Map(stored.map((row) => [identityKey(row), row]));
  const from = new Map(
    [...since].map(([testId, at]) => {
      const starts = (known.get(testId) ?? []).map((identity) => {
        // Too young for a checkpoint.
        const restart = restarts.get(identityKey(identity));
        return restart ? (startOf(restart, at).at?.finishedAt ?? 0) : 0;
      });
      return [testId, Math.min(at, ...starts)];
    }),
  );
  const folds: ChangedFold[] = [];
  const rewritten: Checkpoints[] = [];
  const { recent, older } = splitByRecency(from);
  for (const tests of [recent, older]) {
    if (tests.size === 0) continue;
    const testIds = [...tests.keys()];
    const oldest = Math.min(...tests.values());
    const [executions, verdicts] = await Promise.all([
      store.history(testIds, oldest),
      store.storedVerdicts(testIds, oldest),
    ]);
    const evidence = withChanges(verdicts, changed);
    for (const [key, group] of Map.groupBy(executions, identityKey)) {
      const [first] = group;
      if (!first) continue;
      const { testId, pipelineName, jobName } = first;
      const identity = { testId, pipelineName, jobName };
      const restart = restarts.get(key);
      const start = restart ? startOf(restart, since.get(testId) ?? 0) : beginning();
      const { end, checkpoint, changes } = continueFold(start, group, evidence);
      if (!end.at) continue;
      const baseline = restart?.baseline ?? beginning();
      rewritten.push({ ...identity, baseline, older: start, newer: checkpoint });
      folds.push({ ...identity, end, checkpointAt: checkpoint.at?.finishedAt ?? 0, changes, restartedAt: start });
    }
  }
  await checkpoints.write(rewritten);
  return folds;
}

/** The newest place before the change. */
const startOf = ({ baseline, older, newer }: Checkpoints, changedAt: number): Fold =>
  [newer, older].find((fold) => fold.at !== null && !isBehind(fold, changedAt)) ?? baseline;

function withChanges(stored: readonly StoredVerdict[], changed: readonly Verdict[]): Verdicts {
  const rules = new Map<bigint, VerdictRule>(stored.map(({ executionId, rule }) => [executionId, rule]));
  for (const { executionId, rule } of changed)
    if (rule === undefined) rules.delete(executionId);
    else rules.set(executionId, rule);
  return verdictsOf(rules);
}
