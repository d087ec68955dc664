/** The outcomes of results. */
import type { Status } from '../../domain/status.ts';

/** Visual Studio has more of them than `dotnet test` writes. */
const STATUSES: Readonly<Record<string, Status>> = {
  Passed: 'passed',
  PassedButRunAborted: 'passed',
  Completed: 'passed',
  Warning: 'passed',
  Failed: 'failed',
  Error: 'failed',
  Timeout: 'failed',
  Aborted: 'failed',
  Disconnected: 'failed',
  NotExecuted: 'skipped',
  NotRunnable: 'skipped',
  // From Assert.Inconclusive: neither a pass nor a failure.
  Inconclusive: 'skipped',
  InProgress: 'skipped',
  Pending: 'skipped',
};

/** Null for an unknown outcome. An omitted one is Error, which is the writer's default. */
export const statusOf = (outcome: string | undefined): Status | null =>
  outcome === undefined ? 'failed' : Object.hasOwn(STATUSES, outcome) ? (STATUSES[outcome] ?? null) : null;
