/** The state of repositories, from all that is retained: after their executions were moved. */
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Clock } from '../clock.ts';
import { concurrently } from '../concurrently.ts';
import { STALE_KINDS } from '../domain/stale.ts';
import { groupsOfTests, REPOSITORIES_AT_ONCE, type TestsOfRepository, testsIn } from '../evaluation/all-tests.ts';
import { oldestRetained, rederive, rederiveUnseen, rejudgeRuns, retainedOf } from '../evaluation/rederive.ts';
import { Refresh } from '../evaluation/refresh.ts';
import type { Logger } from '../observability/log.ts';
import type { Database } from '../postgres/client.ts';
import { nameOfRun, readMeanings, readRuns, type StoredRun } from '../postgres/judged-runs.ts';
import { noteOwnersStale } from '../postgres/owners.ts';
import { lockPartitionsOf } from '../postgres/partitions.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import type { Repository } from '../postgres/repositories.ts';
import { replaceNewest } from '../postgres/repository-totals.ts';
import { forgetStale, noteStale } from '../postgres/stale.ts';
import { readNewestRuns } from './newest-runs.ts';

export interface RebuildDeps {
  clickhouse: ClickHouse;
  clock: Clock;
  postgres: { db: Database };
  quarantines: QuarantineStore;
  log: Logger;
}

/**
 * Judges all that is retained of some repositories again, and refreshes what follows, while nothing is stored.
 *
 * @param all their tests
 * @returns how many tests there are
 */
export async function deriveAgain(
  deps: RebuildDeps,
  known: readonly Pick<Repository, 'id' | 'flakyDetectionEnabled'>[],
  all: readonly TestsOfRepository[],
): Promise<number> {
  const judging = { ...deps, db: deps.postgres.db };
  await concurrently(known, REPOSITORIES_AT_ONCE, ({ id }) => rejudgeRuns(judging, id));
  const enabled = new Map(known.map((repository) => [repository.id, repository.flakyDetectionEnabled]));
  const oldest = await oldestRetained(deps.clickhouse);
  await concurrently(all, REPOSITORIES_AT_ONCE, async ({ repositoryId: id, groups }) => {
    const isFlakyDetectionEnabled = enabled.get(id) ?? true;
    // A repository of a million tests has a hundred thousand runs, and a thousand groups.
    const runs = await readMeanings(deps.postgres.db, id);
    const retainedSince = await retainedOf(deps.postgres.db, id, oldest);
    for (const group of groups) await rederive(judging, group, { isFlakyDetectionEnabled, runs, retainedSince });
  });
  await concurrently(known, REPOSITORIES_AT_ONCE, ({ id }) => rederiveUnseen(judging, id));
  await refreshAll(
    deps,
    known.map(({ id }) => id),
  );
  return all.reduce((sum, { groups }) => sum + testsIn(groups), 0);
}

/**
 * Judges the runs of a repository again, after some of its executions were moved, while nothing of it is stored.
 *
 * @returns the tests that went wrong in a run which is not what it was: what is believed of them follows from it
 */
export async function rejudgeAndCompare(deps: RebuildDeps, repositoryId: string): Promise<Set<string>> {
  const { db } = deps.postgres;
  const read = async () => new Map((await readRuns(db, repositoryId, 0)).map((run) => [nameOfRun(run), run]));
  const before = await read();
  await rejudgeRuns({ ...deps, db }, repositoryId);
  const after = await read();
  const concerned = new Set<string>();
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(name), after.get(name)];
    if (textOfRun(was) === textOfRun(is)) continue;
    for (const run of [was, is]) for (const testId of run ? membersOf(run) : []) concerned.add(testId);
  }
  return concerned;
}

const membersOf = ({ unexpected, expected }: StoredRun): string[] => [...unexpected, ...expected].sort();
const textOfRun = (run: StoredRun | undefined): string =>
  JSON.stringify(run && [run.meaning, membersOf(run), [...run.unexpected].sort(), [...run.again].sort()]);

/**
 * Derives some tests again, whose runs were judged again, while nothing of their repository is stored. What follows from them is
 * left to the next refresh.
 */
export async function deriveTestsAgain(
  deps: RebuildDeps,
  { id, flakyDetectionEnabled }: Pick<Repository, 'id' | 'flakyDetectionEnabled'>,
  testIds: ReadonlySet<string>,
): Promise<void> {
  const { db } = deps.postgres;
  const judging = { ...deps, db };
  const options = {
    isFlakyDetectionEnabled: flakyDetectionEnabled,
    runs: await readMeanings(db, id),
    retainedSince: await oldestRetained(deps.clickhouse),
  };
  for (const group of await groupsOfTests(deps.clickhouse, id, [...testIds])) await rederive(judging, group, options);
  await rederiveUnseen(judging, id);
  await db.transaction(async (tx) => {
    const [blockId, repositoryId] = [Number.MAX_SAFE_INTEGER, id];
    await noteOwnersStale(tx, id);
    await noteStale(tx, [
      { repositoryId, kind: 'quarantines', testIds, blockId },
      ...(['totals', 'causes', 'durations'] as const).map((kind) => ({ repositoryId, kind, blockId })),
    ]);
  });
}

/** Counts every repository, and marks the quarantines that have recovered. New ones are left to the next run of a test. */
async function refreshAll(
  { clickhouse, clock, postgres: { db }, quarantines }: RebuildDeps,
  ids: readonly string[],
): Promise<void> {
  const newest = await readNewestRuns(clickhouse);
  const refresh = new Refresh({ db, clickhouse, clock, quarantines }, true);
  for (const id of ids) {
    await db.transaction(async (tx) => {
      await lockPartitionsOf(tx, id);
      await replaceNewest(tx, id, newest.get(id) ?? 0);
      await forgetStale(tx, id, STALE_KINDS);
      const blockId = Number.MAX_SAFE_INTEGER;
      await noteOwnersStale(tx, id);
      await noteStale(tx, [
        { repositoryId: id, kind: 'quarantines', blockId },
        { repositoryId: id, kind: 'totals', blockId },
        { repositoryId: id, kind: 'causes', blockId },
        { repositoryId: id, kind: 'durations', blockId },
      ]);
    });
    await refresh.refresh(id);
  }
}
