/** The result of parsing a request body: rows, before they are checked, cut into chunks and queued. */
import type { ExecutionRow, FailureRow, Run } from '../domain/columns.ts';
import type { Rejection } from '../domain/rejections.ts';

export type ParsedFailure = FailureRow;

export interface ParsedExecution extends ExecutionRow {
  /** The unit of resending that this execution belongs to, such as a trace id; unique within the repository. */
  source: string;
  failures: ParsedFailure[];
}

/** Executions that share one run. */
export interface ParsedRun {
  run: Run;
  executions: ParsedExecution[];
}

export interface ParsedUpload {
  runs: ParsedRun[];
  /** Rows of the input that the parser refused, with the reason. */
  rejections: Rejection[];
  /** Sentences for the receipt, such as "the report was cut short at line 12". */
  warnings: string[];
  /** Whether a report broke off, so that what followed is lost. */
  isCutShort?: boolean;
}
