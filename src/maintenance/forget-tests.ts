/**
 * Forgets tests: removes what both stores have of them, and derives again what follows for the others.
 *
 *     executions noted as forgotten ─► failures and executions ─► runs of their months ─► rows of PostgreSQL ─► receipt
 *
 * Afterwards everything is as if the tests had never run, but for claims and receipts of uploads: the same report does not bring
 * them back, a new one does. Nothing is stored meanwhile, as for a rebuild. Tests of which no execution is retained, which are
 * most of those that have not run for long, cost a few statements in PostgreSQL.
 */
import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery, defineStatement } from '../clickhouse/query.ts';
import { removeStored } from '../clickhouse/repository-rows.ts';
import { scope } from '../clickhouse/scope.ts';
import { ShardByShard } from '../clickhouse/shards.ts';
import {
  countStoredOfTests,
  executionIdsOf,
  inStatements,
  type StoredOfTest,
  storedTests,
} from '../clickhouse/test-rows.ts';
import type { Clock } from '../clock.ts';
import { addCounts, type RowCounts } from '../domain/deletion.ts';
import { testsOnDefaultBranches } from '../evaluation/all-tests.ts';
import { unstoredExecutions } from '../ledger/claim-store.ts';
import { type ForgottenOfTest, monthsForgotten, noteForgotten } from '../ledger/forgotten-executions.ts';
import { piecesOf } from '../pieces.ts';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import { forgetCommitRecordsOf } from '../postgres/commit-records.ts';
import {
  endForgettingTests,
  type Forgetting,
  keepTests,
  receiptOf,
  unfinishedForgettings,
} from '../postgres/forgotten-tests.ts';
import { noteRemoved } from '../postgres/removal-receipt.ts';
import { lockState } from '../postgres/repository-rows.ts';
import { repositories } from '../postgres/schema.ts';
import { noteStale } from '../postgres/stale.ts';
import { readTestNames } from '../postgres/test-names.ts';
import { countTestRows, removeTestRows } from '../postgres/test-rows.ts';
import { selectTests, type TestsWanted, withoutQuarantine } from '../postgres/tests-to-forget.ts';
import { deriveAgain, type RebuildDeps } from './derive-again.ts';
import { keepOthersOut, removeAlone, removeNoted } from './leaving.ts';
import { evaluateStoredParts } from './stored-parts.ts';

const runsOfMonth = defineStatement('maintenance/runs_of_month', { ...scope, month: 'UInt32' });
const commitRunsOfMonth = defineStatement('maintenance/commit_runs_of_month', { ...scope, month: 'UInt32' });
const storedAmong = defineLongQuery(
  'maintenance/stored_among',
  { repository_id: 'UUID', months: 'Array(UInt32)', ids: 'Array(UInt64)' },
  z.object({ stored: z.number() }),
);

/** Rows of a transaction, and ids that are noted at once, stay small. */
const TESTS_AT_ONCE = 500;
const EXECUTIONS_AT_ONCE = 200_000;
const IDS_AT_ONCE = 2_000;
/** Derived values of a repository that follow from all of its tests. */
const FOLLOWING = ['totals', 'causes', 'durations'] as const;

export type ForgetTestsDeps = RebuildDeps & { clock: Clock };

/** The tests that a request means. */
export const findTests = (
  { db, clickhouse }: { db: Database; clickhouse: ClickHouse },
  repositoryId: string,
  wanted: TestsWanted,
) => selectTests(db, repositoryId, wanted, storedTests(clickhouse, repositoryId));

/** Rows that some tests have, by table. */
export async function countTests(
  { db, clickhouse }: { db: Database; clickhouse: ClickHouse },
  repositoryId: string,
  testIds: readonly string[],
): Promise<RowCounts> {
  const stored = await countStoredOfTests(clickhouse, repositoryId, testIds);
  return addCounts(await countTestRows(db, repositoryId, testIds), totalsOf(stored));
}

const totalsOf = (stored: readonly StoredOfTest[]): RowCounts =>
  addCounts(...stored.map(({ executions, failures }) => ({ executions, failures })));

/**
 * Continues with every request that is not finished, unless another process does.
 *
 * @returns how many are left
 */
export async function forgetTests(deps: ForgetTestsDeps, isStopped: () => boolean = () => false): Promise<number> {
  let left = 0;
  const shards = new ShardByShard(deps.clickhouse);
  for (const { id, repositoryId } of await unfinishedForgettings(deps.postgres.db)) {
    if (isStopped()) break;
    const shard = await deps.clickhouse.shardOf(repositoryId);
    if (!(await shards.attempt(shard, () => finishForgetting(deps, id)))) left++;
  }
  shards.rethrow();
  return left;
}

const finishForgetting = (deps: ForgetTestsDeps, id: string): Promise<boolean> =>
  removeAlone(deps.postgres.db, async (tx) => {
    const { clock, log } = deps;
    const { db } = deps.postgres;
    await keepOthersOut(tx, 'waits');
    const forgetting = (await unfinishedForgettings(db)).find((one) => one.id === id);
    if (!forgetting) return true;
    const { repositoryId } = forgetting;
    const [repository] = await db.select().from(repositories).where(eq(repositories.id, repositoryId));
    // Its deletion removes the request, too.
    if (!repository) return false;
    if (await isHalfStored(deps, repositoryId)) return false;
    await evaluateStoredParts({ db, log });
    const testIds = await withoutQuarantine(db, repositoryId, forgetting.testIds);
    if (testIds.length < forgetting.testIds.length) await keepTests(db, id, testIds);
    const isDerived = await removeExecutions(deps, forgetting, testIds);
    await removeRows(db, forgetting, testIds);
    if (isDerived) await deriveAgain(deps, [repository], await testsOnDefaultBranches(deps.clickhouse, repositoryId));
    await onPostgres(() => db.transaction((ended) => endForgettingTests(ended, id, clock.now())));
    log.info({ repository: repositoryId, tests: testIds.length }, 'forgot tests');
    return true;
  });

/**
 * Whether a process died between the insert of a block and its mark. What is removed of such a block would be counted when it is
 * sent again, because ClickHouse drops the repeat.
 */
async function isHalfStored({ clickhouse, postgres }: ForgetTestsDeps, repositoryId: string): Promise<boolean> {
  const unstored = await onPostgres(() => unstoredExecutions(postgres.db, repositoryId));
  const months = [...new Set(unstored.map(({ month }) => month))];
  for (const some of piecesOf(unstored, IDS_AT_ONCE)) {
    const ids = some.map(({ id }) => id);
    const [found] = await clickhouse.select(storedAmong, { repository_id: repositoryId, months, ids });
    if (found?.stored) return true;
  }
  return false;
}

/** @returns whether there were any, now or before this was cut off: then others follow from what is left */
async function removeExecutions(
  { clickhouse, postgres: { db } }: ForgetTestsDeps,
  forgetting: Forgetting,
  testIds: readonly string[],
): Promise<boolean> {
  const { repositoryId } = forgetting;
  const stored = await countStoredOfTests(clickhouse, repositoryId, testIds);
  for (const tests of inGroups(stored))
    await onPostgres(async () => noteForgotten(db, repositoryId, await idsOf(clickhouse, repositoryId, tests)));
  const { executions = 0, failures = 0 } = totalsOf(stored);
  const receipt = receiptOf(forgetting);
  for (const of of inStatements([...new Set(stored.map(({ testId }) => testId))])) {
    const which = { repositoryId, testIds: of };
    await removeNoted({ db, clickhouse }, receipt, 'failures', { ...which, rows: failures });
    await removeNoted({ db, clickhouse }, receipt, 'executions', { ...which, rows: executions });
  }
  const months = await onPostgres(() => monthsForgotten(db, repositoryId, testIds));
  if (months.length === 0) return false;
  await removeStored(clickhouse, 'runs', { repositoryId, months });
  await removeStored(clickhouse, 'commit_runs', { repositoryId, months });
  for (const month of months) {
    const which = { is_all: false, repository_id: repositoryId, month };
    await clickhouse.fill('ci.runs', runsOfMonth(which));
    await clickhouse.fill('ci.commit_runs', commitRunsOfMonth(which));
  }
  await onPostgres(() => forgetCommitRecordsOf(db, repositoryId));
  return true;
}

/** Cuts tests with executions so that the ids of each piece fit into memory. */
function* inGroups(stored: readonly StoredOfTest[]): Generator<readonly string[]> {
  let group: string[] = [];
  let executions = 0;
  for (const [testId, months] of Map.groupBy(stored, (one) => one.testId)) {
    const own = months.reduce((sum, month) => sum + month.executions, 0);
    if (group.length === TESTS_AT_ONCE || (group.length > 0 && executions + own > EXECUTIONS_AT_ONCE)) {
      yield group;
      group = [];
      executions = 0;
    }
    group.push(testId);
    executions += own;
  }
  if (group.length > 0) yield group;
}

async function idsOf(
  clickhouse: ClickHouse,
  repositoryId: string,
  testIds: readonly string[],
): Promise<ForgottenOfTest[]> {
  const found = Map.groupBy(
    await executionIdsOf(clickhouse, repositoryId, testIds),
    ({ testId, month }) => `${testId}/${month}`,
  );
  return [...found.values()].flatMap(([first, ...rest]) =>
    first ? [{ testId: first.testId, month: first.month, ids: [first, ...rest].map(({ id }) => id) }] : [],
  );
}

/** Removes the rows of PostgreSQL. What is counted of the repository, its causes and durations follow again. */
async function removeRows(db: Database, forgetting: Forgetting, testIds: readonly string[]): Promise<void> {
  const { repositoryId } = forgetting;
  for (const these of piecesOf(testIds, TESTS_AT_ONCE))
    await onPostgres(() =>
      db.transaction(async (tx) => {
        await lockState(tx, repositoryId);
        const removed = await removeTestRows(tx, repositoryId, await withLaterNames(tx, repositoryId, these));
        await noteRemoved(tx, receiptOf(forgetting), removed);
        await noteStale(
          tx,
          FOLLOWING.map((kind) => ({ repositoryId, kind, blockId: Number.MAX_SAFE_INTEGER })),
        );
      }),
    );
}

/** Also the ids that names have which renames gave to a test. */
async function withLaterNames(tx: Executor, repositoryId: string, testIds: readonly string[]): Promise<string[]> {
  const names = await readTestNames(tx, repositoryId);
  const leaving = new Set(testIds);
  const later = names.accepted.filter(({ toId }) => leaving.has(names.testOf(toId))).map(({ toId }) => toId);
  return [...leaving.union(new Set(later))];
}
