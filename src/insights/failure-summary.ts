/** The failures of a commit as counts and as one sentence. */
import { COMMIT_VERDICTS } from '../domain/commit-verdict.ts';
import { failuresInWords } from '../domain/failures-in-words.ts';
import type { CommitFailure } from './failures-of-commit.ts';

/** How many failures have each verdict. */
export const verdictCounts = (failures: readonly Pick<CommitFailure, 'verdict'>[]): Record<string, number> =>
  Object.fromEntries(COMMIT_VERDICTS.map((one) => [one, failures.filter(({ verdict }) => verdict === one).length]));

/** The sentence about the failures of a commit on which something ran. */
export function summaryOf(failures: readonly CommitFailure[], defaultBranch: string | null, now: number): string {
  const beginnings = failures.flatMap(({ verdict, episode }) =>
    verdict === 'broken' && episode?.beganAt != null ? [episode.beganAt] : [],
  );
  return failuresInWords({
    counts: verdictCounts(failures),
    defaultBranch,
    brokenSince: beginnings.length === 0 ? null : Math.min(...beginnings),
    now,
  });
}
