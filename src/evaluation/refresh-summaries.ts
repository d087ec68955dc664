/**
 * The refresh of summaries: what is read of many tests at once, and derived for that. No upload waits for them.
 *
 *     totals ─► records of commits ─► causes ─► durations ─► renames
 */

import { COMMITS_MAX, recordCommits } from '../commits/record-commits.ts';
import type { StaleKind } from '../domain/stale.ts';
import { followCauses } from '../postgres/cause-quarantines.ts';
import { lockCauses, replaceCauses } from '../postgres/causes.ts';
import { type Executor, onPostgres } from '../postgres/client.ts';
import { acceptByRule } from '../postgres/decide-renames.ts';
import { lockDurations, replaceDurations, replaceDurationTotals } from '../postgres/durations.ts';
import { filledByTests, PlannerStatistics } from '../postgres/planner-statistics.ts';
import { addProposals } from '../postgres/renames.ts';
import { newestRunOf, refreshTotals } from '../postgres/repository-totals.ts';
import { causeDays, causeGroups, causeNodes, testDurations } from '../postgres/schema.ts';
import { readStaleCommits, settleRecords } from '../postgres/stale.ts';
import { deriveCauses } from './derive-causes.ts';
import { deriveDurations } from './derive-durations.ts';
import { findRenames } from './propose-renames.ts';
import type { RefreshOptions, RefreshSteps } from './refresh-steps.ts';

export class SummariesRefresh {
  readonly #statistics = new PlannerStatistics();
  readonly #steps: RefreshSteps;

  constructor(steps: RefreshSteps) {
    this.#steps = steps;
  }

  /** Returns whether more commits are to be recorded than one step reads. */
  async refresh(repositoryId: string, { isStopped = () => false }: RefreshOptions = {}): Promise<boolean> {
    // One look, so that what is not due costs no transaction.
    const due = await onPostgres(() => this.#steps.due(this.#steps.deps.db, repositoryId));
    const isNext = (kind: StaleKind): boolean => due.has(kind) && !isStopped();
    if (isNext('totals')) await this.#totals(repositoryId);
    const hasMoreRecords =
      isNext('records') && (await this.#steps.step(repositoryId, 'records', (tx) => this.#records(tx, repositoryId)));
    if (isNext('causes')) await this.#causes(repositoryId);
    if (isNext('durations')) await this.#durations(repositoryId);
    if (isNext('renames')) await this.#renames(repositoryId);
    return hasMoreRecords;
  }

  /** Without the lock of the partition: to count a large repository takes seconds. */
  async #totals(repositoryId: string): Promise<void> {
    await onPostgres(() =>
      this.#steps.deps.db.transaction(async (tx) => {
        const noted = (await this.#steps.due(tx, repositoryId)).get('totals');
        const counts = noted && (await refreshTotals(tx, repositoryId));
        if (!counts) return;
        await this.#statistics.keepUp(tx, repositoryId, filledByTests(counts));
        await this.#steps.settle(tx, repositoryId, 'totals', noted);
      }),
    );
  }

  /** Without the lock of the partition: it takes seconds of a repository with many failures. */
  async #causes(repositoryId: string): Promise<void> {
    const { db, clickhouse, quarantines } = this.#steps.deps;
    const noted = await onPostgres(() =>
      db.transaction(async (tx) => {
        const step = (await this.#steps.due(tx, repositoryId)).get('causes');
        if (!step || !(await lockCauses(tx, repositoryId))) return undefined;
        const causes = await deriveCauses({ tx, clickhouse, repositoryId });
        await replaceCauses(tx, repositoryId, causes);
        await this.#statistics.keepUp(tx, repositoryId, [
          { table: causeNodes, rows: causes.nodes.length },
          { table: causeGroups, rows: causes.groups.length },
          { table: causeDays, rows: causes.days.length },
        ]);
        return step;
      }),
    );
    if (!noted) return;
    // Before it is settled: a process that is cut off here derives again.
    if (!noted.isImported) await followCauses(quarantines, repositoryId);
    await onPostgres(() => this.#steps.settle(db, repositoryId, 'causes', noted));
  }

  /** Without the lock of the partition: it reads every execution of four weeks. */
  async #durations(repositoryId: string): Promise<void> {
    const { db, clickhouse } = this.#steps.deps;
    await onPostgres(() =>
      db.transaction(async (tx) => {
        const noted = (await this.#steps.due(tx, repositoryId)).get('durations');
        if (!noted || !(await lockDurations(tx, repositoryId))) return;
        const derived = deriveDurations({ tx, clickhouse, repositoryId });
        let step = await derived.next();
        for (; !step.done; step = await derived.next())
          await replaceDurations(tx, repositoryId, step.value.testIds, step.value.durations);
        await replaceDurationTotals(tx, repositoryId, step.value);
        await this.#statistics.keepUp(tx, repositoryId, [{ table: testDurations, rows: step.value?.tests ?? 0 }]);
        await this.#steps.settle(tx, repositoryId, 'durations', noted);
      }),
    );
  }

  /** Without the lock of the partition, for the same reason. What was proposed or decided before stays. */
  async #renames(repositoryId: string): Promise<void> {
    const { db, clickhouse, clock } = this.#steps.deps;
    const noted = await onPostgres(async () => (await this.#steps.due(db, repositoryId)).get('renames'));
    if (!noted) return;
    const newestAt = await onPostgres(() => newestRunOf(db, repositoryId));
    const found = await findRenames(clickhouse, repositoryId, newestAt);
    await onPostgres(() => addProposals(db, repositoryId, found));
    // Before it is settled: a process that is cut off here looks again.
    if (!noted.isImported) await acceptByRule(db, repositoryId, clock.now());
    await onPostgres(() => this.#steps.settle(db, repositoryId, 'renames', noted));
  }

  async #records(tx: Executor, repositoryId: string): Promise<boolean> {
    const commits = await readStaleCommits(tx, repositoryId, { isEvidence: false, limit: COMMITS_MAX });
    const names = commits.map(({ commit }) => commit);
    await recordCommits(tx, this.#steps.deps.clickhouse, repositoryId, names);
    await settleRecords(tx, repositoryId, names);
    return commits.length < COMMITS_MAX;
  }
}
