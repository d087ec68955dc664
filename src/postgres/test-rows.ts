/** Every row of some tests: counted before they are forgotten, and removed. A test compares the list with the schema. */
import { getTableName, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { addCounts, type RowCounts } from '../domain/deletion.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { plainColumn } from './columns.ts';
import { nextRevision } from './quarantine-records.ts';
import {
  baselines,
  causeDays,
  causeGroups,
  clues,
  failureGroups,
  flakyExecutions,
  formerGroups,
  healthChanges,
  identities,
  ownedTests,
  quarantines,
  suspects,
  testDurations,
  testListings,
  testOwners,
  testRenames,
  tests,
} from './schema.ts';

/** Tables whose rows name their test. Rows that lead to others leave last. */
export const TABLES_BY_TEST = [
  ...[identities, suspects, baselines, flakyExecutions, healthChanges, failureGroups, formerGroups, clues],
  ...[causeGroups, causeDays, testDurations, ownedTests, testOwners, quarantines, testListings, tests],
] as const;

type TableOfTests = (typeof TABLES_BY_TEST)[number] | typeof testRenames;

const countRow = z.object({ rows: z.coerce.number() });

const isOf = (repositoryId: string, testIds: readonly string[]) =>
  sql`repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`;
/** One that was opened since the request is for a test to come. */
const isEndedOf = (repositoryId: string, testIds: readonly string[]) =>
  sql`${isOf(repositoryId, testIds)} and removed_at is not null`;
const isRenameOf = (repositoryId: string, testIds: readonly string[]) => sql`
  repository_id = ${repositoryId} and (from_id = any(${plainColumn(testIds)}::uuid[]) or to_id = any(${plainColumn(testIds)}::uuid[]))`;

function rowsOf(table: TableOfTests, repositoryId: string, testIds: readonly string[]): SQL {
  if (table === testRenames) return isRenameOf(repositoryId, testIds);
  return (table === quarantines ? isEndedOf : isOf)(repositoryId, testIds);
}

/** How many rows some tests have, by table. */
export async function countTestRows(
  db: Database,
  repositoryId: string,
  testIds: readonly string[],
): Promise<RowCounts> {
  const counts: Record<string, number> = {};
  for (const table of [...TABLES_BY_TEST, testRenames]) {
    const which = rowsOf(table, repositoryId, testIds);
    const { rows } = await onPostgres(() => db.execute(sql`select count(*) as rows from ${table} where ${which}`));
    counts[getTableName(table)] = countRow.parse(rows[0]).rows;
  }
  return addCounts(counts);
}

/**
 * Removes every row of some tests, and returns how many there were. Under the lock of the partition. Renames leave with the test
 * that they lead to: a name that was given to it belongs to a new test when it runs again.
 */
export async function removeTestRows(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<RowCounts> {
  const removed: Record<string, number> = {};
  for (const table of [testRenames, ...TABLES_BY_TEST]) {
    const which = rowsOf(table, repositoryId, testIds);
    removed[getTableName(table)] = (await tx.execute(sql`delete from ${table} where ${which}`)).rowCount ?? 0;
  }
  // Lists of quarantines also show those that have ended.
  if (removed[getTableName(quarantines)]) await nextRevision(tx, repositoryId);
  return addCounts(removed);
}
