/** Asks the service about the failed tests of a job. */
import type { Repository } from '../repository.ts';
import type { RunTarget } from '../target.ts';
import type { Verdict } from './decision.ts';
import { evidenceSentence, whereSentence } from './evidence.ts';

interface KnownFailure {
  verdict: Verdict;
  /** Why, in a sentence; null if the service does not say. */
  because: string | null;
  /** Which axis its failures follow, in a sentence; null if the service does not know. */
  where: string | null;
  owners: string[];
  testId: string | null;
  /** Since when the test is broken on the default branch; null for other verdicts, and if the service does not say. */
  brokenSince: string | null;
}

export interface Answer {
  /** By name. A test that is missing is unknown. */
  known: ReadonlyMap<string, KnownFailure>;
  /** Sentences for people: what could not be asked, and what that means. */
  notices: string[];
}

/**
 * The verdicts of the commit, and the quarantines of the branch for tests without one. Never throws.
 *
 * @param isStored whether every report of this job can be read: else a verdict may be that of an earlier run of the
 *   commit, which failed in another way
 */
export async function askAbout(repository: Repository, target: RunTarget, isStored: boolean): Promise<Answer> {
  const known = new Map<string, KnownFailure>();
  const notices: string[] = [];
  try {
    for (const { test_name, test_id } of await repository.quarantines(target))
      known.set(test_name, {
        verdict: 'quarantined',
        because: null,
        where: null,
        owners: [],
        testId: test_id ?? null,
        brokenSince: null,
      });
  } catch (error) {
    notices.push(`The quarantines cannot be read: ${messageOf(error)}. The job's own result stands.`);
    return { known, notices };
  }
  if (target.commit === undefined)
    return { known, notices: ['The commit is not known (pass --commit): only quarantines count.'] };
  if (!isStored) {
    notices.push('The reports are not stored yet, so there are no verdicts: only quarantines count.');
    return { known, notices };
  }
  try {
    for (const failure of await repository.failuresOfCommit(target.commit, target))
      known.set(failure.test_name, {
        verdict: failure.verdict,
        because: evidenceSentence(failure),
        where: whereSentence(failure),
        owners: failure.owners ?? [],
        testId: failure.test_id,
        brokenSince: failure.verdict === 'broken' ? (failure.evidence.health_began_at ?? null) : null,
      });
  } catch (error) {
    notices.push(`The verdicts cannot be read: ${messageOf(error)}. Only quarantines count.`);
  }
  return { known, notices };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
