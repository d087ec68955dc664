/**
 * Brings the state of tests into PostgreSQL, once, from what a version stored that kept it in ClickHouse, or did not know
 * when healths changed: first failures
 * and health outlive the executions and are copied; everything else follows from the executions.
 *
 * An upgrade that is cut off continues where it was. Until its end, nothing is stored: inserts share the lock that it
 * holds. Versions that do not count blocks may go on storing afterwards, because PostgreSQL does not let them mark a
 * block as evaluated that is not counted: this version evaluates it again.
 */
import { eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { type TestGroup, testsOnDefaultBranches } from '../evaluation/all-tests.ts';
import { foldOfVersion1 } from '../evaluation/fold.ts';
import { oldestRetained, rederive } from '../evaluation/rederive.ts';
import { StateStore } from '../evaluation/state-store.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { REBUILD_LOCK } from '../postgres/locks.ts';
import { repositories, upgrades } from '../postgres/schema.ts';
import { writeTests } from '../postgres/test-states.ts';
import { evaluateStoredBlocks, type StoredBlocksDeps } from './stored-blocks.ts';

const STATES = 'state of tests';
/** Came later: versions that had the state of tests did not keep when a health changed. */
const CHANGES = 'changes of health';
type Upgrade = typeof STATES | typeof CHANGES;

const baselines = defineLongQuery(
  'maintenance/health_of_version_1',
  {},
  z
    .object({
      repository_id: z.string(),
      test_id: z.string(),
      pipeline_name: z.string(),
      job_name: z.string(),
      baseline: foldOfVersion1,
    })
    .transform((row) => ({
      repositoryId: row.repository_id,
      testId: row.test_id,
      pipelineName: row.pipeline_name,
      jobName: row.job_name,
      baseline: row.baseline,
    })),
);
const firstFailures = defineLongQuery(
  'maintenance/first_failures_of_version_1',
  { before_ms: 'Int64' },
  z.object({
    repository_id: z.string(),
    test_id: z.string(),
    failed_ms: z.number(),
    execution_id: z.string().transform(BigInt),
    commit_sha: z.string(),
  }),
);

export interface UpgradeDeps extends StoredBlocksDeps {
  log: Logger;
}

/** Returns at once if it is done. */
export async function upgradeStates(deps: UpgradeDeps): Promise<void> {
  const { db } = deps.postgres;
  if (await isFinished(db, CHANGES)) return;
  await onPostgres(() =>
    db.transaction(async (lock) => {
      await lock.execute(sql`select pg_advisory_xact_lock(${REBUILD_LOCK})`);
      if (await isFinished(db, CHANGES)) return;
      if (await isFinished(db, STATES)) return upgrade(deps, CHANGES);
      await upgrade(deps, STATES);
      await db.insert(upgrades).values({ name: CHANGES, finishedAt: sql`now()` });
    }),
  );
}

async function isFinished(db: Database, name: Upgrade): Promise<boolean> {
  return (await onPostgres(() => progressOf(db, name)))?.finishedAt != null;
}

async function upgrade(deps: UpgradeDeps, name: Upgrade): Promise<void> {
  const { clickhouse, log } = deps;
  const { db } = deps.postgres;
  const progress = await progressOf(db, name);
  const retainedSince = await oldestRetained(clickhouse);
  if (!progress) {
    if (name === STATES) await copyWhatOutlives(clickhouse, db, retainedSince);
    await db.insert(upgrades).values({ name });
  }
  await evaluateStoredBlocks(deps);
  const groups = await Array.fromAsync(testsOnDefaultBranches(clickhouse));
  const done = groups.findIndex((group) => markOf(group) === progress?.position) + 1;
  const settings = await db.select().from(repositories);
  const enabled = new Map(settings.map((repository) => [repository.id, repository.flakyDetectionEnabled]));
  const total = testsIn(groups);
  let finished = testsIn(groups.slice(0, done));
  for (const group of groups.slice(done)) {
    const isFlakyDetectionEnabled = enabled.get(group.repositoryId) ?? true;
    await rederive({ ...deps, db }, group, { isFlakyDetectionEnabled, retainedSince });
    await db
      .update(upgrades)
      .set({ position: markOf(group) })
      .where(eq(upgrades.name, name));
    finished += group.testIds.length;
    log.info({ finished, total }, 'deriving the state of tests from their executions');
  }
  await db.update(upgrades).set({ finishedAt: sql`now()` }).where(eq(upgrades.name, name));
}

async function progressOf(db: Database, name: Upgrade) {
  const [progress] = await db.select().from(upgrades).where(eq(upgrades.name, name));
  return progress;
}

const markOf = ({ repositoryId, testIds }: TestGroup): string => `${repositoryId}/${testIds.at(-1)}`;

const testsIn = (groups: readonly TestGroup[]): number => groups.reduce((sum, { testIds }) => sum + testIds.length, 0);

async function copyWhatOutlives(clickhouse: ClickHouse, db: Database, retainedSince: number): Promise<void> {
  const failures = await clickhouse.select(firstFailures, { before_ms: retainedSince });
  for (const [repositoryId, rows] of Map.groupBy(failures, (row) => row.repository_id))
    await writeTests(
      db,
      repositoryId,
      rows.map(({ test_id: testId, failed_ms: failedAt, execution_id: executionId, commit_sha: commit }) => ({
        testId,
        name: '',
        firstFailure: { failedAt, executionId, commit },
        flakyDays: [],
      })),
    );
  const folds = await clickhouse.select(baselines, {});
  for (const [repositoryId, rows] of Map.groupBy(folds, (row) => row.repositoryId))
    await new StateStore(db, repositoryId).write(
      rows.map((row) => ({ ...row, older: row.baseline, newer: row.baseline })),
    );
}
