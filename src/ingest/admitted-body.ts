/** The body of an admitted request: limits first, then room, then the bytes. */
import { HttpProblem } from '../http/problems.ts';
import { type Admission, NoRoom } from './admission.ts';
import { type BodyLimits, readSentBody, refuseStatedSize } from './body.ts';

interface Asked {
  /** Whose share of the room it takes. */
  owner: string;
  isGzip: boolean;
  isImported?: boolean;
  limits: BodyLimits;
}

/**
 * Calls `use` with the body, which has its place in the line until then. Throws UploadTooLarge, {@link NoRoom}, and what
 * `use` throws.
 */
export async function withAdmittedBody<T>(
  admission: Admission,
  request: Request,
  { limits, ...asked }: Asked,
  use: (body: Uint8Array) => Promise<T>,
): Promise<T> {
  refuseStatedSize(request, limits);
  let admitted: ReturnType<Admission['admit']> | undefined;
  try {
    admitted = admission.admit({ ...asked, sentBytes: statedBytes(request) });
    const body = await readSentBody(request, limits, admitted.arrived);
    admitted.complete();
    return await use(body);
  } catch (error) {
    if (error instanceof NoRoom) await discard(request);
    throw error;
  } finally {
    admitted?.leave();
  }
}

/** @param what the sentence is about, such as "uploads" */
export const noRoomProblem = ({ retryAfterSeconds }: NoRoom, what: string): HttpProblem =>
  new HttpProblem(
    503,
    'Service unavailable',
    `More ${what} arrive than can be read right now. Send this one again in ${retryAfterSeconds} seconds.`,
    { 'retry-after': String(retryAfterSeconds) },
  );

const statedBytes = (request: Request): number | null => {
  const stated = request.headers.get('content-length');
  return stated === null ? null : Number(stated);
};

const DISCARDED_BYTES_MAX = 4 * 1024 * 1024;
const DISCARD_MS_MAX = 2_000;

/**
 * Reads a body to its end without keeping it: some clients see the answer only after they have sent everything,
 * and a broken connection instead if it is closed before.
 */
async function discard(request: Request): Promise<void> {
  if ((statedBytes(request) ?? 0) > DISCARDED_BYTES_MAX || request.bodyUsed || !request.body) return;
  const until = performance.now() + DISCARD_MS_MAX;
  let bytes = 0;
  for await (const chunk of request.body) {
    bytes += chunk.length;
    if (bytes > DISCARDED_BYTES_MAX || performance.now() > until) return;
  }
}
