/**
 * Puts right what passes have left stale (src/domain/stale.ts), one repository at a time. Each step takes its note away in
 * the transaction that writes what it found, so a step that is cut off is done again.
 *
 *     evidence ─► judgements ─► beginnings ─► owners ─► quarantines ─► totals ─► records of commits ─► causes ─► durations
 *
 * After each step, the kind rests for ten times as long as the step took, or a minute if that is less: a job that is always
 * a day late may not keep a worker busy.
 */

import { eq } from 'drizzle-orm';
import type { ClickHouse } from '../clickhouse/client.ts';
import { ShardByShard } from '../clickhouse/shards.ts';
import { COMMITS_MAX, recordCommits } from '../commits/record-commits.ts';
import { type AutoQuarantineMode, quarantineSearch } from '../domain/quarantine-rules.ts';
import { windowUpTo } from '../domain/ratio-window.ts';
import { JUDGING_KINDS, type StaleKind } from '../domain/stale.ts';
import { identityOf } from '../domain/test-identity.ts';
import { followCauses } from '../postgres/cause-quarantines.ts';
import { lockCauses, replaceCauses } from '../postgres/causes.ts';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import { lockDurations, replaceDurations, replaceDurationTotals } from '../postgres/durations.ts';
import { noteBeginnings, readHealthChanges } from '../postgres/health-changes.ts';
import { readIdentities } from '../postgres/identities.ts';
import { refreshOwners } from '../postgres/owners.ts';
import { countWaiting, lockPartitionsOf } from '../postgres/partitions.ts';
import { PlannerStatistics } from '../postgres/planner-statistics.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { addProposals } from '../postgres/renames.ts';
import { newestRunOf, refreshTotals } from '../postgres/repository-totals.ts';
import { causeDays, causeGroups, causeNodes, repositories, testDurations } from '../postgres/schema.ts';
import {
  type Noted,
  nextStale,
  noteStale,
  readStale,
  readStaleCommits,
  type StaleNote,
  settleEvidence,
  settleRecords,
  settleStale,
} from '../postgres/stale.ts';
import { readTests } from '../postgres/tests.ts';
import { findBeginnings } from './beginnings.ts';
import { deriveCauses } from './derive-causes.ts';
import { deriveDurations } from './derive-durations.ts';
import { judgeAgain } from './judge-again.ts';
import { readLegs } from './legs-of-test.ts';
import { findRenames } from './propose-renames.ts';
import { type IdentityState, judgeQuarantines } from './quarantines.ts';
import { type MovedEvidence, refreshEvidence } from './refresh-evidence.ts';

export interface RefreshDeps {
  db: Database;
  clickhouse: ClickHouse;
  quarantines: QuarantineStore;
  /** That are judged again; tests want few. */
  executionsAtOnce?: number | undefined;
}

/** How many times as long as its step took a kind rests. Totals and causes are read by people, and take seconds of a large repository. */
const REST_TIMES = 10;
const READ_REST_TIMES = 30;
/** Causes are derived from all retained failures of a repository, and each of many repositories takes its turn. */
const CAUSES_REST_MS = 10_000;
/** Proposals of renames read two weeks, and no one waits for them. */
const RENAMES_REST_MS = 600_000;
/** Durations of four weeks hardly change within an hour, and each is read from every execution. */
const DURATIONS_REST_TIMES = 100;
/** What follows from late results is shown within minutes, also where a step takes long; it then rests twice as long. */
const REST_MS_MAX = 60_000;

/** Commits whose evidence is read in one step. */
const EVIDENCE_AT_ONCE = 200;
/** Judging again holds in memory what waits: with more, a pass comes first. */
const WAITING_MAX = 500_000;

export class Refresh {
  readonly #statistics = new PlannerStatistics();

  /** @param isHasty nothing rests or waits; tests do that */
  constructor(
    private readonly deps: RefreshDeps,
    private readonly isHasty = false,
  ) {}

  /** Refreshes every repository that is due; one with more than a step takes again, once the others had their turn. */
  async all(isStopped: () => boolean = () => false): Promise<void> {
    const { db, clickhouse } = this.deps;
    const shards = new ShardByShard(clickhouse);
    let isMoreLeft: boolean;
    do {
      isMoreLeft = false;
      const done: string[] = [];
      while (!isStopped()) {
        const id = await onPostgres(() => nextStale(db, this.isHasty, done));
        if (id === undefined) break;
        done.push(id);
        const shard = await clickhouse.shardOf(id);
        if (await shards.attempt(shard, () => this.refresh(id))) isMoreLeft = true;
      }
    } while (isMoreLeft && !isStopped());
    shards.rethrow();
  }

  /** Refreshes what is due of a repository. Returns whether it has more commits than one step reads. */
  async refresh(repositoryId: string): Promise<boolean> {
    const hasMoreEvidence = await this.#judgements(repositoryId);
    await this.#step(repositoryId, 'owners', (tx, noted) => this.#owners(tx, repositoryId, noted));
    await this.#step(repositoryId, 'quarantines', (tx, noted) => this.#quarantines(tx, repositoryId, noted));
    await this.#totals(repositoryId);
    const hasMoreRecords = await this.#step(repositoryId, 'records', (tx) => this.#records(tx, repositoryId));
    await this.#causes(repositoryId);
    await this.#durations(repositoryId);
    await this.#renames(repositoryId);
    return hasMoreEvidence || hasMoreRecords;
  }

  /** Stale kinds of a repository that may be refreshed now. */
  async #due(tx: Executor, repositoryId: string): Promise<Map<StaleKind, Noted>> {
    const noted = (await readStale(tx, [repositoryId])).get(repositoryId) ?? new Map<StaleKind, Noted>();
    return new Map([...noted].filter(([, { isRested }]) => isRested || this.isHasty));
  }

  #restOf(kind: StaleKind, startedAt: number): number {
    if (this.isHasty) return 0;
    const tookMs = performance.now() - startedAt;
    if (kind === 'totals') return READ_REST_TIMES * tookMs;
    if (kind === 'causes') return Math.max(CAUSES_REST_MS, READ_REST_TIMES * tookMs);
    if (kind === 'renames') return Math.max(RENAMES_REST_MS, DURATIONS_REST_TIMES * tookMs);
    if (kind === 'durations') return Math.max(CAUSES_REST_MS, DURATIONS_REST_TIMES * tookMs);
    return Math.min(REST_TIMES * tookMs, Math.max(REST_MS_MAX, 2 * tookMs));
  }

  /**
   * One step under the lock of the partition.
   *
   * @param step returns whether nothing of its kind is left to do
   * @returns whether something is
   */
  #step(
    repositoryId: string,
    kind: StaleKind,
    step: (tx: Executor, noted: Noted) => Promise<boolean>,
  ): Promise<boolean> {
    return this.#locked(repositoryId, async (tx) => {
      const startedAt = performance.now();
      const noted = (await this.#due(tx, repositoryId)).get(kind);
      if (!noted) return false;
      if (!(await step(tx, noted))) return true;
      await settleStale(tx, repositoryId, kind, { restMs: this.#restOf(kind, startedAt), revision: noted.revision });
      return false;
    });
  }

  #locked<T>(repositoryId: string, act: (tx: Executor) => Promise<T>): Promise<T> {
    return onPostgres(() =>
      this.deps.db.transaction(async (tx) => {
        await lockPartitionsOf(tx, repositoryId);
        return act(tx);
      }),
    );
  }

  /**
   * Evidence, judgements and beginnings are one step: each changes what the next begins with.
   *
   * @returns whether evidence of more commits is left
   */
  #judgements(repositoryId: string): Promise<boolean> {
    const { clickhouse, executionsAtOnce } = this.deps;
    return this.#locked(repositoryId, async (tx) => {
      let isMoreLeft = false;
      const startedAt = performance.now();
      const due = await this.#due(tx, repositoryId);
      const evidence = due.get('evidence');
      const judgements = due.get('judgements');
      if (evidence || judgements) {
        if ((await countWaiting(tx, repositoryId)) > WAITING_MAX) return false;
        const moved = evidence ? await this.#evidence(tx, repositoryId, evidence) : NOTHING_MOVED;
        isMoreLeft = moved.isMoreLeft;
        const since = Math.min(moved.since, judgements?.since ?? Number.POSITIVE_INFINITY);
        if (since < Number.POSITIVE_INFINITY) {
          const again = {
            since,
            testIds: judgements?.testIds ?? new Set<string>(),
            identities: moved.identities,
            pullRuns: moved.runs,
          };
          const { isEnabled: isFlakyDetectionEnabled } = await this.#settings(tx, repositoryId);
          const options = { isFlakyDetectionEnabled, executionsAtOnce };
          const { begun, unhealthy } = await judgeAgain({ tx, clickhouse, repositoryId }, again, options);
          const blockId = Math.min(
            evidence?.firstBlock ?? Number.MAX_SAFE_INTEGER,
            judgements?.firstBlock ?? Number.MAX_SAFE_INTEGER,
          );
          const isImported = [evidence, judgements].every((noted) => noted?.isImported ?? true);
          const notes: StaleNote[] = [
            { repositoryId, kind: 'beginnings', testIds: begun, blockId },
            { repositoryId, kind: 'quarantines', testIds: unhealthy, blockId },
            { repositoryId, kind: 'totals', blockId },
          ];
          await noteStale(
            tx,
            notes.filter(({ kind }) => kind !== 'quarantines' || !isImported),
          );
        }
        for (const [kind, noted] of [
          ['evidence', evidence],
          ['judgements', judgements],
        ] as const)
          if (noted && !(kind === 'evidence' && isMoreLeft))
            await settleStale(tx, repositoryId, kind, {
              restMs: this.#restOf(kind, startedAt),
              revision: noted.revision,
            });
      }
      await this.#beginnings(tx, repositoryId);
      return isMoreLeft;
    });
  }

  async #evidence(
    tx: Executor,
    repositoryId: string,
    { firstBlock }: Noted,
  ): Promise<MovedEvidence & { isMoreLeft: boolean }> {
    const { clickhouse } = this.deps;
    const commits = await readStaleCommits(tx, repositoryId, { isEvidence: true, limit: EVIDENCE_AT_ONCE });
    const moved = await refreshEvidence({ tx, clickhouse, repositoryId }, commits);
    await settleEvidence(
      tx,
      repositoryId,
      commits.map(({ commit }) => commit),
    );
    // A commit is recorded once its evidence is no longer stale.
    await noteStale(tx, [{ repositoryId, kind: 'records', blockId: firstBlock }]);
    return { ...moved, isMoreLeft: commits.length === EVIDENCE_AT_ONCE };
  }

  async #beginnings(tx: Executor, repositoryId: string): Promise<void> {
    const startedAt = performance.now();
    const noted = (await this.#due(tx, repositoryId)).get('beginnings');
    if (!noted) return;
    const changes = await readHealthChanges(tx, repositoryId, [...noted.testIds]);
    const unknown = changes.filter(
      ({ beginning }) => beginning?.exceptionType === null && beginning.pullRequest === null,
    );
    const found = await findBeginnings(this.deps.clickhouse, repositoryId, unknown);
    await noteBeginnings(
      tx,
      repositoryId,
      unknown.flatMap(({ beginning, ...change }) => {
        const known = beginning && found.get(beginning.executionId);
        return known ? [{ ...change, beginning: { ...beginning, ...known } }] : [];
      }),
    );
    await settleStale(tx, repositoryId, 'beginnings', {
      restMs: this.#restOf('beginnings', startedAt),
      revision: noted.revision,
    });
  }

  /** Before quarantines, which take their owners from them. */
  async #owners(tx: Executor, repositoryId: string, { since, testIds }: Noted): Promise<boolean> {
    await refreshOwners(tx, repositoryId, since === null ? [...testIds] : undefined);
    return true;
  }

  /**
   * Not while judgements are stale: what is believed meanwhile is provisional. Nor while owners are: a quarantine keeps the
   * owner with which it was made.
   */
  async #quarantines(tx: Executor, repositoryId: string, { testIds }: Noted): Promise<boolean> {
    const { quarantines, clickhouse } = this.deps;
    const noted = (await readStale(tx, [repositoryId])).get(repositoryId);
    if (noted?.has('owners') || JUDGING_KINDS.some((kind) => noted?.has(kind))) return false;
    const { isEnabled, mode } = await this.#settings(tx, repositoryId);
    const { quarantines: open } = await quarantines.snapshot(repositoryId);
    const held = await statesOf(tx, repositoryId, [...new Set(open.map(({ testId }) => testId))]);
    const explain = (testId: string, at: number) =>
      readLegs(clickhouse, { repositoryId, testId, window: windowUpTo(at) });
    const context = { repositoryId, quarantines, explain };
    await judgeQuarantines({ ...context, search: 'off' }, held);
    const search = quarantineSearch(mode, isEnabled);
    return search === 'off' || judgeQuarantines({ ...context, search }, await statesOf(tx, repositoryId, [...testIds]));
  }

  /** Without the lock of the partition: to count a large repository takes seconds. */
  async #totals(repositoryId: string): Promise<void> {
    await onPostgres(() =>
      this.deps.db.transaction(async (tx) => {
        const startedAt = performance.now();
        const noted = (await this.#due(tx, repositoryId)).get('totals');
        if (!noted || !(await refreshTotals(tx, repositoryId))) return;
        await this.#statistics.keepUp(tx, [repositoryId]);
        await settleStale(tx, repositoryId, 'totals', {
          restMs: this.#restOf('totals', startedAt),
          revision: noted.revision,
        });
      }),
    );
  }

  /** Without the lock of the partition: it takes seconds of a repository with many failures. */
  async #causes(repositoryId: string): Promise<void> {
    const { db, clickhouse, quarantines } = this.deps;
    const startedAt = performance.now();
    const derived = await onPostgres(() =>
      db.transaction(async (tx) => {
        const noted = (await this.#due(tx, repositoryId)).get('causes');
        if (!noted || !(await lockCauses(tx, repositoryId))) return undefined;
        const causes = await deriveCauses({ tx, clickhouse, repositoryId });
        await replaceCauses(tx, repositoryId, causes);
        await this.#statistics.keepUpDerived(tx, repositoryId, {
          tables: [causeNodes, causeGroups, causeDays],
          rows: causes.nodes.length + causes.days.length,
        });
        return noted;
      }),
    );
    if (derived === undefined) return;
    const { revision, isImported } = derived;
    // Before it is settled: a process that is cut off here derives again.
    if (!isImported) await followCauses(quarantines, repositoryId);
    await onPostgres(() =>
      settleStale(db, repositoryId, 'causes', { restMs: this.#restOf('causes', startedAt), revision }),
    );
  }

  /** Without the lock of the partition: it reads every execution of four weeks. */
  async #durations(repositoryId: string): Promise<void> {
    const { db, clickhouse } = this.deps;
    await onPostgres(() =>
      db.transaction(async (tx) => {
        const startedAt = performance.now();
        const noted = (await this.#due(tx, repositoryId)).get('durations');
        if (!noted || !(await lockDurations(tx, repositoryId))) return;
        const derived = deriveDurations({ tx, clickhouse, repositoryId });
        let step = await derived.next();
        for (; !step.done; step = await derived.next())
          await replaceDurations(tx, repositoryId, step.value.testIds, step.value.durations);
        await replaceDurationTotals(tx, repositoryId, step.value);
        await this.#statistics.keepUpDerived(tx, repositoryId, {
          tables: [testDurations],
          rows: step.value?.tests ?? 0,
        });
        await settleStale(tx, repositoryId, 'durations', {
          restMs: this.#restOf('durations', startedAt),
          revision: noted.revision,
        });
      }),
    );
  }

  /** Without the lock of the partition, for the same reason. What was proposed or decided before stays. */
  async #renames(repositoryId: string): Promise<void> {
    const { db, clickhouse } = this.deps;
    const startedAt = performance.now();
    const noted = await onPostgres(async () => (await this.#due(db, repositoryId)).get('renames'));
    if (!noted) return;
    const newestAt = await onPostgres(() => newestRunOf(db, repositoryId));
    const found = await findRenames(clickhouse, repositoryId, newestAt);
    await onPostgres(() =>
      db.transaction(async (tx) => {
        await addProposals(tx, repositoryId, found);
        await settleStale(tx, repositoryId, 'renames', {
          restMs: this.#restOf('renames', startedAt),
          revision: noted.revision,
        });
      }),
    );
  }

  async #records(tx: Executor, repositoryId: string): Promise<boolean> {
    const commits = await readStaleCommits(tx, repositoryId, { isEvidence: false, limit: COMMITS_MAX });
    const names = commits.map(({ commit }) => commit);
    await recordCommits(tx, this.deps.clickhouse, repositoryId, names);
    await settleRecords(tx, repositoryId, names);
    return commits.length < COMMITS_MAX;
  }

  async #settings(tx: Executor, repositoryId: string): Promise<{ isEnabled: boolean; mode: AutoQuarantineMode }> {
    const [found] = await tx
      .select({ isEnabled: repositories.flakyDetectionEnabled, mode: repositories.autoQuarantine })
      .from(repositories)
      .where(eq(repositories.id, repositoryId));
    return found ?? { isEnabled: true, mode: 'off' };
  }
}

const NOTHING_MOVED: MovedEvidence & { isMoreLeft: boolean } = {
  since: Number.POSITIVE_INFINITY,
  identities: new Set(),
  runs: new Map(),
  isMoreLeft: false,
};

/** Every identity of some tests that has passed or failed. */
async function statesOf(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<IdentityState[]> {
  const names = new Map((await readTests(tx, repositoryId, testIds)).map(({ testId, name }) => [testId, name]));
  return (await readIdentities(tx, repositoryId, testIds)).flatMap(({ belief, ...identity }) =>
    belief.at
      ? [
          {
            ...identityOf(identity),
            testName: names.get(identity.testId) ?? '',
            newestAt: belief.at.finishedAt,
            belief: belief.belief,
          },
        ]
      : [],
  );
}
