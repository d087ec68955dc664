/** Commits of pull requests on which one identity both passed and failed: evidence of flaky, and never of broken. */
import type { WeighedPlace } from './belief.ts';
import { attemptOf, comparePositions, type JudgedExecution, type Position, runKeyOf } from './execution.ts';
import { monthOf } from './retention.ts';
import { DAY_MS } from './time.ts';

/** How far apart a pass and a failure may be to contradict each other. */
const CONTRADICTION_REACH_MS = 3 * DAY_MS;

export interface Contradiction {
  /** The execution with which it was complete: its place among the executions of the identity. */
  at: Position;
  /** The failure, or the pass after failed attempts. */
  failure: WeighedPlace;
  /** {@link pullRequestRunKeyOf} the failure: its run may explain it. */
  run: string;
}

/** Names a run off the default branch. Where a run id never changes, runs of different commits share it. */
export const pullRequestRunKeyOf = (execution: JudgedExecution): string => `${execution.commit}/${runKeyOf(execution)}`;

/**
 * A CI job in which more tests failed on a commit in a month, or with more runs, contradicts nothing there: its runs explain
 * what failed. Not all CI jobs together: among 50,000 tests, so many flaky ones fail on any commit.
 */
export const CONTRADICTED_TESTS_MAX = 200;
export const CONTRADICTED_RUNS_MAX = 500;

/**
 * At most one for each known commit: the first. Months of executions leave as a whole, so each is looked at alone: what is
 * left is the same with and without the others. A pass and a failure of one attempt without a retry contradict nothing
 * (matrix legs, shards, tests with the same name).
 *
 * @param executions Of one identity, off the default branch, in any order.
 */
export function contradictionsOf(executions: readonly JudgedExecution[]): Contradiction[] {
  const known = executions.filter(({ commit, status }) => commit !== '' && status !== 'skipped');
  const distinct = [...new Map(known.map((execution) => [execution.executionId, execution])).values()];
  return [...Map.groupBy(distinct, ({ commit, finishedAt }) => `${monthOf(finishedAt)} ${commit}`).values()]
    .flatMap((onCommit) => firstContradiction(onCommit.sort(comparePositions)))
    .sort((one, other) => comparePositions(one.at, other.at));
}

function firstContradiction(ordered: readonly JudgedExecution[]): Contradiction[] {
  for (const [i, execution] of ordered.entries()) {
    if (execution.status === 'passed' && execution.isFlakyWithinRun) return [contradiction(execution, execution)];
    const opposite = ordered
      .slice(0, i)
      .findLast(
        (before) =>
          before.status !== execution.status &&
          attemptOf(before) !== attemptOf(execution) &&
          execution.finishedAt - before.finishedAt <= CONTRADICTION_REACH_MS,
      );
    if (opposite) return [contradiction(execution, execution.status === 'failed' ? execution : opposite)];
  }
  return [];
}

function contradiction(last: JudgedExecution, failed: JudgedExecution): Contradiction {
  const { finishedAt, runId, runAttempt, executionId } = last;
  return {
    at: { finishedAt, runId, runAttempt, executionId },
    failure: { executionId: String(failed.executionId), commit: failed.commit, finishedAt: failed.finishedAt },
    run: pullRequestRunKeyOf(failed),
  };
}
