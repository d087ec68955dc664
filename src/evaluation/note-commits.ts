/**
 * Notes what parts bring of commits: those that may have clues about a test (src/domain/clues.ts), and those whose records are
 * outdated. A refresh reads them (evidence.ts, src/commits/record-commits.ts).
 */

import type { Executor } from '../postgres/client.ts';
import { failedAmong, noteFailedCommits, readCluesOn } from '../postgres/clues.ts';
import { forgetCommitRecords } from '../postgres/commit-records.ts';
import { testsWithLegs } from '../postgres/job-legs.ts';
import { noteStaleCommits, type StaleCommit } from '../postgres/stale.ts';
import type { Contents } from './contents.ts';

export interface NotedCommits {
  hasEvidence: boolean;
  hasRecords: boolean;
}

/** Most commits never fail, and cost a look or two. */
export async function noteCommits(
  tx: Executor,
  repositoryId: string,
  { commits, pulls, failedOnDefault }: Contents,
): Promise<NotedCommits> {
  const names = [...commits.keys()];
  const recorded = new Set(await forgetCommitRecords(tx, repositoryId, names));
  const mayHaveClues = new Set(await failedAmong(tx, repositoryId, names));
  for (const { failure } of await readCluesOn(tx, repositoryId, names)) mayHaveClues.add(failure.commit);
  const failed = [...pulls, ...failedOnDefault].flatMap(([commit, { failedAt }]) =>
    failedAt === undefined ? [] : [{ commit, newestAt: failedAt }],
  );
  await noteFailedCommits(tx, repositoryId, newestOf(failed));
  const failedTests = new Set(failedOnDefault.values().flatMap(({ testIds }) => testIds));
  const withLegs = await testsWithLegs(tx, repositoryId, [...failedTests]);
  const stale = names.flatMap((commit): StaleCommit[] => {
    const pull = pulls.get(commit);
    const retriedTests = pull?.retried ?? new Set<string>();
    const isEvidenceStale =
      mayHaveClues.has(commit) ||
      pull?.failedAt !== undefined ||
      retriedTests.size > 0 ||
      !(failedOnDefault.get(commit)?.testIds.isDisjointFrom(withLegs) ?? true);
    if (!isEvidenceStale && !commits.get(commit) && !recorded.has(commit)) return [];
    return [{ commit, isEvidenceStale, retriedTests }];
  });
  await noteStaleCommits(tx, repositoryId, stale);
  return { hasEvidence: stale.some(({ isEvidenceStale }) => isEvidenceStale), hasRecords: stale.length > 0 };
}

/** A commit may have run both on the default branch and off it. */
function newestOf(failed: readonly { commit: string; newestAt: number }[]) {
  const newest = new Map<string, number>();
  for (const { commit, newestAt } of failed) newest.set(commit, Math.max(newestAt, newest.get(commit) ?? 0));
  return [...newest].map(([commit, newestAt]) => ({ commit, newestAt }));
}
