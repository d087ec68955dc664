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
import { type IdentityState, judgeHealth, type KnownFold, type TestChange } from './health.ts';
import { conclusiveOf, type TestNews, type TouchedTest } from './news.ts';
import { type RunStore, TESTS_MAX, type TroubledRun } from './run-store.ts';
import type { StateStore, TestStates } from './state-store.ts';
import {
  type EvaluationStore,
  type Identity,
  identityKey,
  isFlakyRule,
  type Verdict,
  type VerdictRule,
} from './store.ts';
import { judgeRuns, type TroubledRuns } from './troubles.ts';
import { judgeVerdicts } from './verdicts.ts';

export interface EvaluationStores {
  executions: EvaluationStore;
  runs: RunStore;
  states: StateStore;
}

export interface Judgements {
  /** What to write into ClickHouse once the state is committed. */
  verdicts: Verdict[];
  runs: TroubledRun[];
  /** The state of every identity of the tests that were judged. */
  states: IdentityState[];
}

/** Judges what is new about the touched tests, and about others whose evidence changes with a troubled run. */
export async function evaluate(
  stores: EvaluationStores,
  touched: ReadonlyMap<string, TouchedTest>,
  { isFlakyDetectionEnabled }: { isFlakyDetectionEnabled: boolean },
): Promise<Judgements> {
  const oldest = [...touched.values()].reduce((least, { since }) => Math.min(least, since), Number.MAX_SAFE_INTEGER);
  const troubledRuns = oldest === Number.MAX_SAFE_INTEGER ? noTrouble() : await judgeRuns(stores.runs, oldest);
  const judged: Judgements = { verdicts: [], runs: troubledRuns.changed, states: [] };
  // A troubled run may affect far more tests than the blocks that made it one.
  for (const tests of batchesOf(touched, troubledRuns.affected)) {
    const known = await stores.states.readStates([...tests.keys()]);
    const changed = await judgeSuspects(stores, tests, known, { troubledRuns, isFlakyDetectionEnabled });
    const folds = await judgeHealth(
      { executions: stores.executions, checkpoints: stores.states },
      known.folds,
      changesOf(tests, changed),
      changed,
    );
    const flakySince = firstRatioDay(newestOf(known, tests)) * DAY_MS;
    const flakyDays = await flakyDaysOf(stores.executions, tests, changed, flakySince);
    await stores.states.writeStates(known, { tests, folds, flakyDays });
    for (const state of statesOf(known.folds, folds)) judged.states.push(state);
    for (const verdict of changed) judged.verdicts.push(verdict);
  }
  return judged;
}

/** Skipped executions make no run troubled. */
const noTrouble = (): TroubledRuns => ({ known: new Map(), changed: [], affected: new Map() });

/** The touched tests, then the others that are affected; each with the time of its first change. */
function* batchesOf(
  touched: ReadonlyMap<string, TouchedTest>,
  affected: ReadonlyMap<string, number>,
): Generator<Map<string, TouchedTest>> {
  const all: [string, TouchedTest][] = [...touched].map(([testId, test]) => [
    testId,
    { ...test, since: Math.min(test.since, affected.get(testId) ?? test.since) },
  ]);
  for (const [testId, since] of affected)
    if (!touched.has(testId)) all.push([testId, { since, commits: [], news: undefined, isAgain: false }]);
  for (let from = 0; from < all.length; from += TESTS_MAX) yield new Map(all.slice(from, from + TESTS_MAX));
}

/**
 * Judges the tests that have ever failed. Of any other, every execution is a pass that was neither retried nor
 * contradicted: nothing about it can be flaky or held back.
 */
async function judgeSuspects(
  stores: EvaluationStores,
  tests: ReadonlyMap<string, TouchedTest>,
  known: TestStates,
  options: { troubledRuns: TroubledRuns; isFlakyDetectionEnabled: boolean },
): Promise<Verdict[]> {
  const failed = new Set(known.identities.flatMap((one) => (one.summary.lastFailureAt === null ? [] : [one.testId])));
  const suspects = new Map(
    [...tests].filter(
      ([testId, { news, since }]) =>
        since < Number.MAX_SAFE_INTEGER && (failed.has(testId) || news === undefined || hasTrouble(news)),
    ),
  );
  if (suspects.size === 0) return [];
  const folds = known.folds.filter(({ testId }) => suspects.has(testId));
  return judgeVerdicts(stores.executions, suspects, { ...options, folds });
}

const hasTrouble = (news: TestNews): boolean =>
  conclusiveOf(news).some(({ status, isFlakyWithinRun }) => status === 'failed' || isFlakyWithinRun);

/** When the newest execution of any of these tests finished. */
function newestOf({ identities }: TestStates, tests: ReadonlyMap<string, TouchedTest>): number {
  let newest = 0;
  for (const { summary } of identities) newest = Math.max(newest, summary.newest?.finishedAt ?? 0);
  for (const { news } of tests.values())
    for (const { finishedAt } of news ? conclusiveOf(news) : []) newest = Math.max(newest, finishedAt);
  return newest;
}

function changesOf(
  tests: ReadonlyMap<string, TouchedTest>,
  changed: readonly Verdict[],
): ReadonlyMap<string, TestChange> {
  const changes = new Map<string, TestChange>();
  for (const [testId, { news, since, isAgain }] of tests)
    if (since < Number.MAX_SAFE_INTEGER) changes.set(testId, { news: isAgain ? undefined : news, since });
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
    if (news && conclusiveOf(news).some(({ isFlakyWithinRun }) => isFlakyWithinRun)) testIds.add(testId);
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

/** Every identity of the tests that has a health, after the evaluation. */
function statesOf(known: readonly KnownFold[], folds: readonly KnownFold[]): IdentityState[] {
  const newest = new Map([...known, ...folds].map((fold) => [identityKey(identityOf(fold)), fold]));
  return [...newest.values()].flatMap(({ testId, pipelineName, jobName, end }) =>
    end.at ? [{ testId, pipelineName, jobName, newestAt: end.at.finishedAt, state: end.state }] : [],
  );
}

const identityOf = ({ testId, pipelineName, jobName }: Identity) => ({ testId, pipelineName, jobName });

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
