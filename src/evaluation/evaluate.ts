/**
 * Counts and judges what blocks have brought to a repository. What is calm (nearly everything) is only counted. The rest
 * is judged together, because what a failure proves depends on what else failed in its run.
 *
 * The state of the tests and of runs is written in one transaction, which also marks the blocks as counted. Verdicts on
 * executions follow it into ClickHouse. If that does not happen, the next evaluation of the blocks judges everything since
 * then again, and finds the same changes, because they are compared with what is stored there.
 */
import type { ClickHouse } from '../clickhouse/client.ts';
import { shownHealth } from '../domain/belief-course.ts';
import { firstRatioDay } from '../domain/test-state.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import type { Executor } from '../postgres/client.ts';
import { contradictedAmong } from '../postgres/contradictions.ts';
import type { Checkpoints } from '../postgres/health-checkpoints.ts';
import { addToRuns } from '../postgres/judged-runs.ts';
import type { IdentityRecord } from '../postgres/test-states.ts';
import { batchesOf, inTurns } from './batches.ts';
import { beginningsIn } from './beginnings.ts';
import { type CalmContext, type CalmTest, countCalm, maybeCalm, mayMove } from './calm.ts';
import { type KnownTest, type TestInHand, UNKNOWN } from './changed-states.ts';
import { flakyDaysOf, type JudgedVerdicts, judgeVerdicts } from './flaky-verdicts.ts';
import { type Arrival, type JudgedIdentity, judgeArrivals } from './judge-arrivals.ts';
import { type NewsOfIdentity, placeOf } from './news.ts';
import { takeInPulls } from './pull-commits.ts';
import type { RecentCourses } from './recent-courses.ts';
import { StateStore, type WriteOptions } from './state-store.ts';
import { type EvaluationStore, type Identity, identityKey, type Verdict } from './store.ts';
import type { TouchedRepository, TouchedTest } from './touched.ts';

export interface EvaluationStores {
  /** Where everything is written, and what is judged is read. */
  tx: Executor;
  /** Another connection: reads batches ahead of what is written. */
  db: Executor;
  clickhouse: ClickHouse;
  repositoryId: string;
  executions: EvaluationStore;
  states: StateStore;
  recent: RecentCourses;
  /** Ids of executions in blocks that are neither counted nor evaluated now. */
  readUncounted(): Promise<ReadonlySet<bigint>>;
}

export interface Judgements {
  /** What to write into ClickHouse once the state is committed. */
  verdicts: readonly Verdict[];
  /** The tests that were counted or judged. */
  testIds: string[];
  /** Of those that were judged, the ones of which an identity is, or was until now, flaky or broken. */
  unhealthy: ReadonlySet<string>;
}

export interface EvaluateOptions {
  isFlakyDetectionEnabled: boolean;
  /** See {@link WriteOptions.isListedLate}. */
  isListedLate: boolean;
  /** Called before each batch of tests; what it throws takes back the evaluation. */
  beforeBatch(): void;
}

export async function evaluate(
  stores: EvaluationStores,
  touched: TouchedRepository,
  options: EvaluateOptions,
): Promise<Judgements> {
  const evaluation = new Evaluation(stores, options);
  await inTurns(evaluation, [...batchesOf(touched.tests)], options.beforeBatch);
  options.beforeBatch();
  const judged = await evaluation.judge(touched);
  for (const batch of batchesOf(judged)) {
    options.beforeBatch();
    await evaluation.write(batch);
  }
  return evaluation.judgements;
}

/** A test that was judged: the news that are not counted yet, and its identities. */
interface JudgedTest extends TouchedTest {
  identities: readonly JudgedIdentity[];
}

/** A batch that is counted, to be written. */
interface CountedBatch {
  calm: ReadonlyMap<string, TestInHand>;
  checkpoints: readonly Checkpoints[];
  /** By `identityKey`: identities whose course is remembered, with what was known of them, and what is new. */
  remembered: ReadonlyMap<string, { before: IdentityRecord; news: NewsOfIdentity }>;
}

class Evaluation {
  #verdicts: JudgedVerdicts = { changed: [], stored: [] };
  /** Tests of which the executions that count as flaky may have changed. */
  readonly #mayDiffer = new Set<string>();
  readonly #testIds: string[] = [];
  readonly #unhealthy = new Set<string>();
  /** Tests that are not calm. */
  readonly #suspects = new Map<string, TouchedTest>();
  readonly #arrivals = new Map<string, Arrival>();
  readonly #ahead: StateStore;

  constructor(
    private readonly stores: EvaluationStores,
    private readonly options: EvaluateOptions,
  ) {
    this.#ahead = new StateStore(stores.db, stores.repositoryId);
  }

  /** Of the identities of each test, only those with news: a test has many, and few of them run together. */
  readAhead(tests: ReadonlyMap<string, TouchedTest>): Promise<ReadonlyMap<string, KnownTest>> {
    return this.#ahead.readNamed([...tests.keys()], [...tests].flatMap(identitiesWithNews));
  }

  /** Counts what is calm, and keeps the rest in hand. Writes nothing. */
  async count(tests: ReadonlyMap<string, TouchedTest>, known: ReadonlyMap<string, KnownTest>): Promise<CountedBatch> {
    const maybe = new Map<string, CalmTest>();
    for (const [testId, { news, again }] of tests) {
      const one = news && !again ? maybeCalm(testId, news, known.get(testId)?.records ?? []) : undefined;
      if (one) maybe.set(testId, one);
    }
    const context = await this.#contextOf(maybe.values());
    const calm = new Map<string, TestInHand>();
    const checkpoints: Checkpoints[] = [];
    const remembered = new Map<string, { before: IdentityRecord; news: NewsOfIdentity }>();
    for (const [testId, test] of tests) {
      const before = known.get(testId) ?? UNKNOWN;
      const one = maybe.get(testId);
      const counted = one && countCalm(one, context);
      if (!counted) {
        this.#keep(testId, test, before);
        continue;
      }
      this.#testIds.push(testId);
      const { records, beliefs } = counted;
      calm.set(testId, { ...test, known: { test: before.test, records }, beliefs, judged: [] });
      checkpoints.push(...counted.checkpoints);
      for (const { record: known, news } of one.identities)
        if (known && this.stores.recent.has(this.stores.repositoryId, identityKey(known)))
          remembered.set(identityKey(known), { before: known, news });
    }
    return { calm, checkpoints, remembered };
  }

  async writeCounted({ calm, checkpoints, remembered }: CountedBatch): Promise<void> {
    const { states, recent, repositoryId } = this.stores;
    await states.writeCheckpoints(checkpoints);
    const written = await states.writeStates(calm, this.#toWrite(new Map()));
    if (remembered.size === 0) return;
    for (const after of written) {
      const known = remembered.get(identityKey(after));
      if (known) recent.add(repositoryId, identityKey(after), known.news.conclusive(), { before: known.before, after });
    }
  }

  async #contextOf(tests: Iterable<CalmTest>): Promise<CalmContext> {
    const { db, repositoryId } = this.stores;
    const [moved, first] = [new Set<string>(), new Set<string>()];
    for (const { testId, identities } of tests)
      for (const identity of identities)
        if (identity.follows === 'first') first.add(testId);
        else if (identity.follows === 'late' && mayMove(identity)) moved.add(testId);
    const rows = moved.size === 0 ? [] : await this.#ahead.readCheckpoints([...moved]);
    return {
      checkpoints: new Map(rows.map((row) => [identityKey(row), row])),
      contradicted: new Set(await contradictedAmong(db, repositoryId, [...first])),
    };
  }

  #note(testId: string, { records }: KnownTest): void {
    this.#testIds.push(testId);
    if (records.some(({ health }) => health !== 'healthy')) this.#unhealthy.add(testId);
  }

  #keep(testId: string, test: TouchedTest, { records }: KnownTest): void {
    this.#suspects.set(testId, test);
    const ends = new Map(records.map((record) => [placeOf(record), record.belief]));
    for (const identity of test.news?.identities ?? []) {
      const { pipelineName, jobName } = identity;
      const executions = identity.conclusive();
      const end = ends.get(placeOf(identity));
      if (end && executions.length === 0) continue;
      const arrival = { testId, pipelineName, jobName, end, executions };
      this.#arrivals.set(identityKey(arrival), arrival);
    }
  }

  /** Judges what is in hand. Returns every test that this concerns. */
  async judge({ tests, runs: added, pulls: touched }: TouchedRepository): Promise<ReadonlyMap<string, JudgedTest>> {
    const { tx, repositoryId, executions, states, recent, readUncounted } = this.stores;
    const runs = await addToRuns(tx, repositoryId, added);
    const pulls = await takeInPulls(this.stores, touched);
    const againSince = [...tests.values()].reduce(
      // Its run began on the same day.
      (least, { again }) => (again ? Math.min(least, dayOf(again.since) * DAY_MS) : least),
      Number.POSITIVE_INFINITY,
    );
    const stores = {
      ...{ tx, repositoryId, executions, recent, readUncounted },
      readBeliefs: (ids: readonly string[]) => states.readBeliefs(ids),
    };
    const judged = await judgeArrivals(stores, { identities: this.#arrivals, runs, pulls, againSince });
    const flaky = [...this.#arrivals.values()].flatMap((arrival) =>
      arrival.executions.filter(({ isFlakyWithinRun }) => isFlakyWithinRun),
    );
    this.#verdicts = await judgeVerdicts(executions, [...judged.values()], flaky, this.options);
    // What its source calls flaky is stored already.
    for (const { testId } of [...this.#verdicts.changed, ...flaky]) this.#mayDiffer.add(testId);
    const byTest = Map.groupBy(judged.values(), ({ testId }) => testId);
    return new Map(
      [...new Set([...this.#suspects.keys(), ...byTest.keys()])].map((testId): [string, JudgedTest] => [
        testId,
        { ...(this.#suspects.get(testId) ?? NOTHING_NEW), identities: byTest.get(testId) ?? [] },
      ]),
    );
  }

  async write(tests: ReadonlyMap<string, JudgedTest>): Promise<void> {
    const { states } = this.stores;
    const named = new Map<string, Identity>();
    for (const [testId, test] of tests)
      for (const identity of [...test.identities, ...identitiesWithNews([testId, test])])
        named.set(identityKey(identity), identity);
    const known = await states.readNamed([...tests.keys()], [...named.values()]);
    const inHand = new Map(
      [...tests].map(([testId, { identities, ...test }]): [string, TestInHand] => [
        testId,
        { ...test, known: known.get(testId) ?? UNKNOWN, beliefs: new Map(), judged: identities },
      ]),
    );
    for (const [testId, { identities }] of tests) {
      this.#note(testId, known.get(testId) ?? UNKNOWN);
      const isUnhealthy = identities.some(
        ({ course }) => shownHealth(course.belief.status, this.options.isFlakyDetectionEnabled) !== 'healthy',
      );
      if (isUnhealthy) this.#unhealthy.add(testId);
    }
    const mayDiffer = new Set([...this.#mayDiffer].filter((testId) => tests.has(testId)));
    const since = Math.min(...[...mayDiffer].map((testId) => firstRatioDay(newestOf(inHand.get(testId))) * DAY_MS));
    const flakyDays = flakyDaysOf(this.#verdicts, mayDiffer, since);
    this.#remember(inHand, await states.writeStates(inHand, this.#toWrite(flakyDays)));
  }

  #remember(tests: ReadonlyMap<string, TestInHand>, written: readonly IdentityRecord[]): void {
    const { recent, repositoryId } = this.stores;
    const judged = new Map([...tests.values()].flatMap((test) => test.judged.map((one) => [identityKey(one), one])));
    for (const after of written) {
      const key = identityKey(after);
      const one = judged.get(key);
      if (!one) continue;
      const before = tests.get(after.testId)?.known.records.find((record) => identityKey(record) === key);
      const course = { isContinued: one.restart === undefined, added: one.executions, recent: one.recent };
      recent.judged(repositoryId, key, course, { before, after });
    }
  }

  #toWrite(flakyDays: WriteOptions['flakyDays']): WriteOptions {
    const { clickhouse, repositoryId } = this.stores;
    return { flakyDays, findBeginnings: beginningsIn(clickhouse, repositoryId), ...this.options };
  }

  get judgements(): Judgements {
    return { verdicts: this.#verdicts.changed, testIds: this.#testIds, unhealthy: this.#unhealthy };
  }
}

const identitiesWithNews = ([testId, { news }]: readonly [string, TouchedTest]): Identity[] =>
  (news?.identities ?? []).map(({ pipelineName, jobName }) => ({ testId, pipelineName, jobName }));

const NOTHING_NEW: TouchedTest = { news: undefined, again: undefined };

/** When the newest execution of a test that passed or failed finished. */
function newestOf(test: TestInHand | undefined): number {
  let newest = (test?.known.test?.lastDay ?? 0) * DAY_MS;
  for (const { summary } of test?.known.records ?? [])
    newest = Math.max(newest, summary.lastSuccessAt ?? 0, summary.lastFailureAt ?? 0);
  return Math.max(newest, test?.news?.until ?? 0);
}
