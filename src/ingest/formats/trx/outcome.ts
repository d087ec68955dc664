/** The outcomes of a result. */
import type { Status } from '../../../domain/status.ts';

/** Visual Studio knows more of them than `dotnet test` writes. */
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
  // What Assert.Inconclusive leaves: neither a pass nor a failure.
  Inconclusive: 'skipped',
  InProgress: 'skipped',
  Pending: 'skipped',
};

/** Null for an outcome that is unknown. The writer leaves out its default, which is Error. */
export const statusOf = (outcome: string | undefined): Status | null =>
  outcome === undefined ? 'failed' : Object.hasOwn(STATUSES, outcome) ? (STATUSES[outcome] ?? null) : null;
