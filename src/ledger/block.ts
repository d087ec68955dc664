/** A block: the exact lines that are inserted into `ci.ingest`. */
import { attachmentsText, KeptAttachments } from '../domain/attachments.ts';
import { axesText } from '../domain/axes.ts';
import { executionColumns, failureColumns, runColumns } from '../domain/columns.ts';
import { axesInLeg } from '../domain/unnamed-leg.ts';
import type { PreparedChunk, PreparedExecution, PreparedFailure } from './prepare.ts';

/**
 * The new executions of a chunk as one line of JSONEachRow, by column: what parsing the line gives. A test compares its
 * columns with those of `ci.ingest`.
 *
 * @param leg the number of their unnamed leg
 */
export function valuesOf(
  chunk: PreparedChunk,
  executions: readonly PreparedExecution[],
  leg = 1,
): Record<string, unknown> {
  const failures: PreparedFailure[] = [];
  const failedExecution: number[] = [];
  for (const [index, execution] of executions.entries())
    for (const failure of execution.failures) {
      failures.push(failure);
      failedExecution.push(index);
    }
  const { origin, columns } = chunk;
  return {
    repository_id: chunk.repositoryId,
    on_default: chunk.isOnDefaultBranch,
    ...runColumns.line(chunk.run),
    axes: axesText(axesInLeg(chunk.run.axes, leg)),
    place: axesText(chunk.run.place),
    branch: origin.branch,
    base_ref: origin.baseRef,
    pull_request: origin.pullRequest,
    received_ms: chunk.receivedAt,
    // Text, because a number is not exact above 2^53.
    e_execution_id: executions.map(({ id }) => id.toString()),
    e_test_id: executions.map(({ testId }) => testId),
    e_finished_ms: executions.map(({ finishedAt }) => finishedAt),
    e_is_time_replaced: executions.map(({ isTimeReplaced }) => isTimeReplaced),
    e_failures: executions.map((execution) => execution.failures.length),
    ...executionColumns.lines(
      columns.executions,
      executions.map(({ row }) => row),
    ),
    f_index: failedExecution,
    f_failure_id: failures.map(({ failureId }) => failureId),
    ...failureColumns.lines(
      columns.failures,
      failures.map(({ row }) => row),
    ),
    f_attachments: attachmentTexts(columns.failures.attachments, executions),
  };
}

/** For each failure, in order. Checked again here, because producers of jobs send what they like. */
function attachmentTexts(
  attachments: PreparedChunk['columns']['failures']['attachments'],
  executions: readonly PreparedExecution[],
): string[] {
  if (!attachments) return executions.flatMap(({ failures }) => failures.map(() => ''));
  return executions.flatMap(({ failures }) => {
    const kept = new KeptAttachments();
    return failures.map(({ row }) => attachmentsText(kept.of(attachments[row ?? -1])));
  });
}
