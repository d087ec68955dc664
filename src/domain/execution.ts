/** An execution as the judgements see it, and the one order in which they read executions. */
import type { Status } from './status.ts';
import { dayOf } from './time.ts';

export interface JudgedExecution {
  executionId: bigint;
  status: Status;
  /** When it finished; milliseconds since the epoch. */
  finishedAt: number;
  runId: string;
  runAttempt: number;
  /** Empty when unknown. */
  commit: string;
  /** Flagged flaky by its source, or passed after failed attempts within the run. */
  isFlakyWithinRun: boolean;
  isRetried: boolean;
}

/** Which attempt of which run an execution belongs to. */
export const attemptOf = (execution: Pick<JudgedExecution, 'runId' | 'runAttempt'>): string =>
  `${execution.runAttempt}/${execution.runId}`;

/**
 * Names a run within its pipeline and CI job. A run that spans midnight counts as two: totals of runs are kept by UTC
 * day.
 */
export const runKey = (run: Pick<JudgedExecution, 'runId' | 'runAttempt'> & { day: number }): string =>
  `${run.day}/${attemptOf(run)}`;

/** The {@link runKey} of an execution's run. */
export const runKeyOf = (execution: JudgedExecution): string =>
  runKey({ day: dayOf(execution.finishedAt), runId: execution.runId, runAttempt: execution.runAttempt });

/** Whether something went wrong in an execution: it failed, or passed only after failed attempts. */
export const isTrouble = (execution: JudgedExecution): boolean =>
  execution.status === 'failed' || (execution.status === 'passed' && execution.isFlakyWithinRun);

/** A place in the order of finishing; ties are broken by run, then by key. */
export type Position = Pick<JudgedExecution, 'finishedAt' | 'runId' | 'runAttempt' | 'executionId'>;

export function comparePositions(a: Position, b: Position): number {
  return (
    a.finishedAt - b.finishedAt ||
    compareTexts(a.runId, b.runId) ||
    a.runAttempt - b.runAttempt ||
    (a.executionId < b.executionId ? -1 : a.executionId > b.executionId ? 1 : 0)
  );
}

/** Compares code points, as PostgreSQL compares texts of the collation "C". JavaScript compares halves of them. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  for (let i = 0; ; i++) {
    const [one, other] = [a.codePointAt(i), b.codePointAt(i)];
    if (one === other) {
      if (one !== undefined && one > 0xffff) i++;
      continue;
    }
    return (one ?? -1) - (other ?? -1);
  }
}
