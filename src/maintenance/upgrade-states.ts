/**
 * Judges everything by the rules of this version, once, from what a version stored that judged by others: what runs mean,
 * and the state of every test. First failures outlive the executions; of a version that kept them in ClickHouse, they are
 * copied.
 *
 * An upgrade that is cut off continues where it was. Until its end, nothing is stored: inserts share the lock that it
 * holds. Versions that do not count blocks may go on storing afterwards, because PostgreSQL does not let them mark a
 * block as evaluated that is not counted: this version evaluates it again.
 */
import { eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { JUDGEMENT_VERSION } from '../domain/judgement-constants.ts';
import { type TestGroup, testsIn, testsOnDefaultBranches } from '../evaluation/all-tests.ts';
import { oldestRetained, rederive, rejudgeRuns } from '../evaluation/rederive.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import { REBUILD_LOCK } from '../postgres/locks.ts';
import { repositories, upgrades } from '../postgres/schema.ts';
import { writeTests } from '../postgres/test-state-writes.ts';
import { evaluateStoredBlocks, type StoredBlocksDeps } from './stored-blocks.ts';

/** Finished by versions that had the state of tests in PostgreSQL. */
const STATES = 'state of tests';
const JUDGEMENTS = `judgement ${JUDGEMENT_VERSION}`;

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
  if (await isRejudged(db)) return;
  await onPostgres(() =>
    db.transaction(async (lock) => {
      await lock.execute(sql`select pg_advisory_xact_lock(${REBUILD_LOCK})`);
      if (!(await isRejudged(db))) await upgrade(deps);
    }),
  );
}

const isRejudged = async (db: Database): Promise<boolean> =>
  (await onPostgres(() => progressOf(db, JUDGEMENTS)))?.finishedAt != null;

/** Says that everything is judged by the rules of this version. */
export async function markRejudged(db: Executor): Promise<void> {
  await finish(db, STATES);
  await finish(db, JUDGEMENTS);
}

async function finish(db: Executor, name: string): Promise<void> {
  await db
    .insert(upgrades)
    .values({ name, finishedAt: sql`now()` })
    .onConflictDoUpdate({ target: upgrades.name, set: { finishedAt: sql`now()` } });
}

async function upgrade(deps: UpgradeDeps): Promise<void> {
  const { clickhouse, log } = deps;
  const { db } = deps.postgres;
  const retainedSince = await oldestRetained(clickhouse);
  const settings = await db.select().from(repositories);
  const progress = await progressOf(db, JUDGEMENTS);
  if (!progress) {
    if (!(await progressOf(db, STATES))) await copyFirstFailures(clickhouse, db, retainedSince);
    await db.insert(upgrades).values({ name: JUDGEMENTS });
  }
  const judging = { ...deps, db };
  // What was stored since it was cut off was judged by a state that is not whole.
  const position = (await evaluateStoredBlocks(deps)) === 0 ? progress?.position : undefined;
  if (position == null) for (const { id } of settings) await rejudgeRuns(judging, id);
  const groups = (await testsOnDefaultBranches(clickhouse)).flatMap((repository) => repository.groups);
  const done = groups.findIndex((group) => markOf(group) === position) + 1;
  const enabled = new Map(settings.map((repository) => [repository.id, repository.flakyDetectionEnabled]));
  const total = testsIn(groups);
  let finished = testsIn(groups.slice(0, done));
  for (const group of groups.slice(done)) {
    const isFlakyDetectionEnabled = enabled.get(group.repositoryId) ?? true;
    await rederive(judging, group, { isFlakyDetectionEnabled, retainedSince });
    await db
      .update(upgrades)
      .set({ position: markOf(group) })
      .where(eq(upgrades.name, JUDGEMENTS));
    finished += group.testIds.length;
    log.info({ finished, total }, 'deriving the state of tests from their executions');
  }
  await markRejudged(db);
}

async function progressOf(db: Database, name: string) {
  const [progress] = await db.select().from(upgrades).where(eq(upgrades.name, name));
  return progress;
}

const markOf = ({ repositoryId, testIds }: TestGroup): string => `${repositoryId}/${testIds.at(-1)}`;

async function copyFirstFailures(clickhouse: ClickHouse, db: Database, retainedSince: number): Promise<void> {
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
        firstExecutions: [],
        lastDay: null,
      })),
    );
}
