/**
 * What every upload goes through once it is parsed: it is cut into jobs, queued, acknowledged. Nothing is stored here,
 * and nothing is acknowledged before the queue holds it.
 */
import { v7 as uuid7 } from 'uuid';
import type { Clock } from '../clock.ts';
import { DEFAULT_HOST } from '../domain/identity.ts';
import { StoreUnavailable } from '../errors.ts';
import { HttpProblem, payloadTooLarge } from '../http/problems.ts';
import type { Logger } from '../observability/log.ts';
import { uploadsPossiblyLost } from '../observability/metrics.ts';
import type { BodyLimits } from './body.ts';
import { chunksOf } from './chunks.ts';
import { InvalidUpload, UploadTooLarge } from './errors.ts';
import type { IngestPort } from './ports.ts';
import type { ParsedUpload } from './upload.ts';

export interface IngestDeps extends IngestPort {
  clock: Clock;
  log: Logger;
  /** BODY_LIMITS unless configured. */
  limits?: BodyLimits;
  /** Executions of one upload; UPLOAD_EXECUTIONS_MAX unless given. */
  executionsMax?: number;
}

export interface Queued {
  uploadId: string;
  /** Executions that were queued. */
  executions: number;
  /** 0: there was nothing to queue, and there is no receipt. */
  jobs: number;
}

export async function queueUpload(
  deps: IngestDeps,
  repository: { owner: string; name: string },
  upload: ParsedUpload,
): Promise<Queued> {
  const uploadId = uuid7();
  const receivedAt = new Date(deps.clock.now());
  const jobs = chunksOf(upload, { uploadId, repository: { host: DEFAULT_HOST, ...repository }, receivedAt });
  const executions = upload.runs.reduce((sum, run) => sum + run.executions.length, 0);
  try {
    if (jobs.length > 0) await deps.enqueue(jobs);
  } catch (error) {
    // The sender may not try again: the mergify CLI does not, and test plugins do so only a few times.
    if (error instanceof StoreUnavailable) {
      uploadsPossiblyLost.inc({ kind: 'upload' });
      deps.log.error({ err: error, ...repository, executions }, 'an upload was refused and may be lost');
    }
    throw error;
  }
  return { uploadId, executions, jobs: jobs.length };
}

/** Runs a parser. What is wrong with the upload becomes 422 or 413 with the parser's sentence. */
export async function asProblem<T>(parse: () => Promise<T> | T): Promise<T> {
  try {
    return await parse();
  } catch (error) {
    if (error instanceof UploadTooLarge) throw payloadTooLarge(error.message);
    if (error instanceof InvalidUpload)
      throw new HttpProblem(422, 'Unprocessable entity', error.message, {}, [
        { loc: ['body'], msg: error.message, type: 'invalid_body' },
      ]);
    throw error;
  }
}
