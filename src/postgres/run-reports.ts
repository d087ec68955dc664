/** Which uploads brought results of a run: their receipts, found by the run. */
import { and, asc, eq } from 'drizzle-orm';
import { runKeyOf } from '../domain/identity.ts';
import type { Executor } from './client.ts';
import { uploadChunks } from './schema.ts';

/** One that sends more is not read by people. */
const CHUNKS_MAX = 10_000;

/** The reports that an upload brought of one attempt of a CI job. */
export interface RunReport {
  uploadId: string;
  jobName: string;
  runAttempt: number;
  receivedAt: Date;
  /** Null while part of it is not stored. */
  storedAt: Date | null;
  accepted: number;
  duplicate: number;
  rejected: number;
  /** Executions of which another result is stored under the same names. */
  conflicting: number;
  /** The last of the unnamed legs that its executions belong to; 1 for nearly all. */
  leg: number;
  /** Null: the producer does not say. */
  format: string | null;
}

/** In order of arrival. */
export async function reportsOfRun(
  db: Executor,
  repositoryId: string,
  run: { pipelineName: string; runId: string; commit: string },
): Promise<RunReport[]> {
  const { runKey, uploadId, receivedAt, chunkIndex } = uploadChunks;
  const chunks = await db
    .select({
      uploadId,
      jobName: uploadChunks.jobName,
      runAttempt: uploadChunks.runAttempt,
      receivedAt,
      storedAt: uploadChunks.storedAt,
      accepted: uploadChunks.accepted,
      duplicate: uploadChunks.duplicate,
      rejected: uploadChunks.rejected,
      conflicting: uploadChunks.conflicting,
      leg: uploadChunks.leg,
      format: uploadChunks.format,
    })
    .from(uploadChunks)
    .where(and(eq(runKey, runKeyOf(repositoryId, run)), eq(uploadChunks.repositoryId, repositoryId)))
    .orderBy(asc(receivedAt), asc(uploadId), asc(chunkIndex))
    .limit(CHUNKS_MAX);
  const reports = Map.groupBy(chunks, (chunk) => JSON.stringify([chunk.uploadId, chunk.jobName, chunk.runAttempt]));
  return [...reports.values()].flatMap((parts) => {
    const [first] = parts;
    if (!first) return [];
    const sum = (count: (chunk: (typeof chunks)[number]) => number): number =>
      parts.reduce((total, one) => total + count(one), 0);
    const stored = parts.map((one) => one.storedAt?.getTime() ?? Number.POSITIVE_INFINITY);
    const storedMs = Math.max(...stored);
    return [
      {
        uploadId: first.uploadId,
        jobName: first.jobName,
        runAttempt: first.runAttempt,
        receivedAt: first.receivedAt,
        storedAt: Number.isFinite(storedMs) ? new Date(storedMs) : null,
        accepted: sum((one) => one.accepted),
        duplicate: sum((one) => one.duplicate),
        rejected: sum((one) => one.rejected),
        conflicting: sum((one) => one.conflicting),
        leg: Math.max(...parts.map((one) => one.leg)),
        format: first.format,
      },
    ];
  });
}
