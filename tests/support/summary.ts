/** Summaries of executions of which everything is known. */
import {
  type IdentitySummary,
  NOTHING_RAN,
  newestOf,
  type SummarisedExecution,
  summaryOf,
} from '../../src/domain/test-state.ts';

export const summaryOfAll = (executions: readonly SummarisedExecution[]): IdentitySummary =>
  summaryOf(
    executions.map((one) => ({ ...one, hasFailures: one.status === 'failed' })),
    newestIn(executions),
  );

/** Without what else is known of it. */
function newestIn(executions: readonly SummarisedExecution[]): SummarisedExecution | null {
  const newest = newestOf(executions.map((one) => ({ ...NOTHING_RAN, newest: one })));
  if (!newest) return null;
  const { executionId, status, finishedAt, framework, frameworkVersion, language, filepath } = newest;
  const facts = { framework, frameworkVersion, language, filepath, function: newest.function };
  return { executionId, status, finishedAt, ...facts };
}
