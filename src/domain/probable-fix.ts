/** Which commit probably ended the failures of a test, and how sure that is. Pure. */
import { CHANCE_OF_FIX } from './belief-fold.ts';

/** An execution that passed or failed; skipped ones say nothing. */
interface SeenExecution {
  executionId: unknown;
  /** Empty if unknown. */
  commit: string;
  finishedAt: number;
}

/** The last failure of the test that its run does not explain. */
export interface OwnFailure {
  executionId: unknown;
  /** How often the test failed then: nearly always if it was broken, at the rate that was known if it was flaky. */
  rate: number;
  isBroken: boolean;
}

export interface ProbableFix {
  /** The first commit on which it passed since. */
  commit: string;
  /** When it passed. */
  at: number;
  /** The commit of its last failure: what came after that is suspect. Empty if unknown. */
  lastFailingCommit: string;
  /** How likely it is healthy now because of that commit. */
  probability: number;
}

/**
 * The commit of the first pass since the last failure, unless that was no new commit: then something else ended it. The
 * later a flaky test is fixed, the more commits pass by luck before, so how sure it is follows from how often it failed.
 *
 * @param ordered in order of finishing.
 * @param healthy how likely the test is healthy now.
 */
export function probableFix(
  ordered: readonly SeenExecution[],
  last: OwnFailure | undefined,
  healthy: number,
): ProbableFix | null {
  const failedAt = last ? ordered.findIndex(({ executionId }) => executionId === last.executionId) : -1;
  const [failure, first] = [ordered[failedAt], ordered[failedAt + 1]];
  if (!last || !failure || !first || first.commit === '') return null;
  if (ordered.slice(0, failedAt + 1).some(({ commit }) => commit === first.commit)) return null;
  const commits = new Set(ordered.slice(failedAt + 1).map(({ commit }) => commit)).size;
  const rate = Math.max(last.rate, Number.EPSILON);
  const isFirst = rate / (1 - (1 - rate) ** commits);
  const isCommit = last.isBroken ? CHANCE_OF_FIX.byCommit / (CHANCE_OF_FIX.byCommit + CHANCE_OF_FIX.fromOutside) : 1;
  const probability = healthy * isFirst * isCommit;
  return { commit: first.commit, at: first.finishedAt, lastFailingCommit: failure.commit, probability };
}
