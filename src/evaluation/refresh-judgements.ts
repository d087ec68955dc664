/**
 * The refresh of judgements: what runs mean with what is known by now, what is believed of tests, and what follows from it
 * at once. An upload is not stored before its repository is judged.
 *
 *     evidence ─► judgements ─► beginnings ─► owners ─► quarantines
 */

import { eq } from 'drizzle-orm';
import { type AutoQuarantineMode, quarantineSearch } from '../domain/quarantine-rules.ts';
import { windowUpTo } from '../domain/ratio-window.ts';
import { JUDGING_KINDS } from '../domain/stale.ts';
import { identityOf } from '../domain/test-identity.ts';
import { type Executor, onPostgres } from '../postgres/client.ts';
import { noteBeginnings, readHealthChanges } from '../postgres/health-changes.ts';
import { readIdentities } from '../postgres/identities.ts';
import { refreshOwners } from '../postgres/owners.ts';
import { countWaiting, holdPartitionOf } from '../postgres/partitions.ts';
import { repositories } from '../postgres/schema.ts';
import {
  type Noted,
  noteStale,
  readStale,
  readStaleCommits,
  type StaleNote,
  settleEvidence,
} from '../postgres/stale.ts';
import { readTests } from '../postgres/tests.ts';
import { findBeginnings } from './beginnings.ts';
import { judgeAgain } from './judge-again.ts';
import { readLegs } from './legs-of-test.ts';
import { type IdentityState, judgeQuarantines } from './quarantines.ts';
import { type MovedEvidence, refreshEvidence } from './refresh-evidence.ts';
import type { RefreshOptions, RefreshSteps } from './refresh-steps.ts';

/** Commits whose evidence is read in one step. */
const EVIDENCE_AT_ONCE = 200;
/** Judging again holds in memory what waits: with more, a pass comes first. */
const WAITING_MAX = 500_000;

export class JudgementsRefresh {
  readonly #steps: RefreshSteps;

  constructor(steps: RefreshSteps) {
    this.#steps = steps;
  }

  /** Returns whether something is left: more commits than one step reads, or all if someone holds the partition. */
  async refresh(repositoryId: string, { waitMs }: RefreshOptions = {}): Promise<boolean> {
    const judged = await this.#judgements(repositoryId, waitMs);
    if (judged === 'held') return true;
    // One look, so that what is not due costs no transaction.
    const due = await onPostgres(() => this.#steps.due(this.#steps.deps.db, repositoryId));
    if (due.has('owners'))
      await this.#steps.step(repositoryId, 'owners', (tx, noted) => this.#owners(tx, repositoryId, noted));
    if (due.has('quarantines'))
      await this.#steps.step(repositoryId, 'quarantines', (tx, noted) => this.#quarantines(tx, repositoryId, noted));
    return judged === 'more';
  }

  /** Evidence, judgements and beginnings are one step: each changes what the next begins with. */
  #judgements(repositoryId: string, waitMs: number | undefined): Promise<'done' | 'more' | 'held'> {
    const { db } = this.#steps.deps;
    return onPostgres(() =>
      db.transaction(async (tx) => {
        if (!(await holdPartitionOf(tx, repositoryId, waitMs))) return 'held';
        const isMoreLeft = await this.#judgeAgain(tx, repositoryId);
        await this.#beginnings(tx, repositoryId);
        return isMoreLeft ? 'more' : 'done';
      }),
    );
  }

  /** Returns whether evidence of more commits is left. */
  async #judgeAgain(tx: Executor, repositoryId: string): Promise<boolean> {
    const { clickhouse, executionsAtOnce } = this.#steps.deps;
    const due = await this.#steps.due(tx, repositoryId);
    const evidence = due.get('evidence');
    const judgements = due.get('judgements');
    if (!evidence && !judgements) return false;
    if ((await countWaiting(tx, repositoryId)) > WAITING_MAX) return false;
    const moved = evidence ? await this.#evidence(tx, repositoryId, evidence) : NOTHING_MOVED;
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
    if (evidence && !moved.isMoreLeft) await this.#steps.settle(tx, repositoryId, 'evidence', evidence);
    if (judgements) await this.#steps.settle(tx, repositoryId, 'judgements', judgements);
    return moved.isMoreLeft;
  }

  async #evidence(
    tx: Executor,
    repositoryId: string,
    { firstBlock }: Noted,
  ): Promise<MovedEvidence & { isMoreLeft: boolean }> {
    const { clickhouse } = this.#steps.deps;
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
    const noted = (await this.#steps.due(tx, repositoryId)).get('beginnings');
    if (!noted) return;
    const changes = await readHealthChanges(tx, repositoryId, [...noted.testIds]);
    const unknown = changes.filter(
      ({ beginning }) => beginning?.exceptionType === null && beginning.pullRequest === null,
    );
    const found = await findBeginnings(this.#steps.deps.clickhouse, repositoryId, unknown);
    await noteBeginnings(
      tx,
      repositoryId,
      unknown.flatMap(({ beginning, ...change }) => {
        const known = beginning && found.get(beginning.executionId);
        return known ? [{ ...change, beginning: { ...beginning, ...known } }] : [];
      }),
    );
    await this.#steps.settle(tx, repositoryId, 'beginnings', noted);
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
    const { quarantines, clickhouse } = this.#steps.deps;
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
