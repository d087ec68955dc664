/** What a parser makes of a request body: rows, before they are checked, cut into chunks and queued. */
import type { Rejection } from '../domain/rejections.ts';
import type { Status } from '../domain/status.ts';
import type { Run } from '../queue/test-runs.ts';

export interface ParsedFailure {
  /** 1 for the first failed attempt within the execution. */
  attempt: number;
  type: string | null;
  message: string | null;
  stacktrace: string | null;
}

export interface ParsedExecution {
  /** The unit of resending this execution belongs to, e.g. a trace id; unique within the repository. */
  source: string;
  /** Names the execution within `source`. */
  key: string;
  name: string;
  status: Status;
  durationSeconds: number;
  /** Milliseconds since the epoch, or null when the source does not say. */
  finishedAtMs: number | null;
  filepath: string | null;
  function: string | null;
  isFlaky: boolean;
  isQuarantined: boolean;
  isRetried: boolean;
  failures: ParsedFailure[];
}

/** Executions that share one run. */
export interface ParsedRun {
  run: Run;
  executions: ParsedExecution[];
}

export interface ParsedUpload {
  runs: ParsedRun[];
  /** Rows of the input that are no execution: refused by the parser, with the reason. */
  rejections: Rejection[];
  /** Sentences for the receipt, such as "the report was cut short at line 12". */
  warnings: string[];
}
