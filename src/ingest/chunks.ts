/**
 * Cuts an upload into queue jobs: columnar, with at most 5,000 executions and about 4 MiB of text each. So a retry
 * repeats little, and a job stays far below the limits of the queue's backend.
 */
import { executionColumns, failureColumns } from '../domain/columns.ts';
import type { ParsedExecution, ParsedFailure, ParsedRun, ParsedUpload } from '../formats/upload.ts';
import { CHUNK_EXECUTIONS_MAX, type TestRunsJob } from '../queue/test-runs.ts';

/** UTF-16 units of text in one job. A single execution may have more; it then gets its own job. */
const CHUNK_TEXT_LENGTH_MAX = 4 * 1024 * 1024;

export interface UploadHead {
  /** A UUID; groups the jobs and names the receipt. */
  uploadId: string;
  repository: TestRunsJob['repository'];
  receivedAt: Date;
  /** When imported results would have arrived; null for what is live. */
  arrivedAt?: Date | null;
  /** For the receipt; null if they are not known. */
  format?: string | null;
  sender?: string | null;
}

export interface ChunkLimits {
  executionsMax?: number;
  textLengthMax?: number;
}

/**
 * The jobs of an upload, in order. Rejections and warnings travel with the first. When no run has executions, the first
 * run still yields one job, so that there is a receipt; an upload without runs yields none.
 */
export function chunksOf(upload: ParsedUpload, head: UploadHead, limits: ChunkLimits = {}): TestRunsJob[] {
  const { executionsMax = CHUNK_EXECUTIONS_MAX, textLengthMax = CHUNK_TEXT_LENGTH_MAX } = limits;
  const filled = upload.runs.filter((run) => run.executions.length > 0);
  const parts = (filled.length > 0 ? filled : upload.runs.slice(0, 1)).flatMap((run) =>
    partsOf(run, executionsMax, textLengthMax),
  );
  return parts.map((part, index) => ({
    v: 1,
    upload_id: head.uploadId,
    chunk: { index, count: parts.length },
    received_at: head.receivedAt.toISOString(),
    arrived_at: head.arrivedAt?.toISOString() ?? null,
    format: head.format ?? null,
    sender: head.sender ?? null,
    repository: head.repository,
    ...columnsOf(part),
    rejections: index === 0 ? upload.rejections : [],
    warnings: index === 0 ? upload.warnings : [],
  }));
}

function partsOf({ run, executions }: ParsedRun, executionsMax: number, textLengthMax: number): ParsedRun[] {
  const parts: ParsedRun[] = [];
  let part: ParsedExecution[] = [];
  let length = 0;
  for (const execution of executions) {
    const added = textLengthOf(execution);
    if (part.length > 0 && (part.length >= executionsMax || length + added > textLengthMax)) {
      parts.push({ run, executions: part });
      part = [];
      length = 0;
    }
    part.push(execution);
    length += added;
  }
  if (part.length > 0 || parts.length === 0) parts.push({ run, executions: part });
  return parts;
}

/** For the commas, quotes and numbers of one execution in the job's JSON. */
const EXECUTION_OVERHEAD = 100;

function textLengthOf(execution: ParsedExecution): number {
  let length = EXECUTION_OVERHEAD + executionColumns.textLength(execution);
  for (const failure of execution.failures) {
    length += failureColumns.textLength(failure);
    for (const { name, url } of failure.attachments ?? []) length += EXECUTION_OVERHEAD + name.length + url.length;
  }
  return length;
}

function columnsOf({ run, executions }: ParsedRun): Pick<TestRunsJob, 'run' | 'sources' | 'executions' | 'failures'> {
  const indexes = new Map<string, number>();
  const source: number[] = [];
  const failures: ParsedFailure[] = [];
  const failedExecution: number[] = [];
  for (const [index, execution] of executions.entries()) {
    const known = indexes.get(execution.source);
    if (known === undefined) indexes.set(execution.source, indexes.size);
    source.push(known ?? indexes.size - 1);
    for (const failure of execution.failures) {
      failures.push(failure);
      failedExecution.push(index);
    }
  }
  return {
    run,
    executions: { source, ...executionColumns.arrays(executions) },
    sources: [...indexes.keys()],
    failures: { execution: failedExecution, ...failureColumns.arrays(failures) },
  };
}
