/**
 * Verdicts on executions as they arrive: which are held back, and which are flaky. Reads only what new executions can
 * have changed, and reaches the same verdicts as `judge` (src/domain/judge.ts) does from everything; `verify` compares
 * the two.
 */
import { comparePositions } from '../domain/execution.ts';
import { type FlakyRule, flakyOnCommit } from '../domain/flakiness.ts';
import { type Hold, holdsOf } from '../domain/infrastructure.ts';
import { REPEATED_FAILURE_MS, TROUBLE_REACH_MS } from '../domain/judgement-constants.ts';
import { REPETITION_REACH_EXECUTIONS, REPETITION_REACH_MS, repeatedFailures } from '../domain/repetition.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import type { KnownFold } from './health.ts';
import { splitByRecency } from './recency.ts';
import {
  type EvaluationStore,
  type FailingTest,
  type IdentifiedExecution,
  identityKey,
  type Verdict,
  type VerdictRule,
} from './store.ts';
import { type TroubledRuns, Troubles } from './troubles.ts';

/** A test whose executions may have other verdicts. */
export interface JudgedTest {
  /** The earliest change; milliseconds since the epoch. */
  since: number;
  /** The commits on which something is new. */
  commits: string[];
}

export interface JudgeOptions {
  troubledRuns: TroubledRuns;
  /** The stored folds of the touched tests, which show whether an execution arrived late. */
  folds: readonly KnownFold[];
  isFlakyDetectionEnabled: boolean;
}

/** Returns the verdicts that differ from what is stored. */
export async function judgeVerdicts(
  store: EvaluationStore,
  touched: ReadonlyMap<string, JudgedTest>,
  options: JudgeOptions,
): Promise<Verdict[]> {
  const pass = new JudgingPass(store);
  const changed = await judgeHolds(pass, touched, options);
  const tests = withChanges(touched, changed);
  if (!options.isFlakyDetectionEnabled) {
    await pass.readVerdicts([...tests.keys()], oldestOf(tests));
    return pass.changes(() => undefined);
  }
  const failing = await store.failing([...tests.keys()], commitsOf(tests), oldestOf(tests) - RECENT_MS);
  const since = await judgeContradictions(pass, tests, failing);
  await judgeRepetitions(pass, failing, since, options.folds);
  return pass.changes((execution) => pass.flakyRuleOf(execution));
}

/** A repetition needs a failure whose neighbours or counterpart can still change, and a second failure. */
const RECENT_MS = 4 * REPEATED_FAILURE_MS;
const RECENT_EXECUTIONS = 2 * REPETITION_REACH_EXECUTIONS;

/** One pass of judging: what has been read and judged so far. */
class JudgingPass {
  readonly #executions = new Map<bigint, { testId: string; finishedAt: number; isFlakyWithinRun: boolean }>();
  readonly #stored = new Map<bigint, VerdictRule>();
  readonly #holds = new Map<bigint, Hold>();
  /** The rule found, or null for none, for executions whose commit was judged as a whole. */
  readonly #contradictions = new Map<bigint, FlakyRule | null>();
  readonly #repetitions = new Map<bigint, boolean>();

  constructor(readonly store: EvaluationStore) {}

  /** Reads the stored verdicts since then, including those on executions that are not judged in this pass. */
  async readVerdicts(testIds: string[], since: number): Promise<void> {
    for (const { executionId, testId, finishedAt, rule } of await this.store.storedVerdicts(testIds, since)) {
      this.#stored.set(executionId, rule);
      const known = this.#executions.get(executionId);
      this.#executions.set(executionId, known ?? { testId, finishedAt, isFlakyWithinRun: rule === 'within_run' });
    }
  }

  setHold(execution: IdentifiedExecution, hold: Hold): void {
    this.#executions.set(execution.executionId, execution);
    this.#holds.set(execution.executionId, hold);
  }

  setContradiction(execution: IdentifiedExecution, rule: FlakyRule | undefined): void {
    this.#executions.set(execution.executionId, execution);
    this.#contradictions.set(execution.executionId, rule ?? null);
  }

  setRepetition(execution: IdentifiedExecution, isRepeated: boolean): void {
    this.#executions.set(execution.executionId, execution);
    this.#repetitions.set(execution.executionId, isRepeated);
  }

  isHeldBack({ executionId }: IdentifiedExecution): boolean {
    return this.#holdOf(executionId) !== undefined;
  }

  flakyRuleOf(execution: { executionId: bigint; isFlakyWithinRun: boolean }): FlakyRule | undefined {
    const { executionId } = execution;
    const stored = this.#stored.get(executionId);
    const judged = this.#contradictions.get(executionId);
    const kept = stored === 'within_run' || stored === 'contradicted' ? stored : undefined;
    const unjudged = kept ?? (execution.isFlakyWithinRun ? 'within_run' : undefined);
    const contradicted = judged === undefined ? unjudged : (judged ?? undefined);
    if (contradicted) return contradicted;
    return (this.#repetitions.get(executionId) ?? stored === 'repeated') ? 'repeated' : undefined;
  }

  changes(
    flakyRule: (execution: { executionId: bigint; isFlakyWithinRun: boolean }) => FlakyRule | undefined,
  ): Verdict[] {
    return [...this.#executions].flatMap(([executionId, { testId, finishedAt, isFlakyWithinRun }]) => {
      const rule = this.#holdOf(executionId) ?? flakyRule({ executionId, isFlakyWithinRun });
      return rule === this.#stored.get(executionId) ? [] : [{ testId, executionId, finishedAt, rule }];
    });
  }

  #holdOf(id: bigint): 'pending' | 'held_back' | undefined {
    const judged = this.#holds.get(id);
    if (judged !== undefined) return judged === 'released' ? undefined : judged;
    const stored = this.#stored.get(id);
    return stored === 'pending' || stored === 'held_back' ? stored : undefined;
  }
}

/**
 * Holds executions back or releases them: in runs whose trouble changed, among failures that no later run has decided
 * yet, and where an execution arrived late. Returns the executions whose evidence changed.
 */
async function judgeHolds(
  pass: JudgingPass,
  touched: ReadonlyMap<string, JudgedTest>,
  { troubledRuns: { known, changed, affected }, folds }: JudgeOptions,
): Promise<IdentifiedExecution[]> {
  if (known.size === 0 && changed.length === 0) return [];
  const from = new Map<string, number>();
  const lookFrom = (testId: string, at: number): void => {
    from.set(testId, Math.min(from.get(testId) ?? Number.MAX_SAFE_INTEGER, at));
  };
  const days = [...known.values(), ...changed].map((run) => run.day);
  const start = Math.min(...days) * DAY_MS;
  // What such a run had decided about an earlier one is open again, too.
  for (const [testId, at] of affected)
    if (touched.has(testId)) lookFrom(testId, Math.max(start, at - TROUBLE_REACH_MS));
  for (const { testId, finishedAt, rule } of await pass.store.storedVerdicts([...touched.keys()], start))
    if (rule === 'pending') lookFrom(testId, finishedAt);
  const newestDay = Math.max(...days);
  for (const [testId, { since }] of touched) if (dayOf(since) <= newestDay) lookFrom(testId, since);
  for (const { testId, end } of folds) {
    const since = touched.get(testId)?.since;
    if (since !== undefined && end.at !== null && since <= end.at.finishedAt)
      lookFrom(testId, Math.max(start, since - TROUBLE_REACH_MS));
  }
  if (from.size === 0) return [];

  const testIds = [...from.keys()];
  const oldest = oldestAmong(from.values());
  await pass.readVerdicts(testIds, oldest);
  const troubles = new Troubles(known.values());
  const changedEvidence: IdentifiedExecution[] = [];
  for (const group of Map.groupBy(await pass.store.history(testIds, oldest), identityKey).values()) {
    const [first] = group;
    if (!first) continue;
    const asked = group.filter((execution) => execution.finishedAt >= (from.get(execution.testId) ?? 0));
    const holds = holdsOf(asked, troubles.of(first));
    for (const execution of asked) {
      const wasHeldBack = pass.isHeldBack(execution);
      const hold = holds.get(execution.executionId) ?? 'released';
      if (!wasHeldBack && hold === 'released') continue;
      pass.setHold(execution, hold);
      if (wasHeldBack !== pass.isHeldBack(execution)) changedEvidence.push(execution);
    }
  }
  return changedEvidence;
}

/** The touched tests, and those whose executions are other evidence than before. */
function withChanges(
  touched: ReadonlyMap<string, JudgedTest>,
  changed: readonly IdentifiedExecution[],
): Map<string, JudgedTest> {
  const tests = new Map([...touched].map(([testId, test]) => [testId, { ...test, commits: [...test.commits] }]));
  for (const { testId, finishedAt, commit } of changed) {
    const test = tests.get(testId) ?? { since: finishedAt, commits: [] };
    tests.set(testId, test);
    test.since = Math.min(test.since, finishedAt);
    if (!test.commits.includes(commit)) test.commits.push(commit);
  }
  return tests;
}

/**
 * Judges the touched commits as a whole, because what makes a commit ambiguous affects all its executions. Returns from
 * when on the verdicts of each test can have changed.
 */
async function judgeContradictions(
  pass: JudgingPass,
  tests: ReadonlyMap<string, JudgedTest>,
  failing: readonly FailingTest[],
): Promise<Map<string, number>> {
  const since = new Map([...tests].map(([testId, test]) => [testId, test.since]));
  const testIds = failing.flatMap(({ testId, isOnCommits }) => (isOnCommits ? [testId] : []));
  const commits = commitsOf(tests);
  if (testIds.length === 0 || commits.length === 0) return since;
  const executions = (await pass.store.onCommits(testIds, commits)).filter((execution) =>
    tests.get(execution.testId)?.commits.includes(execution.commit),
  );
  if (executions.length === 0) return since;
  await pass.readVerdicts(testIds, oldestAmong(executions.map((execution) => execution.finishedAt)));
  for (const { testId, finishedAt } of executions)
    since.set(testId, Math.min(since.get(testId) ?? finishedAt, finishedAt));
  const groups = Map.groupBy(executions, (execution) => `${execution.commit}\0${identityKey(execution)}`).values();
  for (const group of groups) {
    const flaky = flakyOnCommit(group.filter((execution) => !pass.isHeldBack(execution)));
    for (const execution of group) pass.setContradiction(execution, flaky.get(execution.executionId));
  }
  return since;
}

async function judgeRepetitions(
  pass: JudgingPass,
  failing: readonly FailingTest[],
  since: ReadonlyMap<string, number>,
  folds: readonly KnownFold[],
): Promise<void> {
  const foldsOf = Map.groupBy(folds, (fold) => fold.testId);
  const candidates = new Map(
    failing.flatMap((test) => {
      const from = since.get(test.testId);
      const isPossible =
        from !== undefined && test.failuresLately >= 2 && test.newestAt >= from - 2 * REPEATED_FAILURE_MS;
      return isPossible && !isLongPast(test, from, foldsOf.get(test.testId) ?? [])
        ? [[test.testId, from] as const]
        : [];
    }),
  );
  const { recent, older } = splitByRecency(candidates);
  for (const tests of [recent, older]) {
    if (tests.size === 0) continue;
    const testIds = [...tests.keys()];
    const from = oldestAmong(tests.values());
    const start = Math.max(0, from - 2 * REPETITION_REACH_MS);
    const [executions, fingerprints] = await Promise.all([
      pass.store.recentHistory(testIds, start, from, RECENT_EXECUTIONS),
      pass.store.fingerprints(testIds, start),
      pass.readVerdicts(testIds, start),
    ]);
    for (const group of Map.groupBy(executions, identityKey).values())
      judgeRepetitionsOf(pass, group, tests, fingerprints);
  }
}

/**
 * Whether the checkpoints show more passes between the newest failure and what changed than a repetition can span. A
 * test that runs a thousand times a day and failed yesterday need not be read.
 */
function isLongPast({ newestAt }: FailingTest, from: number, folds: readonly KnownFold[]): boolean {
  return (
    folds.length > 0 &&
    folds.every(
      ({ end: { at, state } }) =>
        at !== null &&
        newestAt <= at.finishedAt &&
        at.finishedAt < from &&
        state.cleanPasses > REPETITION_REACH_EXECUTIONS,
    )
  );
}

function judgeRepetitionsOf(
  pass: JudgingPass,
  group: IdentifiedExecution[],
  since: ReadonlyMap<string, number>,
  fingerprints: ReadonlyMap<bigint, string>,
): void {
  const ordered = group.sort(comparePositions);
  const from = since.get(ordered[0]?.testId ?? '') ?? 0;
  const heldBack = new Set(ordered.flatMap((execution) => (pass.isHeldBack(execution) ? [execution.executionId] : [])));
  const repeated = repeatedFailures(ordered, heldBack, fingerprints);
  const changed = ordered.findIndex((execution) => execution.finishedAt >= from);
  const first = (changed < 0 ? ordered.length : changed) - REPETITION_REACH_EXECUTIONS;
  for (const [i, execution] of ordered.entries())
    if (i >= first && execution.finishedAt >= from - REPETITION_REACH_MS && execution.status === 'failed')
      pass.setRepetition(execution, repeated.has(execution.executionId));
}

/** The known commits; an unknown commit (empty) proves nothing. */
const commitsOf = (tests: ReadonlyMap<string, JudgedTest>): string[] =>
  [...new Set([...tests.values()].flatMap((test) => test.commits))].filter((commit) => commit !== '');

const oldestOf = (tests: ReadonlyMap<string, JudgedTest>): number =>
  oldestAmong([...tests.values()].map((test) => test.since));

function oldestAmong(moments: Iterable<number>): number {
  let oldest = Number.MAX_SAFE_INTEGER;
  for (const at of moments) oldest = Math.min(oldest, at);
  return oldest;
}
