/**
 * Judges what blocks have brought: first troubled runs, then the verdicts on executions, then the health of every
 * identity that these or new executions affect; and counts what is new.
 *
 * The state of the tests is written in one transaction, which also marks the blocks as counted. Verdicts and troubled
 * runs follow it into ClickHouse. If that does not happen, the next evaluation of the blocks finds the same changes,
 * because they are compared with what is stored there, and does not count again.
 */
import type { judge } from '../domain/judge.ts';
import { firstRatioDay } from '../domain/test-state.ts';
import { DAY_MS } from '../domain/time.ts';
import { appendNews, isInOrder, judgeHealth, type KnownFold, type TestChange } from './health.ts';
import { conclusiveOf, type TestNews } from './news.ts';
import { type RunStore, TESTS_MAX, type TroubledRun } from './run-store.ts';
import { type KnownTest, type StateStore, type TestInHand, UNKNOWN } from './state-store.ts';
import { type EvaluationStore, isFlakyRule, type Verdict, type VerdictRule } from './store.ts';
import { commitsOf, type TouchedTest } from './touched.ts';
import { judgeRuns, type TroubledRuns } from './troubles.ts';
import { type JudgedTest, judgeVerdicts } from './verdicts.ts';

export interface EvaluationStores {
  executions: EvaluationStore;
  runs: RunStore;
  states: StateStore;
}

export interface Judgements {
  /** What to write into ClickHouse once the state is committed. */
  verdicts: Verdict[];
  runs: TroubledRun[];
  /** The tests that were counted or judged. */
  testIds: string[];
  /** Those of which an identity is, or was until now, flaky or broken. */
  unhealthy: ReadonlySet<string>;
}

export interface EvaluateOptions {
  isFlakyDetectionEnabled: boolean;
  /** Called before each batch of tests; what it throws takes back the evaluation. */
  beforeBatch(): void;
}

/** Judges what is new about the touched tests, and about others whose evidence changes with a troubled run. */
export async function evaluate(
  stores: EvaluationStores,
  touched: ReadonlyMap<string, TouchedTest>,
  { isFlakyDetectionEnabled, beforeBatch }: EvaluateOptions,
): Promise<Judgements> {
  const oldest = [...touched.values()].reduce((least, { since }) => Math.min(least, since), Number.MAX_SAFE_INTEGER);
  const troubledRuns = oldest === Number.MAX_SAFE_INTEGER ? noTrouble() : await judgeRuns(stores.runs, oldest);
  const evaluation = new Evaluation(stores, { isFlakyDetectionEnabled, troubledRuns });
  // A troubled run may affect far more tests than the blocks that made it one.
  for (const tests of batchesOf(touched, troubledRuns.affected)) {
    beforeBatch();
    await evaluation.add(tests);
  }
  return evaluation.end();
}

/** Skipped executions make no run troubled. */
const noTrouble = (): TroubledRuns => ({ known: new Map(), changed: [], affected: new Map() });

/** The touched tests, then the others that are affected; each with the time of its first change. */
function* batchesOf(
  touched: ReadonlyMap<string, TouchedTest>,
  affected: ReadonlyMap<string, number>,
): Generator<Map<string, TouchedTest>> {
  const testIds = [...touched.keys(), ...affected.keys().filter((testId) => !touched.has(testId))];
  for (let from = 0; from < testIds.length; from += TESTS_MAX) {
    const batch = new Map<string, TouchedTest>();
    for (const testId of testIds.slice(from, from + TESTS_MAX)) {
      const test = touched.get(testId);
      const since = affected.get(testId) ?? Number.MAX_SAFE_INTEGER;
      if (test && test.since <= since) batch.set(testId, test);
      else batch.set(testId, { since, news: test?.news, again: test?.again });
    }
    yield batch;
  }
}

class Evaluation {
  /** Tests whose executions must be judged: many at once, because a statement costs more than the tests in it. */
  readonly #suspects = new Map<string, TestInHand>();
  readonly #verdicts: Verdict[] = [];
  readonly #testIds: string[] = [];
  readonly #unhealthy = new Set<string>();

  constructor(
    private readonly stores: EvaluationStores,
    private readonly options: { troubledRuns: TroubledRuns; isFlakyDetectionEnabled: boolean },
  ) {}

  async add(tests: ReadonlyMap<string, TouchedTest>): Promise<void> {
    const { states } = this.stores;
    const calm = new Map<string, TestInHand>();
    const known = await states.readStates([...tests.keys()]);
    const news = new Map<string, TestNews>();
    for (const [testId, test] of tests) {
      const inHand = {
        since: test.since,
        news: test.news,
        again: test.again,
        known: known.get(testId) ?? UNKNOWN,
      };
      this.#testIds.push(testId);
      if (isUnhealthy(inHand.known.folds)) this.#unhealthy.add(testId);
      if (!this.options.troubledRuns.affected.has(testId) && hasOnlyPassed(inHand)) {
        calm.set(testId, inHand);
        if (inHand.news) news.set(testId, inHand.news);
        continue;
      }
      this.#suspects.set(testId, inHand);
      if (this.#suspects.size === TESTS_MAX) await this.#judgeSuspects();
    }
    const folds = await appendNews(states, foldsOf(calm), news, []);
    await states.writeStates(calm, { folds, flakyDays: new Map() });
  }

  async end(): Promise<Judgements> {
    await this.#judgeSuspects();
    return {
      verdicts: this.#verdicts,
      runs: this.options.troubledRuns.changed,
      testIds: this.#testIds,
      unhealthy: this.#unhealthy,
    };
  }

  async #judgeSuspects(): Promise<void> {
    const { executions, states } = this.stores;
    const tests = this.#suspects;
    const changed = await judgeFailing(executions, tests, this.options);
    const stores = { executions, checkpoints: states };
    const folds = await judgeHealth(stores, foldsOf(tests), changesOf(tests, changed), changed);
    const flakyDays = await flakyDaysOf(executions, tests, changed, firstRatioDay(newestOf(tests)) * DAY_MS);
    await states.writeStates(tests, { folds, flakyDays });
    for (const [testId, of] of folds) if (isUnhealthy(of)) this.#unhealthy.add(testId);
    for (const verdict of changed) this.#verdicts.push(verdict);
    tests.clear();
  }
}

const isUnhealthy = (folds: readonly KnownFold[]): boolean => folds.some(({ end }) => end.state.health !== 'healthy');

const foldsOf = (tests: ReadonlyMap<string, TestInHand>): ReadonlyMap<string, readonly KnownFold[]> =>
  new Map([...tests].map(([testId, { known }]) => [testId, known.folds]));

/**
 * Whether a test never failed, and passed after everything that is known of it: then nothing about it can be flaky or
 * held back, and it is counted without a look at its executions.
 */
const hasOnlyPassed = ({ news, again, known }: TestInHand): boolean =>
  news !== undefined && !again && !news.hasTrouble && !hasFailed(known) && isInOrder(news, known.folds);

const hasFailed = ({ records }: KnownTest): boolean => records.some(({ summary }) => summary.lastFailureAt !== null);

/**
 * Judges the tests that have ever failed. Of any other, every execution is a pass that was neither retried nor
 * contradicted: nothing about it can be flaky or held back.
 */
async function judgeFailing(
  executions: EvaluationStore,
  tests: ReadonlyMap<string, TestInHand>,
  options: { troubledRuns: TroubledRuns; isFlakyDetectionEnabled: boolean },
): Promise<Verdict[]> {
  const failing = new Map<string, JudgedTest>();
  const folds: KnownFold[] = [];
  for (const [testId, test] of tests) {
    const { since, news, again, known } = test;
    const mayFail = hasFailed(known) || news === undefined || news.hasTrouble || again?.hasTrouble;
    if (since === Number.MAX_SAFE_INTEGER || !mayFail) continue;
    failing.set(testId, { since, commits: commitsOf(test) });
    for (const fold of known.folds) folds.push(fold);
  }
  return failing.size === 0 ? [] : judgeVerdicts(executions, failing, { ...options, folds });
}

/** When the newest execution of any of these tests finished. */
function newestOf(tests: ReadonlyMap<string, TestInHand>): number {
  let newest = 0;
  for (const { news, known } of tests.values()) {
    for (const { summary } of known.records) newest = Math.max(newest, summary.newest?.finishedAt ?? 0);
    for (const { finishedAt } of news ? conclusiveOf(news) : []) newest = Math.max(newest, finishedAt);
  }
  return newest;
}

function changesOf(
  tests: ReadonlyMap<string, TouchedTest>,
  changed: readonly Verdict[],
): ReadonlyMap<string, TestChange> {
  const changes = new Map<string, TestChange>();
  // Of what is judged again, only a part is news, so the test is folded from what is stored.
  for (const [testId, { news, since, again }] of tests)
    if (since < Number.MAX_SAFE_INTEGER) changes.set(testId, { news: again ? undefined : news, since });
  for (const [testId, verdicts] of Map.groupBy(changed, (verdict) => verdict.testId)) {
    const change = changes.get(testId);
    const fresh = new Set(change?.news ? conclusiveOf(change.news).map(({ executionId }) => executionId) : []);
    const since = Math.min(...verdicts.map(({ finishedAt }) => finishedAt), change?.since ?? Number.MAX_SAFE_INTEGER);
    const isOld = verdicts.some(({ executionId }) => !fresh.has(executionId));
    changes.set(testId, { news: isOld ? undefined : change?.news, since });
  }
  return changes;
}

/** The flaky executions of the ratio's days, of the tests for which they may have changed. */
async function flakyDaysOf(
  store: EvaluationStore,
  tests: ReadonlyMap<string, TouchedTest>,
  changed: readonly Verdict[],
  since: number,
): Promise<Map<string, Map<number, number>>> {
  const testIds = new Set(changed.map(({ testId }) => testId));
  for (const [testId, { news }] of tests)
    if (news?.hasTrouble && conclusiveOf(news).some(({ isFlakyWithinRun }) => isFlakyWithinRun)) testIds.add(testId);
  if (testIds.size === 0) return new Map();
  const verdicts = new Map<bigint, Verdict>(
    (await store.storedVerdicts([...testIds], since)).map((verdict) => [verdict.executionId, verdict]),
  );
  for (const verdict of changed) verdicts.set(verdict.executionId, verdict);
  const days = new Map([...testIds].map((testId) => [testId, new Map<number, number>()]));
  for (const { testId, finishedAt, rule } of verdicts.values()) {
    const counts = days.get(testId);
    if (!counts || !isFlakyRule(rule) || finishedAt < since) continue;
    const day = Math.floor(finishedAt / DAY_MS);
    counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  return days;
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
