/** The state of repositories, from all that is retained: after their executions were moved. */
import type { ClickHouse } from '../clickhouse/client.ts';
import { concurrently } from '../concurrently.ts';
import { STALE_KINDS } from '../domain/stale.ts';
import { REPOSITORIES_AT_ONCE, type TestsOfRepository, testsIn } from '../evaluation/all-tests.ts';
import { oldestRetained, rederive, rederiveUnseen, rejudgeRuns, retainedOf } from '../evaluation/rederive.ts';
import { Refresh } from '../evaluation/refresh.ts';
import type { Logger } from '../observability/log.ts';
import type { Database } from '../postgres/client.ts';
import { readMeanings } from '../postgres/judged-runs.ts';
import { noteOwnersStale } from '../postgres/owners.ts';
import { lockPartitionsOf } from '../postgres/partitions.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import type { Repository } from '../postgres/repositories.ts';
import { replaceNewest } from '../postgres/repository-totals.ts';
import { forgetStale, noteStale } from '../postgres/stale.ts';
import { readNewestRuns } from './newest-runs.ts';

export interface RebuildDeps {
  clickhouse: ClickHouse;
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

/** Counts every repository, and marks the quarantines that have recovered. New ones are left to the next run of a test. */
async function refreshAll(
  { clickhouse, postgres: { db }, quarantines }: RebuildDeps,
  ids: readonly string[],
): Promise<void> {
  const newest = await readNewestRuns(clickhouse);
  const refresh = new Refresh({ db, clickhouse, quarantines }, true);
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
