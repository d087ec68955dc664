/** The receipt of an upload, put together from those of its chunks. */
import { getTableColumns, sql } from 'drizzle-orm';
import { z } from 'zod';
import { mergeRejections, type Rejection } from '../domain/rejections.ts';
import { JUDGING_KINDS } from '../domain/stale.ts';
import type { UploadStatus } from '../domain/status.ts';
import { blockParts, stale, uploadChunks } from '../postgres/schema.ts';
import { rejectionSchema } from '../queue/test-runs.ts';

/** The outcome of an upload. Counts are null while part of it is queued. */
export interface Receipt {
  id: string;
  status: UploadStatus;
  receivedAt: Date;
  storedAt: Date | null;
  accepted: number | null;
  duplicate: number | null;
  rejected: number;
  onDefaultBranch: number | null;
  rejections: Rejection[];
  warnings: string[];
  /** Why it failed. */
  failure: string | null;
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
  return {
    id: first.uploadId,
    status,
    receivedAt: first.receivedAt,
    storedAt: status === 'stored' ? new Date(Math.max(...times)) : null,
    accepted: isCounted ? sum((chunk) => chunk.accepted) : null,
    duplicate: isCounted ? sum((chunk) => chunk.duplicate) : null,
    rejected: sum((chunk) => chunk.rejected),
    onDefaultBranch: isCounted ? onDefaultBranch : null,
    rejections: mergeRejections(chunks.flatMap((chunk) => z.array(rejectionSchema).parse(chunk.rejections))),
    warnings: [...new Set(chunks.flatMap((chunk) => z.array(z.string()).parse(chunk.warnings)))].filter(
      (warning) => warning !== NOTHING_ON_DEFAULT || (status === 'stored' && onDefaultBranch === 0),
    ),
    failure,
  };
}

/** Noted with each such chunk, and shown if there is no other. */
export const NOTHING_ON_DEFAULT =
  'Nothing in this upload ran on the default branch, so the insights do not show it. Name the branch, and set the default branch if it is not the one you expect.';
