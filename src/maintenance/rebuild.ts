/**
 * Recomputes everything derived from the executions: which of them are on the default branch, failure groups, totals of
 * runs, verdicts and the state of tests. Needed after a change of a default branch, of a rule or of the
 * fingerprint, or when `verify` finds a difference.
 *
 * Partitions are filled in a second table and swapped in whole, so that a reader sees either the old one or the new one.
 * Inserts wait: they share the lock that a rebuild holds exclusively.
 */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { assertEveryShardAnswers } from '../clickhouse/every-shard.ts';
import type { ValuesOf } from '../clickhouse/parameters.ts';
import { defineLongQuery, defineStatement } from '../clickhouse/query.ts';
import { scopeOf } from '../clickhouse/scope.ts';
import { testsOnDefaultBranches } from '../evaluation/all-tests.ts';
import { oldestRetained, retainedOf } from '../evaluation/rederive.ts';
import { onPostgres } from '../postgres/client.ts';
import { forgetOutdatedCommits } from '../postgres/commit-records.ts';
import { forgetStates } from '../postgres/forget-states.ts';
import { REBUILD_LOCK } from '../postgres/locks.ts';
import { lockPartitionsOf } from '../postgres/partitions.ts';
import { repositories } from '../postgres/schema.ts';
import { deriveAgain, type RebuildDeps } from './derive-again.ts';
import { derived } from './derived.ts';
import { replacePartitions } from './partitions.ts';
import { currentGroupOf, type GroupOf, regroupFailures } from './regroup.ts';
import { markRegrouped } from './regroup-online.ts';
import { moveRenamed } from './rename-tests.ts';
import { evaluateStoredParts } from './stored-parts.ts';

/** The current default branch of each repository. */
const branchesOf = { repository_ids: 'Array(String)', branches: 'Array(String)' } as const;
const ofMonth = { ...branchesOf, is_every_month: 'Bool', month: 'UInt32' } as const;

const misplacedExecutions = defineLongQuery(
  'maintenance/misplaced_executions',
  ofMonth,
  z.object({ month: z.number(), executions: z.number(), repositories: z.array(z.string()) }),
);
const movedExecutions = defineStatement('maintenance/moved_executions', ofMonth);
const movedFailures = defineStatement('maintenance/moved_failures', { month: 'UInt32' });

export interface RebuildReport {
  /** Executions that moved on or off the default branch. */
  moved: number;
  tests: number;
  /** Failure messages that moved to another group. */
  regrouped: number;
}

/** Throws a {@link UserError} at once if a shard of the cluster does not answer: uploads would wait for the rebuild meanwhile. */
export async function rebuild(deps: RebuildDeps, groupOf: GroupOf = currentGroupOf): Promise<RebuildReport> {
  await assertEveryShardAnswers(deps.clickhouse, 'A rebuild');
  return onPostgres(() =>
    deps.postgres.db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${REBUILD_LOCK})`);
      await evaluateStoredParts({ db: deps.postgres.db, log: deps.log });
      const known = await tx.select().from(repositories);
      const branches = {
        repository_ids: known.map((repository) => repository.id),
        branches: known.map((repository) => repository.defaultBranch ?? ''),
      };
      const moved = await moveToDefaultBranch(deps, branches);
      deps.log.info({ moved }, 'executions moved on or off the default branch');
      await moveRenamed(deps);
      const everything = scopeOf();
      await replacePartitions(deps.clickhouse, 'runs', 'table', derived.runs(everything));
      await replacePartitions(deps.clickhouse, 'commit_runs', 'table', derived.commit_runs(everything));
      const regrouped = await regroupFailures(deps, groupOf);
      const tests = await deriveAgain(deps, known, await testsOnDefaultBranches(deps.clickhouse));
      // They follow again from what arrives; until then, the commits are read from ClickHouse.
      await forgetOutdatedCommits(deps.postgres.db);
      await markRegrouped(tx);
      return { moved, tests, regrouped };
    }),
  );
}

/** Rewrites the partitions with wrongly marked executions. Returns the number of these executions. */
async function moveToDefaultBranch(
  { clickhouse, postgres: { db } }: RebuildDeps,
  branches: ValuesOf<typeof branchesOf>,
): Promise<number> {
  const wrong = await clickhouse.select(misplacedExecutions, { ...branches, is_every_month: true, month: 0 });
  const retainedSince = await oldestRetained(clickhouse);
  for (const repositoryId of new Set(wrong.flatMap((row) => row.repositories)))
    await db.transaction(async (evaluation) => {
      await lockPartitionsOf(evaluation, repositoryId);
      await forgetStates(evaluation, repositoryId, await retainedOf(evaluation, repositoryId, retainedSince));
    });
  for (const { month } of wrong) {
    const executions = movedExecutions({ ...branches, is_every_month: false, month });
    await replacePartitions(clickhouse, 'executions', 'partitions', executions);
    await replacePartitions(clickhouse, 'failures', 'partitions', movedFailures({ month }));
  }
  return wrong.reduce((sum, row) => sum + row.executions, 0);
}
