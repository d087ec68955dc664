/** Forgets everything that the executions of a repository show, because others will count. */
import { eq } from 'drizzle-orm';
import type { Executor } from './client.ts';
import {
  baselines,
  causeDays,
  causeGroups,
  causeNodes,
  clues,
  durationTotals,
  failureGroups,
  flakyExecutions,
  healthChanges,
  identities,
  judgedRuns,
  ownedTests,
  suspects,
  testDurations,
  testListings,
  testOwners,
} from './schema.ts';
import { forgetFirstFailures } from './tests.ts';

/** First failures from before what is retained stay. Under the lock of the partition. */
export async function forgetStates(tx: Executor, repositoryId: string, retainedSince: number): Promise<void> {
  for (const table of [
    ...[testListings, identities, suspects, baselines, flakyExecutions],
    ...[failureGroups, healthChanges, judgedRuns, clues, ownedTests, testOwners],
    ...[causeNodes, causeGroups, causeDays, testDurations, durationTotals],
  ])
    await tx.delete(table).where(eq(table.repositoryId, repositoryId));
  await forgetFirstFailures(tx, repositoryId, retainedSince);
}
