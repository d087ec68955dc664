/**
 * The way of every upload: admission, body, parser, queue. Nothing is stored here, and nothing is acknowledged
 * before the queue holds it.
 */
import { v7 as uuid7 } from 'uuid';
import type { Clock } from '../clock.ts';
import type { Rejection } from '../domain/rejections.ts';
import { StoreUnavailable } from '../errors.ts';
import { InvalidUpload, UploadTooLarge } from '../formats/errors.ts';
import type { Credential } from '../http/auth.ts';
import { forbidden, HttpProblem, payloadTooLarge, problemOf, uploadInterrupted } from '../http/problems.ts';
import type { Logger } from '../observability/log.ts';
import { uploadsPossiblyLost, uploadsShed } from '../observability/metrics.ts';
import { packPlain } from '../queue/packed-job.ts';
import { type Admission, NoRoom } from './admission.ts';
import { noRoomProblem, withAdmittedBody } from './admitted-body.ts';
import { BODY_LIMITS, type BodyLimits, isGzipRequest } from './body.ts';
import type { Place, UploadBundles } from './bundles.ts';
import { arrivedAtOf, parseUpload } from './parsing/parse.ts';
import type { Parse, ParseResult, ParseTask } from './parsing/task.ts';
import type { IngestPort } from './ports.ts';
import { type RefusalNotes, type RefusedRequest, refusalFor, refusalOf, senderOf } from './refusals.ts';

export interface IngestDeps extends IngestPort {
  clock: Clock;
  log: Logger;
  /** BODY_LIMITS unless configured. */
  limits?: BodyLimits;
  /** Executions of one upload; UPLOAD_EXECUTIONS_MAX unless given. */
  executionsMax?: number;
  /** In this process unless given. */
  parse?: Parse;
}

/** Shared by the operations of one gateway. */
export interface Gateway extends IngestDeps {
  admission: Admission;
  joining: UploadBundles | undefined;
  refusals: RefusalNotes | undefined;
}

/** An upload that was taken in, and what was rejected of it. */
export interface Taken {
  uploadId: string;
  /** Executions that were queued. */
  executions: number;
  /** 0: there was nothing to queue, and there is no receipt. */
  jobs: number;
  rejections: Rejection[];
  warnings: string[];
  /** Whether a report broke off: what followed is lost. */
  isCutShort: boolean;
}

interface RepositoryName {
  owner: string;
  name: string;
}

/** Returns when the queue holds the upload. Throws the problem that is its answer otherwise. */
export async function takeUpload(
  deps: Gateway,
  repository: RepositoryName,
  { request, credential }: { request: Request; credential: Credential | undefined },
  input: ParseTask['input'],
): Promise<Taken> {
  // No credential: no operation that uploads is public.
  if (!credential) throw forbidden('Uploading requires a credential.');
  const { bounds } = credential;
  try {
    const sender = senderOf(credential);
    const isGzip = isGzipRequest(request);
    const limits = deps.limits ?? BODY_LIMITS;
    const isImported = arrivedAtOf(input) !== undefined;
    if (isImported && (await deps.isImportFull?.())) throw new NoRoom(IMPORT_FULL_SECONDS);
    const asked = { owner: repository.owner, isGzip, isImported, limits };
    return await withAdmittedBody(deps.admission, request, asked, (body) =>
      queued(deps, repository, { input, isGzip, limits, sender, ...(bounds && { bounds }) }, body),
    );
  } catch (error) {
    if (error instanceof UploadTooLarge) throw problemOfUpload('too large', error.message);
    if (error instanceof InvalidUpload) throw problemOfUpload('invalid', error.message);
    if (error instanceof NoRoom) {
      // An import waits and sends it again.
      if (arrivedAtOf(input) === undefined) possiblyLost(deps, repository, error, {});
      throw noRoomProblem(error, 'uploads');
    }
    throw error;
  }
}

/** Notes what an upload was refused for, and what nothing is left of. */
export async function noteRefusal(deps: Gateway, request: RefusedRequest, error: unknown): Promise<void> {
  const problem = problemOf(error);
  const refusal = problem && refusalOf(request, problem);
  if (refusal) await deps.refusals?.note(refusal);
}

/** The same for an upload that is accepted, but of which every row was rejected, so that it has no receipt. */
export async function noteEmpty(deps: Gateway, request: RefusedRequest, { jobs, rejections }: Taken): Promise<void> {
  if (jobs > 0 || rejections.length === 0) return;
  const reason = rejections.map(({ reason, count }) => `${count} rejected: ${reason}`).join('; ');
  await deps.refusals?.note(refusalFor(request, reason));
}

/** When an import may try again: by then, some of what waits is stored. */
const IMPORT_FULL_SECONDS = 1;

/** A larger body, as sent, is not likely to become a small job. */
const SMALL_BYTES_MAX = 32 * 1024;

async function queued(
  deps: Gateway,
  repository: RepositoryName,
  asked: Pick<ParseTask, 'input' | 'isGzip' | 'limits' | 'sender' | 'bounds'>,
  body: Uint8Array,
): Promise<Taken> {
  const isImported = arrivedAtOf(asked.input) !== undefined;
  const place = body.length <= SMALL_BYTES_MAX && !isImported ? deps.joining?.enter() : undefined;
  const uploadId = place?.uploadId ?? uuid7();
  try {
    const { parse = parseUpload, executionsMax } = deps;
    const task = { ...asked, executionsMax, uploadId, repository, receivedAt: deps.clock.now() };
    const result = await parse(task, body);
    if (result.outcome === 'refused') throw problemOfUpload(result.why, result.sentence);
    if (result.outcome === 'interrupted') {
      possiblyLost(deps, repository, new Error('its parsers were ended by the system, or got no processor time'), {});
      throw uploadInterrupted();
    }
    const { executions, rejections, warnings, isCutShort } = result;
    const jobs = await enqueued(deps, { place, isImported }, result).catch((error: unknown) => {
      if (error instanceof StoreUnavailable) possiblyLost(deps, repository, error, { executions });
      throw error;
    });
    return { uploadId, executions, jobs, rejections, warnings, isCutShort };
  } finally {
    place?.leave();
  }
}

/** Returns how many jobs there are, once the queue holds them. */
async function enqueued(
  deps: Gateway,
  { place, isImported }: { place: Place | undefined; isImported: boolean },
  { jobs, isLarge, small }: Extract<ParseResult, { outcome: 'parsed' }>,
): Promise<number> {
  if (small) {
    if (!(await place?.put(small))) await deps.enqueue([packPlain(small)], isImported ? 'imported' : 'small');
    return 1;
  }
  place?.leave();
  if (jobs.length > 0) await deps.enqueue(jobs, isImported ? 'imported' : isLarge ? 'large' : 'small');
  return jobs.length;
}

/** The sender may not try again: the mergify CLI does not, and test plugins do so only a few times. */
function possiblyLost(
  { log }: IngestDeps,
  repository: RepositoryName,
  err: Error,
  known: { executions?: number },
): void {
  uploadsPossiblyLost.inc({ kind: 'upload' });
  if (err instanceof NoRoom) uploadsShed.inc({ kind: 'upload' });
  if (err instanceof NoRoom) log.warn({ ...repository }, 'an upload found no room and may be lost');
  else log.error({ err, ...repository, ...known }, 'an upload was refused and may be lost');
}

/** The answer to an upload that is wrong as a whole. */
export function problemOfUpload(why: 'invalid' | 'too large' | 'not permitted', sentence: string): HttpProblem {
  if (why === 'too large') return payloadTooLarge(sentence);
  if (why === 'not permitted') return forbidden(sentence);
  return new HttpProblem(422, 'Unprocessable entity', sentence, {}, [
    { loc: ['body'], msg: sentence, type: 'invalid_body' },
  ]);
}
