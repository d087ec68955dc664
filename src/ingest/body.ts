/**
 * Reads the body of an upload within two limits, one for the bytes as sent and one for the bytes after decompression.
 * Both are counted while they arrive, so a zip bomb is stopped at the limit.
 */
import { pipeline } from 'node:stream/promises';
import { createGunzip, gunzipSync } from 'node:zlib';
import { UPLOAD_LIMITS } from '../domain/limit-table.ts';
import { UNPACK_RATIO_MAX, UNPACKED_BYTES_ALWAYS } from '../domain/limits.ts';
import { InvalidUpload, UploadTooLarge } from '../formats/errors.ts';
import { boundedBytes, type Chunks, joinedBytes, sentBytes } from '../http/bounded-bytes.ts';

export interface BodyLimits {
  /** Bytes as sent. */
  sentBytesMax: number;
  /** Bytes after decompression. */
  unpackedBytesMax: number;
}

const MEBIBYTE = 1024 * 1024;

export const BODY_LIMITS: BodyLimits = { sentBytesMax: 25 * MEBIBYTE, unpackedBytesMax: 200 * MEBIBYTE };

/** Throws UploadTooLarge for a body that says itself that it is. */
export function refuseStatedSize(request: Request, limits: BodyLimits): void {
  if (Number(request.headers.get('content-length') ?? 0) > limits.sentBytesMax) throw sentTooLarge(limits);
}

/**
 * The bytes of a body exactly as they were sent. Throws UploadTooLarge.
 *
 * @param onBytes told how many bytes arrived; what it throws ends the reading
 */
export async function readSentBody(
  request: Request,
  limits: BodyLimits = BODY_LIMITS,
  onBytes?: (count: number) => void,
): Promise<Uint8Array> {
  if (isSmall(request, limits)) {
    const body = await request.bytes();
    if (body.length > limits.sentBytesMax) throw sentTooLarge(limits);
    onBytes?.(body.length);
    return body;
  }
  const sent = sentBytes(request, limits.sentBytesMax, () => sentTooLarge(limits));
  return joinedBytes(onBytes ? counted(sent, onBytes) : sent);
}

/** A body that says it is so small is not worth counting while it arrives: a server reads no more than is stated. */
const SMALL_BYTES_MAX = 64 * 1024;

function isSmall(request: Request, { sentBytesMax }: BodyLimits): boolean {
  const stated = request.headers.get('content-length');
  return stated !== null && Number(stated) <= Math.min(SMALL_BYTES_MAX, sentBytesMax);
}

async function* counted(chunks: AsyncIterable<Uint8Array>, onBytes: (count: number) => void) {
  for await (const chunk of chunks) {
    onBytes(chunk.length);
    yield chunk;
  }
}

/** The body of an upload, decompressed. Throws InvalidUpload and UploadTooLarge. */
export async function unpackBody(
  sent: Uint8Array,
  isGzip: boolean,
  limits: BodyLimits = BODY_LIMITS,
): Promise<Uint8Array> {
  if (isGzip) return gunzippedAtOnce(sent, limits) ?? gunzip([sent], limits);
  if (sent.length > limits.unpackedBytesMax) throw unpackedTooLarge(limits);
  return sent;
}

/** A body of at most this size is unpacked at once, which takes a fifth of the time. */
const AT_ONCE_BYTES_MAX = 1024 * 1024;

/** Undefined unless it is small, and exactly as long as it says: {@link gunzip} then finds out what is wrong. */
function gunzippedAtOnce(sent: Uint8Array, limits: BodyLimits): Uint8Array | undefined {
  const length = statedLength([sent], limits);
  if (length === 0 || length > AT_ONCE_BYTES_MAX || sent.length > AT_ONCE_BYTES_MAX) return undefined;
  try {
    const body = gunzipSync(sent, { maxOutputLength: length });
    return body.length === length ? body : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a body comes with Content-Encoding gzip; anything else but none is refused. */
export function isGzipRequest(request: Request): boolean {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === '' || encoding === 'identity') return false;
  throw new InvalidUpload(
    `Content-Encoding ${encoding.slice(0, 50)} is not accepted: send gzip, or the body without an encoding.`,
  );
}

/** Decompresses a body, or a file within a form. Throws as {@link readBody} does. */
export async function gunzip(chunks: Chunks, limits: BodyLimits = BODY_LIMITS): Promise<Uint8Array> {
  let body: Uint8Array = new Uint8Array();
  let packedBytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      packedBytes += chunk.length;
      yield chunk;
    }
  }
  try {
    await pipeline(counted, createGunzip(), async (unpacked: AsyncIterable<Uint8Array>) => {
      const bounded = boundedBytes(unpacked, limits.unpackedBytesMax, () => unpackedTooLarge(limits));
      body = await joinedBytes(
        withinRatio(bounded, () => packedBytes),
        statedLength(chunks, limits),
      );
    });
    return body;
  } catch (error) {
    if (error instanceof UploadTooLarge) throw error;
    throw new InvalidUpload(
      'The body says it is gzip but cannot be decompressed: it is not gzip, or it is cut short.',
      {
        cause: error,
      },
    );
  }
}

/** The unpacked length that the last four bytes of gzip state, if it is allowed. */
function statedLength(chunks: Chunks, { unpackedBytesMax }: BodyLimits): number {
  const packed = Array.isArray(chunks) && chunks.length === 1 ? chunks[0] : undefined;
  if (!(packed instanceof Uint8Array) || packed.length < 4) return 0;
  const stated = new DataView(packed.buffer, packed.byteOffset + packed.length - 4, 4).getUint32(0, true);
  const most = Math.min(unpackedBytesMax, Math.max(UNPACKED_BYTES_ALWAYS, packed.length * UNPACK_RATIO_MAX));
  return stated <= most ? stated : 0;
}

/** Refuses a few KiB of gzip that would take seconds to read, with nothing in them: no report packs so well. */
async function* withinRatio(
  unpacked: AsyncIterable<Uint8Array>,
  packedBytes: () => number,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of unpacked) {
    length += chunk.length;
    if (length > UNPACKED_BYTES_ALWAYS && length > packedBytes() * UNPACK_RATIO_MAX)
      throw new UploadTooLarge(UPLOAD_LIMITS.UNPACK_RATIO_MAX.sentence());
    yield chunk;
  }
}

const sentTooLarge = ({ sentBytesMax }: BodyLimits): UploadTooLarge =>
  new UploadTooLarge(
    `The body is larger than ${sizeOf(sentBytesMax)}. Send it with Content-Encoding: gzip, or in several requests.`,
  );

const unpackedTooLarge = ({ unpackedBytesMax }: BodyLimits): UploadTooLarge =>
  new UploadTooLarge(
    `The body is larger than ${sizeOf(unpackedBytesMax)} after decompression. Send it in several requests.`,
  );

const sizeOf = (bytes: number): string =>
  bytes >= MEBIBYTE ? `${Math.floor(bytes / MEBIBYTE)} MiB` : `${bytes} bytes`;
