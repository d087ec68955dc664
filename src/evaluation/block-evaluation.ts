/**
 * One pass of the evaluation: counts and judges what some stored blocks brought.
 */
import { sql } from 'drizzle-orm';
import type { ClickHouse } from '../clickhouse/client.ts';
import { concurrently } from '../concurrently.ts';
import { type AutoQuarantineMode, quarantineSearch } from '../domain/quarantine-rules.ts';
import type { BlockStore } from '../ledger/blocks.ts';
import { type Database, type Executor, onPostgres, type Transactor } from '../postgres/client.ts';
import { PlannerStatistics } from '../postgres/planner-statistics.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { noteRuns } from '../postgres/repository-totals.ts';
import { repositories } from '../postgres/schema.ts';
import { unhealthyAmong } from '../postgres/test-states.ts';
import type { KnownTest } from './changed-states.ts';
import { CommitRecorder, type TouchedCommits } from './commit-recorder.ts';
import { type EvaluationStores, evaluate, type Judgements } from './evaluate.ts';
import { drawVersion, lockEvaluation } from './lock.ts';
import { News } from './news.ts';
import type { BlocksAhead } from './news-ahead.ts';
import { judgeQuarantines } from './quarantines.ts';
import { RecentCourses } from './recent-courses.ts';
import { StateStore } from './state-store.ts';
import { EvaluationStore, type IdentityState, TESTS_MAX, writeVerdicts } from './store.ts';
import { type Touched, touchedBy } from './touched.ts';

export interface EvaluationDeps {
  db: Database;
  clickhouse: ClickHouse;
  blocks: BlockStore;
  quarantines: QuarantineStore;
}

/** Half a million executions of 120,000 identities take about 80 MiB. */
const PASS_BYTES_MAX = 96 * 2 ** 20;

/**
 * Repositories of a pass that are evaluated side by side: while one waits for a store, another is judged. Each reads on up to
 * two connections to PostgreSQL.
 */
const REPOSITORIES_AT_ONCE = 5;

/** A pass that touches more tests, in all repositories together, is a large one: it leaves some work for later. */
const SMALL_PASS_TESTS = 1_000;

const NOTHING_AHEAD: BlocksAhead = { blocks: [], news: undefined };

interface Reading {
  /** The blocks of the pass: whether the state of the tests counts them already. */
  isCounted: Map<number, boolean>;
  touched: Touched;
  commits: TouchedCommits;
  /** By repository id: when the newest execution finished of those that are not counted. */
  newest: ReadonlyMap<string, number>;
  /** The blocks that are left for another pass. */
  left: readonly number[];
}

export class BlockEvaluation {
  readonly #deps: EvaluationDeps;
  readonly #recorder: CommitRecorder;
  readonly #recent = new RecentCourses();
  readonly #statistics = new PlannerStatistics();
  /** Passes of many tests that are running. */
  #largePasses = 0;
  #lastLargeAt = Number.NEGATIVE_INFINITY;

  /**
   * @param isStopped whether the process stops: then a pass ends early with {@link Stopped}.
   * @param bytesMax about what the news of one pass may take in memory.
   */
  constructor(
    deps: EvaluationDeps,
    private readonly isStopped: () => boolean = () => false,
    private readonly bytesMax = PASS_BYTES_MAX,
  ) {
    this.#deps = deps;
    this.#recorder = new CommitRecorder(deps);
  }

  /**
   * When this process was last in a pass of so many tests that they are listed late; by `performance.now()`. Such a pass may
   * take half a minute.
   */
  get lastLargeAt(): number {
    return this.#largePasses > 0 ? performance.now() : this.#lastLargeAt;
  }

  /**
   * Counts and judges what these blocks brought, in as many passes as memory takes. Any of them may have been evaluated
   * before, as a whole or in part.
   *
   * @param ahead more blocks, with what they bring: they are evaluated first
   */
  async run(blockIds: readonly number[], ahead: BlocksAhead = NOTHING_AHEAD): Promise<void> {
    const known = ahead.blocks.map(({ blockId }) => blockId);
    let left = await this.#pass([...known, ...blockIds], ahead);
    while (left.length > 0) left = await this.#pass(left);
  }

  /**
   * Evaluates the first of these blocks, and returns the others.
   *
   * The state of the tests and the mark that a block is counted are one transaction. Verdicts follow it into ClickHouse,
   * then quarantines, which ask for them, and the records of commits. All of that under the locks of the repositories, so
   * that no other process judges from verdicts that are still on their way.
   */
  async #pass(blockIds: readonly number[], ahead = NOTHING_AHEAD): Promise<readonly number[]> {
    if (blockIds.length === 0) return [];
    const { db, blocks } = this.#deps;
    const { isCounted, touched, commits, newest, left } = await this.#read(blockIds, ahead);
    const isLarge = [...touched.values()].reduce((sum, { tests }) => sum + tests.size, 0) > SMALL_PASS_TESTS;
    const isDone = await onPostgres(() =>
      db.transaction(async (locks) => {
        await lockEvaluation(locks, ...new Set([...touched.keys(), ...commits.keys(), ...newest.keys()]));
        const version = await drawVersion(db);
        const judged = await db
          .transaction((tx) => this.#count(tx, isCounted, { touched, newest, isLarge }))
          .catch((error: unknown) => {
            this.#statistics.forget(touched.keys());
            throw error;
          });
        if (judged === undefined) return false;
        const verdicts = [...judged].map(([repositoryId, of]) => [repositoryId, of.verdicts] as const);
        await writeVerdicts(this.#deps.clickhouse, verdicts, version);
        const settings = await settingsOf(db, judged.keys());
        await concurrently(judged, REPOSITORIES_AT_ONCE, ([repositoryId, judgements]) =>
          this.#judgeQuarantines(repositoryId, judgements, settings.get(repositoryId)),
        );
        await (isLarge ? this.#recorder.leave(commits) : this.#recorder.refresh(commits));
        return true;
      }),
    );
    if (!isDone) return blockIds;
    await blocks.markEvaluated([...isCounted.keys()]);
    return left;
  }

  /** Reads one block after another, until what they bring takes as much memory as a pass may. */
  async #read(blockIds: readonly number[], { news, blocks }: BlocksAhead): Promise<Reading> {
    // No process can have counted them when they were stored. If another process has since, the pass is repeated.
    const isCounted = new Map(news ? blocks.map(({ blockId }) => [blockId, false]) : []);
    const fresh = news ?? new News();
    const again = new News();
    let taken = isCounted.size;
    for (const blockId of blockIds.slice(taken)) {
      if (fresh.bytes + again.bytes >= this.bytesMax) break;
      taken++;
      const block = await this.#deps.blocks.lines(blockId);
      if (!block) continue;
      isCounted.set(blockId, block.isCounted);
      (block.isCounted ? again : fresh).add(block.lines);
    }
    const commits = commitsIn([fresh, again]);
    const { newest } = fresh;
    return { isCounted, touched: touchedBy(fresh, again), commits, newest, left: blockIds.slice(taken) };
  }

  /** Undefined if another process has evaluated any of these blocks meanwhile. */
  async #count(
    tx: Transactor,
    isCounted: ReadonlyMap<number, boolean>,
    { touched, newest, isLarge }: Pick<Reading, 'touched' | 'newest'> & { isLarge: boolean },
  ): Promise<ReadonlyMap<string, Judgements> | undefined> {
    const { blocks } = this.#deps;
    const blockIds = [...isCounted.keys()];
    const counted = await blocks.lockCounted(tx, blockIds);
    if (blockIds.some((blockId) => counted.get(blockId) !== isCounted.get(blockId))) return undefined;
    await noteRuns(tx, newest);
    const judged = new Map<string, Judgements>();
    const readUncounted = blocks.uncountedExecutions(tx, blockIds);
    const settings = await settingsOf(tx, touched.keys());
    const evaluateAll = async (): Promise<void> => {
      await concurrently(touched, REPOSITORIES_AT_ONCE, async ([repositoryId, of]) => {
        const stores = this.#storesOf({ tx, repositoryId, readUncounted });
        const isFlakyDetectionEnabled = settings.get(repositoryId)?.isEnabled ?? true;
        const options = { isFlakyDetectionEnabled, isListedLate: isLarge, beforeBatch: this.#beforeBatch };
        judged.set(repositoryId, await evaluate(stores, of, options));
      });
      await blocks.markCounted(tx, blockIds);
    };
    await (isLarge ? this.#asLarge(evaluateAll) : evaluateAll());
    await this.#statistics.keepUp(tx, [...touched.keys()]);
    return judged;
  }

  async #asLarge(pass: () => Promise<void>): Promise<void> {
    this.#largePasses++;
    try {
      await pass();
    } finally {
      this.#largePasses--;
      this.#lastLargeAt = performance.now();
    }
  }

  #storesOf(of: Pick<EvaluationStores, 'tx' | 'repositoryId' | 'readUncounted'>): EvaluationStores {
    const { db, clickhouse } = this.#deps;
    const executions = new EvaluationStore(clickhouse, of.repositoryId);
    const recent = this.#recent;
    return { ...of, db, clickhouse, executions, recent, states: new StateStore(of.tx, of.repositoryId) };
  }

  /** Another process or the next start evaluates the blocks. */
  readonly #beforeBatch = (): void => {
    if (this.isStopped()) throw new Stopped();
  };

  /** Of tests that are quarantined or could be. */
  async #judgeQuarantines(
    repositoryId: string,
    { testIds, unhealthy }: Judgements,
    settings: Settings | undefined,
  ): Promise<void> {
    if (testIds.length === 0) return;
    const { db, quarantines } = this.#deps;
    const search = settings ? quarantineSearch(settings.mode, settings.isEnabled) : 'off';
    const { quarantines: open } = await quarantines.snapshot(repositoryId);
    const quarantined = new Set(open.map(({ testId }) => testId));
    const mayOpen =
      search === 'off' ? new Set<string>() : unhealthy.union(await this.#unhealthyOf(repositoryId, testIds));
    const asked = testIds.filter((testId) => quarantined.has(testId) || mayOpen.has(testId));
    const states = new StateStore(db, repositoryId);
    for (const some of groupsOf(asked)) {
      const known = await states.readStates(some);
      await judgeQuarantines({ repositoryId, search, quarantines }, statesOf(known.values()));
    }
  }

  /** A test that is calm in one CI job may be flaky or broken in another. */
  async #unhealthyOf(repositoryId: string, testIds: readonly string[]): Promise<ReadonlySet<string>> {
    const unhealthy = new Set<string>();
    for (const some of groupsOf(testIds))
      for (const testId of await unhealthyAmong(this.#deps.db, repositoryId, some)) unhealthy.add(testId);
    return unhealthy;
  }
}

function* groupsOf(testIds: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < testIds.length; from += TESTS_MAX) yield testIds.slice(from, from + TESTS_MAX);
}

function commitsIn(news: readonly News[]): TouchedCommits {
  const all = new Map<string, Map<string, boolean>>();
  for (const { commits } of news)
    for (const [repositoryId, of] of commits) {
      const known = all.get(repositoryId) ?? new Map<string, boolean>();
      all.set(repositoryId, known);
      for (const [commit, hasFailed] of of) known.set(commit, hasFailed || (known.get(commit) ?? false));
    }
  return all;
}

/** Every identity that has passed or failed. */
const statesOf = (tests: Iterable<KnownTest>): IdentityState[] =>
  [...tests].flatMap(({ test, records }) =>
    records.flatMap(({ testId, pipelineName, jobName, belief: { at, belief } }) =>
      at ? [{ testId, testName: test?.name ?? '', pipelineName, jobName, newestAt: at.finishedAt, belief }] : [],
    ),
  );

/** Thrown to take back what a pass has written, because the process stops. */
export class Stopped extends Error {
  override name = 'Stopped';
}

interface Settings {
  isEnabled: boolean;
  mode: AutoQuarantineMode;
}

async function settingsOf(db: Executor, repositoryIds: Iterable<string>): Promise<ReadonlyMap<string, Settings>> {
  const found = await db
    .select({ id: repositories.id, isEnabled: repositories.flakyDetectionEnabled, mode: repositories.autoQuarantine })
    .from(repositories)
    .where(sql`${repositories.id} = any(${sql.param([...repositoryIds])}::uuid[])`);
  return new Map(found.map(({ id, ...settings }) => [id, settings]));
}
