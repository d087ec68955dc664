/**
 * The life of a test as segments: stretches of commits on which it did the same. Where one ends and the next begins lies
 * the range of commits that changed something. Pure.
 */

/**
 * Outcome of a test on a commit. `flaky`: one of its executions is judged so. `held_back`: it failed only in troubled runs,
 * so that it proves nothing, and was not broken by then. `failing`: it failed otherwise. `skipped`: it neither passed nor
 * failed.
 */
export const OUTCOMES = ['passing', 'failing', 'flaky', 'held_back', 'skipped'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** How often each happened on a commit. */
export interface CommitResults {
  /** Empty: the source named none. */
  commit: string;
  firstAt: number;
  lastAt: number;
  passed: number;
  failed: number;
  skipped: number;
  flaky: number;
  heldBack: number;
}

export interface Segment {
  outcome: Outcome;
  commits: number;
  executions: number;
  failed: number;
  firstCommit: string;
  lastCommit: string;
  /** The last commit of the segment before: what changed, changed after it. Undefined for the first segment. */
  previousCommit: string | undefined;
  startedAt: number;
  endedAt: number;
}

export function outcomeOf({ passed, failed, flaky, heldBack }: CommitResults): Outcome {
  if (flaky > 0) return 'flaky';
  if (failed > heldBack) return 'failing';
  if (heldBack > 0) return 'held_back';
  return passed > 0 ? 'passing' : 'skipped';
}

/** @param commits in order of time */
export function segmentsOf(commits: readonly CommitResults[]): Segment[] {
  const segments: Segment[] = [];
  for (const results of commits) {
    const outcome = outcomeOf(results);
    const executions = results.passed + results.failed + results.skipped;
    const last = segments.at(-1);
    if (last?.outcome === outcome) {
      last.commits++;
      last.executions += executions;
      last.failed += results.failed;
      last.lastCommit = results.commit;
      last.endedAt = Math.max(last.endedAt, results.lastAt);
    } else
      segments.push({
        outcome,
        commits: 1,
        executions,
        failed: results.failed,
        firstCommit: results.commit,
        lastCommit: results.commit,
        previousCommit: last?.lastCommit,
        startedAt: results.firstAt,
        endedAt: results.lastAt,
      });
  }
  return segments;
}
