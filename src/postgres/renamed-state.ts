/** Moves names, quarantines and state of tests in PostgreSQL after renames were accepted or undone. */
import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import { testIdOf } from '../domain/identity.ts';
import type { Executor } from './client.ts';
import { replaceIdentities } from './count-identities.ts';
import { lockPartitionsOf } from './partitions.ts';
import { nextRevision } from './quarantine-records.ts';
import { removeQuarantine } from './quarantine-rows.ts';
import type { DecidedRename } from './renames.ts';
import {
  failureGroups,
  flakyExecutions,
  healthChanges,
  ownedTests,
  quarantines,
  suspects,
  testDurations,
  testOwners,
  testRenames,
  tests,
} from './schema.ts';
import { readTestNames } from './test-names.ts';

/**
 * Gives tests their names, brings quarantines of new names to the tests they belong to, and forgets what follows from
 * executions: it is derived again. Twice is as once.
 */
export async function moveTests(
  tx: Executor,
  repositoryId: string,
  renames: readonly DecidedRename[],
  now: number,
): Promise<void> {
  await lockPartitionsOf(tx, repositoryId);
  const names = await readTestNames(tx, repositoryId);
  const roots = new Set(renames.map(({ fromId }) => names.testOf(fromId)));
  const ids = [...new Set([...roots, ...renames.flatMap(({ fromId, toId }) => [fromId, toId])])];
  const joined = ids.filter((id) => names.testOf(id) !== id);
  // The lists are found by the names from before.
  await replaceIdentities(tx, repositoryId, ids, []);
  for (const table of [suspects, flakyExecutions, failureGroups, ownedTests, testOwners, testDurations])
    await tx.delete(table).where(and(eq(table.repositoryId, repositoryId), inArray(table.testId, ids)));
  for (const table of [healthChanges, tests])
    await tx.delete(table).where(and(eq(table.repositoryId, repositoryId), inArray(table.testId, joined)));
  const newest = names.newest();
  for (const id of ids.filter((one) => !joined.includes(one))) {
    const name = newest.get(id) ?? (await firstNameOf(tx, repositoryId, id));
    if (name === undefined) continue;
    await tx
      .update(tests)
      .set({ name })
      .where(and(eq(tests.repositoryId, repositoryId), eq(tests.testId, id)));
    await tx
      .update(quarantines)
      .set({ testName: name })
      .where(
        and(eq(quarantines.repositoryId, repositoryId), eq(quarantines.testId, id), isNull(quarantines.removedAt)),
      );
  }
  for (const id of joined) await joinQuarantines(tx, repositoryId, { id, testId: names.testOf(id), now });
  await nextRevision(tx, repositoryId);
}

/** The name from which the id of a test was made, if a rename tells it. */
async function firstNameOf(tx: Executor, repositoryId: string, testId: string): Promise<string | undefined> {
  const rows = await tx
    .select({ name: testRenames.fromName })
    .from(testRenames)
    .where(and(eq(testRenames.repositoryId, repositoryId), eq(testRenames.fromId, testId)));
  return rows.find(({ name }) => testIdOf(repositoryId, name) === testId)?.name;
}

/** One that covers what another of the test covers already ends. */
async function joinQuarantines(
  tx: Executor,
  repositoryId: string,
  { id, testId, now }: { id: string; testId: string; now: number },
): Promise<void> {
  const [test] = await tx
    .select({ name: tests.name })
    .from(tests)
    .where(and(eq(tests.repositoryId, repositoryId), eq(tests.testId, testId)));
  const scope = sql`(coalesce(${quarantines.branch}, ''), ${quarantines.narrowing})`;
  const isOpen = (of: string) =>
    and(eq(quarantines.repositoryId, repositoryId), eq(quarantines.testId, of), isNull(quarantines.removedAt));
  const covered = await tx
    .select({ id: quarantines.id })
    .from(quarantines)
    .where(
      and(
        isOpen(id),
        sql`${scope} in (select coalesce(other.branch, ''), other.narrowing from ${quarantines} as other
          where other.repository_id = ${repositoryId} and other.test_id = ${testId} and other.removed_at is null)`,
      ),
    );
  for (const one of covered)
    await removeQuarantine(tx, repositoryId, one.id, { by: { name: 'rename', actor: null }, now });
  await tx
    .update(quarantines)
    .set({ testId, ...(test && { testName: test.name }) })
    .where(and(eq(quarantines.repositoryId, repositoryId), eq(quarantines.testId, id)));
}
