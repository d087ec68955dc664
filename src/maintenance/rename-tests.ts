/**
 * Brings what is stored in line with the renames that were accepted or undone: a renamed test keeps its id, so executions under
 * its new name move to it, and back if the rename is undone.
 *
 *     nothing more is claimed for the repository ─► what is stored is evaluated ─► executions move (move-renamed.ts)
 *       ─► runs are judged again ─► names and quarantines move ─► the tests concerned are derived again ─► settled
 *
 * Only this repository waits: its jobs are tried again later (`closedAmong`). What is left to do follows from the data, so a process
 * that ends at any moment loses nothing.
 */
import { eq, sql } from 'drizzle-orm';
import type { ClickHouse } from '../clickhouse/client.ts';
import { testIdOf } from '../domain/identity.ts';
import type { TestNames } from '../domain/rename-decisions.ts';
import { StoreUnavailable } from '../errors.ts';
import { evaluateRepository } from '../evaluation/pass.ts';
import { awaitClaims, isStoring } from '../ledger/claim-store.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { forgetCommitRecordsOf } from '../postgres/commit-records.ts';
import { giveUpRenames } from '../postgres/decide-renames.ts';
import { REBUILD_LOCK, RENAME_LOCK, RETENTION_LOCK } from '../postgres/locks.ts';
import { moveTests } from '../postgres/renamed-state.ts';
import {
  type DecidedRename,
  decidedRenames,
  noteFailedTry,
  settleRenames,
  unappliedRenames,
} from '../postgres/renames.ts';
import { repositories } from '../postgres/schema.ts';
import { readTestNames } from '../postgres/test-names.ts';
import { deriveTestsAgain, type RebuildDeps, rejudgeAndCompare } from './derive-again.ts';
import { findMisnamed, type Misnamed, moveMisnamed } from './move-renamed.ts';
import { widenQuarantines } from './widen-quarantines.ts';

/**
 * Applies what was decided. Returns how many renames that were. Costs one small statement if nothing is left to do. A repository
 * of which a block is still on its way into ClickHouse is left to the next call.
 */
export async function applyRenames(deps: RebuildDeps): Promise<number> {
  const { db } = deps.postgres;
  if ((await onPostgres(() => unappliedRenames(db))).length === 0) return 0;
  return onPostgres(() =>
    db.transaction(async (tx) => {
      const { rows } = await tx.execute<{ locked: boolean }>(
        sql`select pg_try_advisory_xact_lock(${RENAME_LOCK}) as locked`,
      );
      if (!rows[0]?.locked) return 0;
      // Each moves or drops rows of every repository.
      await tx.execute(sql`select pg_advisory_xact_lock(${RETENTION_LOCK})`);
      await tx.execute(sql`select pg_advisory_xact_lock_shared(${REBUILD_LOCK})`);
      // Another process may have applied some.
      const renames = Map.groupBy(await unappliedRenames(db), ({ repositoryId }) => repositoryId);
      let applied = 0;
      if (renames.size > 0) await awaitClaims(db);
      const errors: unknown[] = [];
      for (const [id, decided] of renames)
        try {
          if (await applyTo(deps, id, decided)) applied += decided.length;
        } catch (error) {
          // The others do not wait for this one.
          errors.push(error);
          // An outage says nothing about the rename.
          if (!(error instanceof StoreUnavailable)) await noteFailure(deps, id, decided, error);
        }
      if (errors.length > 0) throw errors[0];
      return applied;
    }),
  );
}

/** Results of the repository wait for what cannot be applied, so that is given up in the end. */
async function noteFailure(
  { postgres: { db }, clock, log }: RebuildDeps,
  repositoryId: string,
  decided: readonly DecidedRename[],
  error: unknown,
): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error);
  const ended = await onPostgres(() => noteFailedTry(db, decided, reason));
  if (ended.length === 0) return;
  await giveUpRenames(db, repositoryId, ended, clock.now());
  const renames = ended.map(({ id, state }) => ({ id, state }));
  log.error({ err: error, repository: repositoryId, renames }, 'gave up renames of tests that cannot be applied');
}

/** Nothing was claimed for the repository since its renames were decided. Returns false if something is not stored yet. */
async function applyTo(deps: RebuildDeps, repositoryId: string, decided: readonly DecidedRename[]): Promise<boolean> {
  const { clickhouse, clock, log } = deps;
  const { db } = deps.postgres;
  if (await isStoring(db, repositoryId)) return false;
  while ((await evaluateRepository(db, repositoryId)) > 0);
  const misnamed = await misnamedIn({ clickhouse, db }, repositoryId);
  await moveMisnamed({ clickhouse, db }, repositoryId, misnamed);
  await forgetCommitRecordsOf(db, repositoryId);
  const testIds = new Set(decided.flatMap(({ fromId, toId }) => [fromId, toId]));
  for (const { from, to } of misnamed) testIds.add(from).add(to);
  const concerned = await rejudgeAndCompare(deps, repositoryId);
  await db.transaction((tx) => moveTests(tx, repositoryId, decided, clock.now()));
  await widenQuarantines(deps, { repositoryId, testIds: [...testIds] }, 'rename');
  const [repository] = await db
    .select({ id: repositories.id, flakyDetectionEnabled: repositories.flakyDetectionEnabled })
    .from(repositories)
    .where(eq(repositories.id, repositoryId));
  if (repository) await deriveTestsAgain(deps, repository, testIds.union(concerned));
  await settleRenames(db, decided);
  const executions = misnamed.reduce((sum, one) => sum + one.executions, 0);
  log.info({ repository: repositoryId, renames: decided.length, executions }, 'applied renames of tests');
  return true;
}

/** For a rebuild: moves what is stored under another test than its name belongs to, as far as tests were ever renamed. */
export async function moveRenamed({ clickhouse, postgres: { db } }: RebuildDeps): Promise<void> {
  for (const id of new Set((await decidedRenames(db)).map(({ repositoryId }) => repositoryId)))
    await moveMisnamed({ clickhouse, db }, id, await misnamedIn({ clickhouse, db }, id));
}

/** A sentence for each name of which something is stored under another test than it belongs to, unless it is about to move. */
export async function renameDifferences(
  deps: { clickhouse: ClickHouse; db: Database },
  repositoryId?: string,
): Promise<string[]> {
  const decided = await onPostgres(() => decidedRenames(deps.db, repositoryId));
  const found: string[] = [];
  for (const [id, renames] of Map.groupBy(decided, (one) => one.repositoryId)) {
    if (renames.some(({ isApplied }) => !isApplied)) continue;
    for (const { name, executions, from } of await misnamedIn(deps, id))
      found.push(`repository ${id}: ${executions} executions of ${name} are under the former test ${from}`);
  }
  return found;
}

async function misnamedIn(
  { clickhouse, db }: { clickhouse: ClickHouse; db: Database },
  repositoryId: string,
): Promise<Misnamed[]> {
  const { decided, names } = await onPostgres(async () => ({
    decided: await decidedRenames(db, repositoryId),
    names: await readTestNames(db, repositoryId),
  }));
  const testIds = [...new Set(decided.flatMap(({ fromId, toId }) => [fromId, toId]))];
  return findMisnamed(clickhouse, repositoryId, testIds, (name) => testOf(repositoryId, names, name));
}

const testOf = (repositoryId: string, names: TestNames, name: string): string =>
  names.testNamed(name) ?? testIdOf(repositoryId, name);
