/** The receipts of the chunks of a block, written together with it. A block may hold thousands of small uploads. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { runKeyOf } from '../domain/identity.ts';
import { NAME_LENGTH_MAX } from '../domain/limits.ts';
import { type Rejection, Rejections, rejectedCount } from '../domain/rejections.ts';
import { shownName } from '../domain/text.ts';
import type { Executor } from '../postgres/client.ts';
import { uploadChunks } from '../postgres/schema.ts';
import type { PreparedChunk, PreparedExecution } from './prepare.ts';
import { NOTHING_ON_DEFAULT } from './receipt.ts';

/** Not on the default branch, although it is not for a pull request either. */
const isUnexpectedlyOff = ({ isOnDefaultBranch, origin, executions }: PreparedChunk): boolean =>
  !isOnDefaultBranch && origin.baseRef === '' && origin.pullRequest === 0 && executions.length > 0;

/** Also names for which every row was rejected. */
const shown = (name: string): string => shownName(name, NAME_LENGTH_MAX);

export interface ChunkCounts {
  /** Executions that no block had claimed. */
  accepted: number;
  /** Executions of which another result is stored. */
  conflicting: number;
  /** The last of the unnamed legs that its executions belong to. */
  leg: number;
  /** Executions of sources whose claims are closed. */
  late: readonly PreparedExecution[];
}

const TOO_LATE = 'first sent so long ago that it is no longer known whether this is stored (CLAIM_DAYS)';

function rejectionsOf({ rejections, columns }: PreparedChunk, late: ChunkCounts['late']): Rejection[] {
  if (late.length === 0) return rejections;
  const added = new Rejections();
  for (const { row } of late) added.add(TOO_LATE, columns.executions.name[row] ?? '');
  return [...rejections, ...added.list()];
}

export function receiptOf(chunk: PreparedChunk, { accepted, conflicting, leg, late }: ChunkCounts) {
  const rejections = rejectionsOf(chunk, late);
  const rejected = rejectedCount(rejections);
  const judged = chunk.executions.length - late.length;
  const { run, origin } = chunk;
  return {
    upload_id: chunk.uploadId,
    chunk_index: chunk.chunkIndex,
    chunk_count: chunk.chunkCount,
    repository_id: chunk.repositoryId,
    received_at: new Date(chunk.receivedAt).toISOString(),
    accepted,
    duplicate: judged - accepted,
    rejected,
    conflicting,
    leg,
    has_problem: rejected > 0 || conflicting > 0 || chunk.warnings.length > 0,
    on_default_branch: chunk.isOnDefaultBranch ? judged : 0,
    run_key: runKeyOf(chunk.repositoryId, {
      pipelineName: run.pipeline_name,
      runId: run.run_id,
      commit: run.commit ?? '',
    }),
    pipeline_name: shown(run.pipeline_name),
    job_name: shown(run.job_name),
    run_id: shown(run.run_id),
    run_attempt: run.run_attempt,
    commit_sha: shown(run.commit ?? ''),
    branch: shown(origin.branch),
    pull_request: origin.pullRequest,
    format: chunk.format,
    sender: chunk.sender,
    rejections,
    warnings: isUnexpectedlyOff(chunk) ? [...chunk.warnings, NOTHING_ON_DEFAULT] : chunk.warnings,
  };
}

/**
 * In one parameter: with one for each value, a block of 4,000 chunks has more than a statement may have.
 *
 * @param blockId null if nothing in the chunks is new
 * @returns how many executions are known already. An existing receipt was counted when it was made: a retried job does
 *   not count its own executions as duplicates.
 */
export async function recordReceipts(
  tx: Executor,
  receipts: readonly ReturnType<typeof receiptOf>[],
  blockId: number | null,
): Promise<number> {
  const { rows } = await tx.execute(sql`
    with added as (
      insert into ${uploadChunks} (upload_id, chunk_index, chunk_count, repository_id, block_id, received_at, accepted,
        duplicate, rejected, conflicting, leg, has_problem, on_default_branch, run_key, pipeline_name, job_name, run_id,
        run_attempt, commit_sha, branch, pull_request, format, sender, rejections, warnings)
      select upload_id, chunk_index, chunk_count, repository_id, ${blockId}::bigint, received_at, accepted,
        duplicate, rejected, conflicting, leg, has_problem, on_default_branch, run_key, pipeline_name, job_name, run_id,
        run_attempt, commit_sha, branch, pull_request, format, sender, rejections, warnings
      from jsonb_to_recordset(${JSON.stringify(receipts)}::jsonb) as receipt (
        upload_id uuid, chunk_index int, chunk_count int, repository_id uuid, received_at timestamptz, accepted int,
        duplicate int, rejected int, conflicting int, leg smallint, has_problem boolean, on_default_branch int, run_key uuid,
        pipeline_name text, job_name text, run_id text, run_attempt bigint, commit_sha text, branch text,
        pull_request bigint, format text, sender text, rejections jsonb, warnings jsonb)
      on conflict do nothing
      returning duplicate
    )
    select coalesce(sum(duplicate), 0)::int as duplicates from added`);
  return z.tuple([z.object({ duplicates: z.int() })]).parse(rows)[0].duplicates;
}

/** Marks the receipts of the chunks as stored. */
export async function confirmReceipts(db: Executor, chunks: readonly PreparedChunk[], now: number): Promise<void> {
  await db.execute(sql`
    update ${uploadChunks} set stored_at = ${new Date(now).toISOString()}::timestamptz
    from unnest(${sql.param(chunks.map((chunk) => chunk.uploadId))}::uuid[],
                ${sql.param(chunks.map((chunk) => chunk.chunkIndex))}::int[]) as done (upload_id, chunk_index)
    where upload_chunks.upload_id = done.upload_id and upload_chunks.chunk_index = done.chunk_index
      and stored_at is null`);
}
