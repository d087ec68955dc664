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
    compare(a.runId, b.runId) ||
    a.runAttempt - b.runAttempt ||
    compare(a.executionId, b.executionId)
  );
}

const compare = <T extends string | bigint>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);
