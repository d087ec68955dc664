/**
 * Notes what parts bring off the default branch: commits that may contradict themselves about a test, and commits whose records
 * are outdated. A refresh reads them (evidence.ts, src/commits/record-commits.ts).
 */
import type { Executor } from '../postgres/client.ts';
import { forgetCommitRecords } from '../postgres/commit-records.ts';
import { failedAmong, noteFailedCommits, readContradictionsOn } from '../postgres/contradictions.ts';
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
  { commits, pulls }: Contents,
): Promise<NotedCommits> {
  const names = [...commits.keys()];
  const recorded = new Set(await forgetCommitRecords(tx, repositoryId, names));
  const pullNames = [...pulls.keys()];
  const mayContradict = new Set(await failedAmong(tx, repositoryId, pullNames));
  for (const { failure } of await readContradictionsOn(tx, repositoryId, pullNames)) mayContradict.add(failure.commit);
  await noteFailedCommits(
    tx,
    repositoryId,
    [...pulls].flatMap(([commit, { failedAt }]) => (failedAt === undefined ? [] : [{ commit, newestAt: failedAt }])),
  );
  const stale = names.flatMap((commit): StaleCommit[] => {
    const pull = pulls.get(commit);
    const retriedTests = pull?.retried ?? new Set<string>();
    const isEvidenceStale =
      pull !== undefined && (pull.failedAt !== undefined || retriedTests.size > 0 || mayContradict.has(commit));
    if (!isEvidenceStale && !commits.get(commit) && !recorded.has(commit)) return [];
    return [{ commit, isEvidenceStale, retriedTests }];
  });
  await noteStaleCommits(tx, repositoryId, stale);
  return { hasEvidence: stale.some(({ isEvidenceStale }) => isEvidenceStale), hasRecords: stale.length > 0 };
}
