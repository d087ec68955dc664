/** From a job to rows: names become identifiers, times are settled, and rows that cannot be stored are rejected. */

import { axesText } from '../domain/axes.ts';
import type { Run } from '../domain/columns.ts';
import { failureColumns } from '../domain/columns.ts';
import { isOnDefaultBranch, originOf, type RunOrigin } from '../domain/default-branch.ts';
import { FINGERPRINT_VERSION, normaliseMessage } from '../domain/fingerprint.ts';
import { executionIdOf, failureIdOf, sourceKeyOf, TestIds } from '../domain/identity.ts';
import { FAILURES_MAX, nameRejection, runRejection } from '../domain/limits.ts';
import { type Rejection, Rejections } from '../domain/rejections.ts';
import type { TestNames } from '../domain/rename-decisions.ts';
import { type ReportedResult, variantOf } from '../domain/result-variant.ts';
import { effectiveTime, isKept, type Kept } from '../domain/retention.ts';
import type { Status } from '../domain/status.ts';
import type { TestRunsJob } from '../queue/test-runs.ts';

export interface PreparedFailure {
  /** Its index in the arrays of the job; null when the job reports no failure for a failed execution. */
  row: number | null;
  failureId: string;
}

/**
 * Ids and texts that are worked out for an execution. The rest stays in the arrays of its job, from which its line is made.
 */
export interface PreparedExecution {
  /** Its index in the arrays of the job. */
  row: number;
  id: bigint;
  /** Its claim is looked up under this key. */
  sourceKey: string;
  testId: string;
  status: Status;
  /** Of its result; it is mixed into the id. */
  variant: number;
  /** Milliseconds since the epoch. */
  finishedAt: number;
  isTimeReplaced: boolean;
  failures: readonly PreparedFailure[];
}

export interface PreparedChunk {
  uploadId: string;
  chunkIndex: number;
  chunkCount: number;
  receivedAt: number;
  /** The format of its reports; null if the producer does not say. */
  format: string | null;
  /** Who sent it; null if the producer does not say. */
  sender: string | null;
  repositoryId: string;
  /** Of the past: nothing but what is known of tests follows from it. */
  isImported: boolean;
  isOnDefaultBranch: boolean;
  run: Run;
  origin: RunOrigin;
  columns: Pick<TestRunsJob, 'executions' | 'failures'>;
  executions: PreparedExecution[];
  rejections: Rejection[];
  warnings: string[];
}

export interface PrepareOptions extends Kept {
  repositoryId: string;
  defaultBranch: string | null;
  /** Milliseconds since the epoch. */
  now: number;
  /** The names of tests that were renamed; none unless given. */
  names?: Pick<TestNames, 'testNamed'>;
  /** The fingerprint of a failure's message; `normaliseMessage` unless given. */
  fingerprintOf?: (message: string) => string;
}

/** Shared by all executions without failures, which are most of them. */
const NO_FAILURES: readonly PreparedFailure[] = [];

const NONE_REPORTED: ReportedResult['failures'] = [];

const testIds = new TestIds();

/** Prepares a chunk in steps, one for each execution, so that a caller may do something else in between. */
export function* preparingChunk(job: TestRunsJob, options: PrepareOptions): Generator<undefined, PreparedChunk> {
  const { fingerprintOf = normaliseMessage } = options;
  const origin = originOf(job.run);
  const receivedAt = Date.parse(job.received_at);
  const arrivedAt = job.arrived_at === null ? receivedAt : Date.parse(job.arrived_at);
  const named = { ...origin, commit: job.run.commit ?? '', axes: axesText(job.run.axes) };
  const sourceKeys = job.sources.map((source) => sourceKeyOf(options.repositoryId, source, named));
  const failures = failureRows(job);
  const wrongRun = runRejection(job.run);
  const rejections = new Rejections();
  const executions: PreparedExecution[] = [];
  const { executions: columns } = job;
  for (let row = 0; row < columns.name.length; row++) {
    const name = entry(columns.name, row);
    const reason = nameRejection(name) ?? wrongRun;
    if (reason !== null) {
      rejections.add(reason, name);
      continue;
    }
    const { at, isReplaced } = effectiveTime(entry(columns.finished_at_ms, row), arrivedAt);
    if (!isKept(at, options.now, options)) {
      rejections.add(`older than the retention of ${options.retentionDays} days`, name);
      continue;
    }
    const sourceKey = entry(sourceKeys, entry(columns.source, row));
    const testId = options.names?.testNamed(name) ?? testIds.of(options.repositoryId, name);
    const status = entry(columns.status, row);
    const variant = variantOf({
      status,
      isFlaky: entry(columns.is_flaky, row),
      failures: reportedFailures(job, failures.get(row)),
    });
    executions.push({
      row,
      id: executionIdOf(sourceKey, entry(columns.key, row), name, variant),
      sourceKey,
      testId,
      status,
      variant,
      finishedAt: at,
      isTimeReplaced: isReplaced,
      failures: preparedFailures(job, failures.get(row), { testId, status, fingerprintOf }),
    });
    yield;
  }
  return {
    uploadId: job.upload_id,
    chunkIndex: job.chunk.index,
    chunkCount: job.chunk.count,
    receivedAt,
    format: job.format,
    sender: job.sender,
    repositoryId: options.repositoryId,
    isImported: job.arrived_at !== null,
    isOnDefaultBranch: isOnDefaultBranch(origin, options.defaultBranch),
    run: job.run,
    origin,
    columns: job,
    executions,
    rejections: [...job.rejections, ...rejections.list()],
    warnings: job.warnings,
  };
}

/** The schema of the job has made sure that its arrays are of one length and its indexes lie within them. */
function entry<T>(column: readonly T[], row: number): T {
  const value = column[row];
  if (value === undefined) throw new RangeError(`a column of ${column.length} rows has no row ${row}`);
  return value;
}

/** The rows of failures by the row of their execution. */
function failureRows(job: TestRunsJob): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const [row, execution] of job.failures.execution.entries()) {
    const rows = found.get(execution);
    if (rows) rows.push(row);
    else found.set(execution, [row]);
  }
  return found;
}

function reportedFailures(
  { failures: { attempt, type, message, stacktrace } }: TestRunsJob,
  rows: readonly number[] | undefined,
): ReportedResult['failures'] {
  if (!rows) return NONE_REPORTED;
  return rows
    .slice(0, FAILURES_MAX)
    .map((row) => [attempt[row] ?? 1, type[row] ?? null, message[row] ?? null, stacktrace[row] ?? null] as const);
}

interface FailedExecution {
  testId: string;
  status: Status;
  fingerprintOf: (message: string) => string;
}

/** Every failed execution has at least one failure, so that it belongs to a failure group. */
function preparedFailures(
  { failures: { type, message } }: TestRunsJob,
  rows: readonly number[] | undefined,
  { testId, status, fingerprintOf }: FailedExecution,
): readonly PreparedFailure[] {
  const groupOf = (reportedType: string | null | undefined, reportedMessage: string | null | undefined) => {
    const text = failureColumns.text('message', reportedMessage);
    return failureIdOf(testId, FINGERPRINT_VERSION, failureColumns.text('type', reportedType), fingerprintOf(text));
  };
  if (rows) return rows.slice(0, FAILURES_MAX).map((row) => ({ row, failureId: groupOf(type[row], message[row]) }));
  return status === 'failed' ? [{ row: null, failureId: groupOf(null, null) }] : NO_FAILURES;
}
