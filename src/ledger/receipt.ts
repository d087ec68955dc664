/** The receipt of an upload, put together from those of its chunks. */
import { getTableColumns, sql } from 'drizzle-orm';
import { z } from 'zod';
import { shortBranch } from '../domain/default-branch.ts';
import { mergeRejections, type Rejection } from '../domain/rejections.ts';
import { JUDGING_KINDS } from '../domain/stale.ts';
import type { UploadStatus } from '../domain/status.ts';
import { namingLine } from '../domain/unnamed-leg.ts';
import type { UploadOrigin } from '../domain/upload-origin.ts';
import type { RefusedUpload } from '../postgres/refused-uploads.ts';
import { blockParts, stale, uploadChunks } from '../postgres/schema.ts';
import { rejectionSchema, type TestRunsJob } from '../queue/test-runs.ts';

/** The outcome of an upload. Counts are null while part of it is queued. */
export interface Receipt extends UploadOrigin {
  id: string;
  status: UploadStatus;
  receivedAt: Date;
  storedAt: Date | null;
  accepted: number | null;
  duplicate: number | null;
  rejected: number;
  /** Executions, new or not, of which another result is stored under the same names. */
  conflicting: number | null;
  /** Legs without names: the number of the last one that has some of its results; null if all are in the first. */
  unnamedLeg: number | null;
  /** How to name the legs that its results are of, if results conflict: a line to paste. */
  nameLegsWith: string | null;
  onDefaultBranch: number | null;
  rejections: Rejection[];
  warnings: string[];
  /** Why it failed, or was refused. */
  failure: string | null;
  /** How often uploads that are alike were refused, of which this is the newest; 0 unless it was refused. */
  refusals: number;
}

/** The origin of executions, as their job says it. */
export const originOfJob = ({ run, format, sender }: Pick<TestRunsJob, 'run' | 'format' | 'sender'>): UploadOrigin => ({
  pipelineName: run.pipeline_name,
  jobName: run.job_name,
  runId: run.run_id,
  runAttempt: run.run_attempt,
  commit: run.commit || null,
  branch: run.branch === null ? null : shortBranch(run.branch) || null,
  pullRequest: run.pull_request,
  format,
  sender,
});

/** The values that the chunks of an upload have in common. */
function originOfChunks(chunks: readonly Chunk[]): UploadOrigin {
  const common = <T>(partOf: (chunk: Chunk) => T): T | null => {
    const [first, ...others] = new Set(chunks.map(partOf));
    return first === undefined || others.length > 0 ? null : first;
  };
  return {
    pipelineName: common((chunk) => chunk.pipelineName),
    jobName: common((chunk) => chunk.jobName),
    runId: common((chunk) => chunk.runId),
    runAttempt: common((chunk) => chunk.runAttempt),
    commit: common((chunk) => chunk.commitSha) || null,
    branch: common((chunk) => chunk.branch) || null,
    pullRequest: common((chunk) => chunk.pullRequest) || null,
    format: common((chunk) => chunk.format),
    sender: common((chunk) => chunk.sender),
  };
}

/** Columns of a chunk that a receipt needs. */
export const chunkColumns = {
  ...getTableColumns(uploadChunks),
  /**
   * Whether the chunk is not evaluated yet, or what follows from it is still to be judged, so that some reads do not show
   * it.
   */
  isWaiting: sql<boolean>`exists (
      select from ${blockParts} as parts
      where parts.block_id = upload_chunks.block_id and parts.repository_id = upload_chunks.repository_id
    ) or exists (
      select from ${stale} as stale
      where stale.repository_id = upload_chunks.repository_id and stale.kind in ${JUDGING_KINDS}
        and stale.first_block <= upload_chunks.block_id)`,
};
export type Chunk = typeof uploadChunks.$inferSelect & { isWaiting: boolean };

/**
 * @param first a chunk of the upload
 * @param chunks all of them that there are, the first included
 * @param failure why a chunk became a dead letter; null if none did
 */
export function assembleReceipt(first: Chunk, chunks: readonly Chunk[], failure: string | null): Receipt {
  const isStored =
    chunks.length === first.chunkCount && chunks.every((chunk) => chunk.storedAt !== null && !chunk.isWaiting);
  const status = failure !== null ? 'failed' : isStored ? 'stored' : 'queued';
  const isCounted = status !== 'queued';
  const sum = (countOf: (chunk: Chunk) => number): number => chunks.reduce((total, chunk) => total + countOf(chunk), 0);
  const times = chunks.map((chunk) => chunk.storedAt?.getTime() ?? 0);
  const onDefaultBranch = sum((chunk) => chunk.onDefaultBranch);
  const conflicting = sum((chunk) => chunk.conflicting);
  const leg = Math.max(...chunks.map((chunk) => chunk.leg));
  const warnings = new Set(chunks.flatMap((chunk) => z.array(z.string()).parse(chunk.warnings)));
  return {
    ...originOfChunks(chunks),
    id: first.uploadId,
    status,
    receivedAt: first.receivedAt,
    storedAt: status === 'stored' ? new Date(Math.max(...times)) : null,
    accepted: isCounted ? sum((chunk) => chunk.accepted) : null,
    duplicate: isCounted ? sum((chunk) => chunk.duplicate) : null,
    rejected: sum((chunk) => chunk.rejected),
    conflicting: isCounted ? conflicting : null,
    unnamedLeg: leg > 1 ? leg : null,
    nameLegsWith: conflicting > 0 ? namingLine(first.format) : null,
    onDefaultBranch: isCounted ? onDefaultBranch : null,
    rejections: mergeRejections(chunks.flatMap((chunk) => z.array(rejectionSchema).parse(chunk.rejections))),
    warnings: [
      ...[...warnings].filter(
        (warning) => warning !== NOTHING_ON_DEFAULT || (status === 'stored' && onDefaultBranch === 0),
      ),
      ...(conflicting > 0 ? [conflictWarning(conflicting, leg, first)] : []),
    ],
    failure,
    refusals: 0,
  };
}

/** The fields of a receipt of which nothing was stored. */
export const NOTHING_STORED = {
  storedAt: null,
  accepted: 0,
  duplicate: 0,
  rejected: 0,
  conflicting: 0,
  unnamedLeg: null,
  nameLegsWith: null,
  onDefaultBranch: 0,
  rejections: [],
  warnings: [],
} as const satisfies Partial<Receipt>;

export const receiptOfRefusal = ({ refusedAt, reason, ...refused }: RefusedUpload): Receipt => ({
  ...refused,
  status: 'refused',
  receivedAt: refusedAt,
  ...NOTHING_STORED,
  failure: reason,
});

/** Noted with each such chunk, and shown if there is no other. */
export const NOTHING_ON_DEFAULT =
  'Nothing in this upload ran on the default branch, so the insights do not show it. Name the branch, and set the default branch if it is not the one you expect.';

/** How to name legs is in the words of a shell or of a job, so that it can be pasted. */
function conflictWarning(count: number, leg: number, { format }: Pick<Chunk, 'format'>): string {
  const differ = `Conflict: ${count} ${count === 1 ? 'result differs' : 'results differ'} from what is stored under the same names (pipeline, job, axes, run, attempt, report).`;
  const kept =
    leg > 1
      ? `Two reports of this job disagree, so by their order this one is leg ${leg} (unnamed).`
      : 'Both are kept, in one leg.';
  const report =
    format === null || format === 'otlp'
      ? ''
      : `, or --report ${quoted(`$LEG/${format}`)} for another try or step, where LEG is its name`;
  return `${differ} ${kept} If they are of several legs, name them: ${namingLine(format)}, with each name and value of the matrix${report}.`;
}

/** A name within double quotes of a shell, in which only LEG is replaced. */
const quoted = (text: string): string => `"${text.replace(/[\\"`]|\$(?!LEG\b)/g, '\\$&')}"`;
