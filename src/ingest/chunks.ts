/**
 * Cuts an upload into jobs for the queue (design §6 "Queues"): columnar, of at most 5,000 executions and about 4 MiB of
 * text each, so that a retry repeats little and a job stays far below what the queue's stores take.
 */
import { CHUNK_EXECUTIONS_MAX, type TestRunsJob } from '../queue/test-runs.ts';
import type { ParsedExecution, ParsedRun, ParsedUpload } from './upload.ts';

/** UTF-16 units of text in one job; one execution may hold more, and is then a job of its own. */
export const CHUNK_TEXT_LENGTH_MAX = 4 * 1024 * 1024;

export interface UploadHead {
  /** A UUID: groups the jobs, and names the receipt. */
  uploadId: string;
  repository: TestRunsJob['repository'];
  receivedAt: Date;
}

export interface ChunkLimits {
  executionsMax?: number;
  textLengthMax?: number;
}

/**
 * The jobs of an upload, in order. Rejections and warnings travel with the first. A run without executions yields a job
 * only when there would be none otherwise, for the receipt; an upload without runs yields none.
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

/** Commas, quotes and numbers of one execution in the job's JSON. */
const EXECUTION_OVERHEAD = 100;

function textLengthOf(execution: ParsedExecution): number {
  const { name, key, filepath, function: functionName, failures } = execution;
  let length = EXECUTION_OVERHEAD + name.length + key.length + (filepath?.length ?? 0) + (functionName?.length ?? 0);
  for (const { type, message, stacktrace } of failures)
    length += (type?.length ?? 0) + (message?.length ?? 0) + (stacktrace?.length ?? 0);
  return length;
}

function columnsOf({ run, executions }: ParsedRun): Pick<TestRunsJob, 'run' | 'sources' | 'executions' | 'failures'> {
  const sourceIndex = new Map<string, number>();
  const indexOf = (source: string): number => {
    const known = sourceIndex.get(source);
    if (known !== undefined) return known;
    sourceIndex.set(source, sourceIndex.size);
    return sourceIndex.size - 1;
  };
  const failures = executions.flatMap((execution, index) =>
    execution.failures.map((failure) => ({ ...failure, execution: index })),
  );
  return {
    run,
    executions: {
      source: executions.map(({ source }) => indexOf(source)),
      key: executions.map(({ key }) => key),
      name: executions.map(({ name }) => name),
      status: executions.map(({ status }) => status),
      duration_s: executions.map(({ durationSeconds }) => durationSeconds),
      finished_at_ms: executions.map(({ finishedAtMs }) => finishedAtMs),
      filepath: executions.map(({ filepath }) => filepath),
      function: executions.map((execution) => execution.function),
      is_flaky: executions.map(({ isFlaky }) => isFlaky),
      is_quarantined: executions.map(({ isQuarantined }) => isQuarantined),
      is_retried: executions.map(({ isRetried }) => isRetried),
    },
    sources: [...sourceIndex.keys()],
    failures: {
      execution: failures.map(({ execution }) => execution),
      attempt: failures.map(({ attempt }) => attempt),
      type: failures.map(({ type }) => type),
      message: failures.map(({ message }) => message),
      stacktrace: failures.map(({ stacktrace }) => stacktrace),
    },
  };
}
