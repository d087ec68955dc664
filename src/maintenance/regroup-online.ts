/**
 * Regroups stored failures after an upgrade that changed the fingerprint, while the service runs.
 *
 * 1. For each month, newest first, the new group of every message is computed, and where its failures will go is
 *    recorded. Then the month's failures are swapped. Storing waits for as long as copying them takes.
 * 2. The groups of the tests that are concerned are counted again, some tests at a time. Storing waits for each of these
 *    steps, and has as long between them. Until its step, a test shows its old groups in PostgreSQL, then its new ones.
 *
 * The remaining work follows from the data, so a process that ends at any moment loses nothing: another begins with step 1,
 * and finds less to do. Processes of older versions may go on storing failures under the old fingerprint. So it looks
 * again an hour after it found nothing, and is finished when it then finds nothing either.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { eq, sql } from 'drizzle-orm';
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Clock } from '../clock.ts';
import { FINGERPRINT_VERSION } from '../domain/fingerprint.ts';
import { HOUR_MS } from '../domain/time.ts';
import type { TestGroup } from '../evaluation/all-tests.ts';
import { readGroups } from '../evaluation/history.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import { forgetOutdatedCommits } from '../postgres/commit-records.ts';
import { forgetFailureGroups, writeFailureGroups } from '../postgres/failure-groups.ts';
import { nextPending, settlePending } from '../postgres/former-groups.ts';
import { REBUILD_LOCK, REGROUP_LOCK } from '../postgres/locks.ts';
import { lockPartitionsOf } from '../postgres/partitions.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { ingestBlocks, tests, upgrades } from '../postgres/schema.ts';
import { noteStale } from '../postgres/stale.ts';
import { currentGroupOf, monthsOfFailures, regroupMonth } from './regroup.ts';
import { evaluateStoredParts } from './stored-parts.ts';
import { widenQuarantines } from './widen-quarantines.ts';

const NAME = `fingerprint ${FINGERPRINT_VERSION}`;
/** Rolling upgrades are over by then. */
const LOOK_AGAIN_MS = HOUR_MS;
/** Tests whose state is derived while storing waits: about a second. */
const TESTS_AT_ONCE = 50;

export interface RegroupOnlineDeps {
  clickhouse: ClickHouse;
  postgres: { db: Database };
  quarantines: QuarantineStore;
  clock: Clock;
  log: Logger;
}

/** Whether every stored failure is in the group that this version gives it. */
export async function isRegrouped(db: Executor): Promise<boolean> {
  return (await progressOf(db))?.finishedAt != null;
}

/** An installation that has stored nothing has nothing to regroup. */
export async function noteNewInstallation(db: Executor): Promise<void> {
  const { rows } = await onPostgres(() =>
    db.execute<{ used: boolean }>(
      sql`select exists (select from ${ingestBlocks}) or exists (select from ${tests}) as used`,
    ),
  );
  if (rows[0]?.used === false) await markRegrouped(db);
}

/** Says that nothing is stored under an older fingerprint. */
export async function markRegrouped(db: Executor): Promise<void> {
  await onPostgres(() =>
    db
      .insert(upgrades)
      .values({ name: NAME, finishedAt: sql`now()` })
      .onConflictDoUpdate({ target: upgrades.name, set: { finishedAt: sql`now()` } }),
  );
}

/**
 * Does what is left, one process at a time, and returns whether all is done for good.
 *
 * @param isStopped asked between two steps
 */
export async function regroupOnline(deps: RegroupOnlineDeps, isStopped: () => boolean = () => false): Promise<boolean> {
  const { clock, log } = deps;
  const { db } = deps.postgres;
  const before = await progressOf(db);
  if (before?.finishedAt != null) return true;
  const startedAt = clock.now();
  // The moment of the last look that found nothing.
  if (before?.position != null && startedAt < Number(before.position) + LOOK_AGAIN_MS) return false;
  return onPostgres(() =>
    db.transaction(async (tx) => {
      const { rows } = await tx.execute<{ locked: boolean }>(
        sql`select pg_try_advisory_xact_lock(${REGROUP_LOCK}) as locked`,
      );
      if (!rows[0]?.locked) return false;
      // Another process may have been cut off before it did so.
      await forgetOutdatedCommits(db);
      let texts = 0;
      for (const month of await monthsOfFailures(deps.clickhouse)) {
        if (isStopped()) return false;
        const moved = await regroupMonth(deps, month, {
          groupOf: currentGroupOf,
          isPending: true,
          whileNothingIsStored: (swap) => whileNothingIsStored(db, swap),
        });
        if (moved > 0) log.info({ month, messages: moved }, 'regrouped the failures of a month');
        texts += moved;
      }
      const counted = await countAgain(deps, isStopped);
      if (isStopped()) return false;
      if (counted > 0) log.info({ tests: counted }, 'counted the new groups of tests');
      const isQuiet = texts === 0 && counted === 0;
      if (isQuiet && before?.position != null) {
        await markRegrouped(db);
        return true;
      }
      await tx
        .insert(upgrades)
        .values({ name: NAME, position: String(startedAt) })
        .onConflictDoUpdate({ target: upgrades.name, set: { position: String(startedAt) } });
      return false;
    }),
  );
}

/** Returns of how many tests. */
async function countAgain(deps: RegroupOnlineDeps, isStopped: () => boolean): Promise<number> {
  const { db } = deps.postgres;
  let counted = 0;
  while (!isStopped()) {
    const group = await nextPending(db, TESTS_AT_ONCE);
    if (!group) break;
    await widenQuarantines(deps, group, NAME);
    await whileNothingIsStored(db, async () => {
      await evaluateStoredParts({ db, log: deps.log });
      await countGroups(deps, group);
    });
    await settlePending(db, group.repositoryId, group.testIds);
    counted += group.testIds.length;
  }
  return counted;
}

async function countGroups(
  { clickhouse, postgres }: RegroupOnlineDeps,
  { repositoryId, testIds }: TestGroup,
): Promise<void> {
  await postgres.db.transaction(async (tx) => {
    await lockPartitionsOf(tx, repositoryId);
    await forgetFailureGroups(tx, repositoryId, testIds);
    await writeFailureGroups(tx, repositoryId, await readGroups(clickhouse, repositoryId, testIds));
    await noteStale(tx, [{ repositoryId, kind: 'causes', blockId: Number.MAX_SAFE_INTEGER }]);
  });
}

/** Afterwards, storing has at least as long. */
async function whileNothingIsStored(db: Database, run: () => Promise<void>): Promise<void> {
  let startedAt = 0;
  await db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${REBUILD_LOCK})`);
    startedAt = performance.now();
    await run();
  });
  await sleep(performance.now() - startedAt);
}

async function progressOf(db: Executor) {
  const [progress] = await onPostgres(() => db.select().from(upgrades).where(eq(upgrades.name, NAME)));
  return progress;
}
