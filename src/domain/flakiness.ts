/** Which executions are flaky. Pure: the same executions in any order give the same verdicts. */
import { attemptOf, type JudgedExecution } from './execution.ts';

/** Why an execution is flaky: the first rule that applies. `repeated`: see repetition.ts. */
export type FlakyRule = 'within_run' | 'contradicted' | 'repeated';

/**
 * Verdicts on the executions of one test, pipeline and job on **one commit**.
 *
 * - `within_run`: flagged flaky by its source, or passed after failed attempts within the run.
 * - `contradicted`: failed, while another attempt or run of the same commit passed. An attempt with both results and no
 *   retry flag (matrix legs, tests with the same name) makes the name ambiguous on this commit: then nothing is
 *   contradicted. The same holds for an unknown commit. Skipped executions are not evidence.
 *
 * @param executions Without those that are held back (infrastructure.ts).
 * @returns The rule by execution id, for those that are flaky.
 */
export function flakyOnCommit(executions: readonly JudgedExecution[]): Map<bigint, FlakyRule> {
  const verdicts = new Map<bigint, FlakyRule>();
  const conclusive = executions.filter((execution) => execution.status !== 'skipped');
  for (const execution of conclusive) if (execution.isFlakyWithinRun) verdicts.set(execution.executionId, 'within_run');

  if (conclusive.some((execution) => execution.commit === '') || isAmbiguous(conclusive)) return verdicts;
  const passed = new Set(conclusive.filter((execution) => execution.status === 'passed').map(attemptOf));
  for (const execution of conclusive) {
    if (execution.status !== 'failed' || verdicts.has(execution.executionId)) continue;
    const own = passed.has(attemptOf(execution)) ? 1 : 0;
    if (passed.size > own) verdicts.set(execution.executionId, 'contradicted');
  }
  return verdicts;
}

/** Whether one attempt both passed and failed without a retry flag. */
export function isAmbiguous(executions: readonly JudgedExecution[]): boolean {
  const results = new Map<string, 'passed' | 'failed'>();
  for (const execution of executions) {
    if (execution.status === 'skipped' || execution.isRetried || execution.isFlakyWithinRun) continue;
    const attempt = attemptOf(execution);
    const other = results.get(attempt);
    if (other !== undefined && other !== execution.status) return true;
    results.set(attempt, execution.status);
  }
  return false;
}
