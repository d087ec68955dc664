/** What is believed after a history: the fold of belief.ts over executions in any order. */
import { type Belief, foldBelief, newBelief } from './belief.ts';
import { comparePositions, type JudgedExecution } from './execution.ts';
import type { RunTrouble } from './run-trouble.ts';

/**
 * The belief about one identity. The order does not matter, duplicates count once, and skipped executions do not count.
 *
 * @param troubles By execution id, of executions that failed or passed after failed attempts.
 */
export function believe(
  executions: readonly JudgedExecution[],
  troubles: ReadonlyMap<bigint, RunTrouble>,
  from: Belief = newBelief(),
): Belief {
  const distinct = new Map(executions.map((execution) => [execution.executionId, execution]));
  let belief = from;
  for (const execution of [...distinct.values()].sort(comparePositions)) {
    const { executionId, status, finishedAt, commit } = execution;
    if (status === 'skipped') continue;
    const result = status === 'passed' && execution.isFlakyWithinRun ? 'retried' : status;
    const weighed = { executionId: String(executionId), result, finishedAt, commit } as const;
    belief = foldBelief(belief, weighed, troubles.get(executionId));
  }
  return belief;
}
