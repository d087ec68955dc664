/**
 * Brings what is stored in line with the renames that were accepted or undone: a renamed test keeps its id, so executions under
 * its new name move to it, and back if the rename is undone.
 *
 *     months with executions under a wrong test ─► swapped, with their failures ─► state of the repository derived again
 *
 * What is left to do follows from the data, so a process that ends at any moment loses nothing. Storing waits meanwhile, as
 * for a rebuild: the move rewrites the months in which the new name ran, which are few when a rename is decided soon.
 */
import { inArray, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery, defineStatement } from '../clickhouse/query.ts';
import { scope, scopeOf } from '../clickhouse/scope.ts';
import type { Clock } from '../clock.ts';
import { testsOnDefaultBranches } from '../evaluation/all-tests.ts';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import { forgetOutdatedCommits } from '../postgres/commit-records.ts';
import { REBUILD_LOCK } from '../postgres/locks.ts';
import { moveTests } from '../postgres/renamed-state.ts';
import { type DecidedRename, decidedRenames, settleRenames, unappliedRenames } from '../postgres/renames.ts';
import { repositories } from '../postgres/schema.ts';
import { readTestNames } from '../postgres/test-names.ts';
import { deriveAgain, type RebuildDeps } from './derive-again.ts';
import { replacePartitions } from './partitions.ts';
import { currentGroupOf, regroupMonth } from './regroup.ts';
import { evaluateStoredParts } from './stored-parts.ts';

const named = { repository_ids: 'Array(UUID)', names: 'Array(String)' } as const;
const namedMonths = defineLongQuery(
  'maintenance/named_months',
  { ...named, test_ids: 'Array(String)' },
  z.object({ month: z.number(), misnamed: z.number() }),
);
const renamedExecutions = defineStatement('maintenance/renamed_executions', {
  ...named,
  test_ids: 'Array(String)',
  month: 'UInt32',
});
const renamedFailures = defineStatement('maintenance/renamed_failures', { ...named, month: 'UInt32' });
const commitRunsOfMonth = defineStatement('maintenance/commit_runs_of_month', { ...scope, month: 'UInt32' });

/** Applies what was decided. Returns how many renames that were. Costs one small statement if nothing is left to do. */
export async function applyRenames({ clock, ...deps }: RebuildDeps & { clock: Clock }): Promise<number> {
  const { db } = deps.postgres;
  if ((await onPostgres(() => unappliedRenames(db))).length === 0) return 0;
  return onPostgres(() =>
    db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${REBUILD_LOCK})`);
      const renames = await unappliedRenames(db);
      if (renames.length === 0) return 0;
      await evaluateStoredParts({ db, log: deps.log });
      const byRepository = Map.groupBy(renames, ({ repositoryId }) => repositoryId);
      const ids = [...byRepository.keys()];
      const moved = await moveExecutions(deps, ids, await testsOfNames(db, renames));
      for (const [id, decided] of byRepository) await db.transaction((own) => moveTests(own, id, decided, clock.now()));
      const known = await db
        .select({ id: repositories.id, flakyDetectionEnabled: repositories.flakyDetectionEnabled })
        .from(repositories)
        .where(inArray(repositories.id, ids));
      const all = await Promise.all(ids.map((id) => testsOnDefaultBranches(deps.clickhouse, id)));
      await deriveAgain(deps, known, all.flat());
      await settleRenames(db, renames);
      deps.log.info({ renames: renames.length, executions: moved }, 'applied renames of tests');
      return renames.length;
    }),
  );
}

/** For a rebuild: moves what is stored under another test than its name belongs to, as far as tests were ever renamed. */
export async function moveRenamed(deps: RebuildDeps): Promise<void> {
  const { db } = deps.postgres;
  const renames = await decidedRenames(db);
  const ids = [...new Set(renames.map(({ repositoryId }) => repositoryId))];
  if (ids.length > 0) await moveExecutions(deps, ids, await testsOfNames(db, renames), true);
}

/** A sentence for each month in which something is stored under another test than its name belongs to. */
export async function renameDifferences(
  { clickhouse, db }: { clickhouse: ClickHouse; db: Database },
  repositoryId?: string,
): Promise<string[]> {
  const renames = (await onPostgres(() => decidedRenames(db))).filter(
    (one) => one.isApplied && (repositoryId === undefined || one.repositoryId === repositoryId),
  );
  const found: string[] = [];
  for (const [id, decided] of Map.groupBy(renames, (one) => one.repositoryId)) {
    const tests = await onPostgres(() => testsOfNames(db, decided));
    for (const { month, misnamed } of await clickhouse.select(namedMonths, { repository_ids: [id], ...tests }))
      if (misnamed > 0) found.push(`repository ${id}: ${misnamed} executions of ${month} are under a former test`);
  }
  return found;
}

interface NamedTests {
  names: string[];
  test_ids: string[];
}

/** The names that a decision is about, and the tests that they belong to now: also names that follow in a chain. */
async function testsOfNames(tx: Executor, renames: readonly DecidedRename[]): Promise<NamedTests> {
  const found = new Map<string, string>();
  for (const [repositoryId, decided] of Map.groupBy(renames, (one) => one.repositoryId)) {
    const names = await readTestNames(tx, repositoryId);
    for (const { toId, toName } of [...decided, ...names.accepted])
      found.set(`${repositoryId}/${toName}`, names.testOf(toId));
  }
  return { names: [...found.keys()], test_ids: [...found.values()] };
}

/**
 * Rewrites every month in which the names ran: one that was cut off is done again as a whole.
 *
 * @param onlyMisnamed not those in which every name is where it belongs
 * @returns how many executions moved
 */
async function moveExecutions(
  { clickhouse, postgres }: RebuildDeps,
  repositoryIds: readonly string[],
  tests: NamedTests,
  onlyMisnamed = false,
): Promise<number> {
  const of = { repository_ids: repositoryIds, ...tests };
  const months = (await clickhouse.select(namedMonths, of)).filter(({ misnamed }) => misnamed > 0 || !onlyMisnamed);
  for (const { month } of months) {
    const { test_ids, ...named } = { ...of, month };
    await replacePartitions(clickhouse, 'executions', 'partitions', renamedExecutions({ ...named, test_ids }));
    await replacePartitions(clickhouse, 'failures', 'partitions', renamedFailures(named));
    await replacePartitions(clickhouse, 'commit_runs', 'partitions', commitRunsOfMonth({ ...scopeOf(), month }));
    await regroupMonth({ clickhouse, postgres }, month, {
      groupOf: currentGroupOf,
      isPending: false,
      whileNothingIsStored: (swap) => swap(),
    });
  }
  if (months.length > 0) await forgetOutdatedCommits(postgres.db);
  return months.reduce((sum, { misnamed }) => sum + misnamed, 0);
}
