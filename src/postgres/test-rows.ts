/** Every row of some tests: counted before they are forgotten, and removed. A test compares the list with the schema. */
import { getTableName, sql } from 'drizzle-orm';
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

const countRow = z.object({ rows: z.coerce.number() });

const isOf = (repositoryId: string, testIds: readonly string[]) =>
  sql`repository_id = ${repositoryId} and test_id = any(${plainColumn(testIds)}::uuid[])`;
const isRenameOf = (repositoryId: string, testIds: readonly string[]) => sql`
  repository_id = ${repositoryId} and (from_id = any(${plainColumn(testIds)}::uuid[]) or to_id = any(${plainColumn(testIds)}::uuid[]))`;

/** How many rows some tests have, by table. */
export async function countTestRows(
  db: Database,
  repositoryId: string,
  testIds: readonly string[],
): Promise<RowCounts> {
  const counts: Record<string, number> = {};
  for (const table of [...TABLES_BY_TEST, testRenames]) {
    const which = (table === testRenames ? isRenameOf : isOf)(repositoryId, testIds);
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
    const which = (table === testRenames ? isRenameOf : isOf)(repositoryId, testIds);
    removed[getTableName(table)] = (await tx.execute(sql`delete from ${table} where ${which}`)).rowCount ?? 0;
  }
  // Lists of quarantines also show those that have ended.
  if (removed[getTableName(quarantines)]) await nextRevision(tx, repositoryId);
  return addCounts(removed);
}
