/** From a job to rows: names become identifiers, times are settled, rows that cannot be stored are told apart. */
import { isOnDefaultBranch, type RunOrigin, shortBranch } from '../domain/default-branch.ts';
import { FINGERPRINT_VERSION, normaliseMessage } from '../domain/fingerprint.ts';
import { executionIdOf, failureIdOf, sourceKeyOf, TestIds } from '../domain/identity.ts';
import {
  DETAIL_BYTES_MAX,
  FAILURES_MAX,
  MESSAGE_BYTES_MAX,
  nameRejection,
  runRejection,
  STACKTRACE_BYTES_MAX,
  webAddressOf,
} from '../domain/limits.ts';
import { type Rejection, Rejections } from '../domain/rejections.ts';
import { effectiveTime, isRetained } from '../domain/retention.ts';
import type { Status } from '../domain/status.ts';
import { cutText } from '../domain/text.ts';
import type { Run, TestRunsJob } from '../queue/test-runs.ts';

/** What a failure without an exception is called (design §4). */
export const UNKNOWN_TYPE = 'unknown';
export const NO_MESSAGE = '(none reported)';

export interface PreparedFailure {
  attempt: number;
  failureId: string;
  type: string;
  message: string;
  stacktrace: string;
}

export interface PreparedExecution {
  id: bigint;
  /** Under which its claim is looked up. */
  sourceKey: string;
  testId: string;
  name: string;
  status: Status;
  durationSeconds: number;
  /** Milliseconds since the epoch. */
  finishedAt: number;
  isTimeReplaced: boolean;
  filepath: string;
  function: string;
  isFlaky: boolean;
  isQuarantined: boolean;
  isRetried: boolean;
  failures: PreparedFailure[];
}

export interface PreparedChunk {
  uploadId: string;
  chunkIndex: number;
  chunkCount: number;
  receivedAt: number;
  repositoryId: string;
  isOnDefaultBranch: boolean;
  run: Run;
  origin: RunOrigin;
  executions: PreparedExecution[];
  rejections: Rejection[];
  warnings: string[];
}

export interface PrepareOptions {
  repositoryId: string;
  defaultBranch: string | null;
  /** Milliseconds since the epoch. */
  now: number;
  retentionDays: number;
}

export const originOf = (run: Run): RunOrigin => ({
  branch: shortBranch(run.branch ?? ''),
  baseRef: shortBranch(run.base_ref ?? ''),
  pullRequest: run.pull_request ?? 0,
});

/** One for all executions that have none, which is most of them. */
const NO_FAILURES: PreparedFailure[] = [];
const NO_ROWS: number[] = [];

const testIds = new TestIds();

export function prepareChunk(job: TestRunsJob, options: PrepareOptions): PreparedChunk {
  const origin = originOf(job.run);
  const receivedAt = Date.parse(job.received_at);
  const sourceKeys = job.sources.map((source) => sourceKeyOf(options.repositoryId, source));
  const failures = failuresByExecution(job);
  const wrongRun = runRejection(job.run);
  const rejections = new Rejections();
  const executions: PreparedExecution[] = [];
  const { executions: columns } = job;
  for (const [i, name] of columns.name.entries()) {
    const reason = nameRejection(name) ?? wrongRun;
    if (reason !== null) {
      rejections.add(reason, name);
      continue;
    }
    const { at, isReplaced } = effectiveTime(columns.finished_at_ms[i] ?? null, receivedAt);
    if (!isRetained(at, options.now, options.retentionDays)) {
      rejections.add(`older than the retention of ${options.retentionDays} days`, name);
      continue;
    }
    const sourceKey = sourceKeys[columns.source[i] as number] as string;
    const testId = testIds.of(options.repositoryId, name);
    const status = columns.status[i] as Status;
    executions.push({
      id: executionIdOf(sourceKey, columns.key[i] as string),
      sourceKey,
      testId,
      name,
      status,
      durationSeconds: columns.duration_s[i] as number,
      finishedAt: at,
      isTimeReplaced: isReplaced,
      filepath: cutText(columns.filepath[i] ?? '', DETAIL_BYTES_MAX),
      function: cutText(columns.function[i] ?? '', DETAIL_BYTES_MAX),
      isFlaky: columns.is_flaky[i] as boolean,
      isQuarantined: columns.is_quarantined[i] as boolean,
      isRetried: columns.is_retried[i] as boolean,
      failures: preparedFailures(job, failures.get(i)?.slice(0, FAILURES_MAX) ?? NO_ROWS, testId, status),
    });
  }
  return {
    uploadId: job.upload_id,
    chunkIndex: job.chunk.index,
    chunkCount: job.chunk.count,
    receivedAt,
    repositoryId: options.repositoryId,
    isOnDefaultBranch: isOnDefaultBranch(origin, options.defaultBranch),
    run: { ...job.run, job_url: webAddressOf(job.run.job_url) },
    origin,
    executions,
    rejections: [...job.rejections, ...rejections.list()],
    warnings: job.warnings,
  };
}

function failuresByExecution(job: TestRunsJob): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const [row, execution] of job.failures.execution.entries()) {
    const rows = found.get(execution);
    if (rows) rows.push(row);
    else found.set(execution, [row]);
  }
  return found;
}

/** Every failed execution has at least one failure event, so that it stands in a group. */
function preparedFailures(job: TestRunsJob, rows: number[], testId: string, status: Status): PreparedFailure[] {
  if (rows.length === 0) return status === 'failed' ? [preparedFailure(testId, 1, null, null, null)] : NO_FAILURES;
  const { attempt, type, message, stacktrace } = job.failures;
  return rows.map((row) =>
    preparedFailure(testId, attempt[row] as number, type[row] ?? null, message[row] ?? null, stacktrace[row] ?? null),
  );
}

function preparedFailure(
  testId: string,
  attempt: number,
  reportedType: string | null,
  reportedMessage: string | null,
  stacktrace: string | null,
): PreparedFailure {
  const type = cutText(reportedType || UNKNOWN_TYPE, DETAIL_BYTES_MAX);
  const message = cutText(reportedMessage || NO_MESSAGE, MESSAGE_BYTES_MAX);
  return {
    attempt,
    failureId: failureIdOf(testId, FINGERPRINT_VERSION, type, normaliseMessage(message)),
    type,
    message,
    stacktrace: cutText(stacktrace ?? '', STACKTRACE_BYTES_MAX),
  };
}
