/**
 * Reads a request body within limits (design §6 "Limits"): the bytes as sent and the bytes unpacked are both counted while
 * they arrive, so a zip bomb is stopped at the limit and a body without Content-Length (chunked) is no way around it.
 */
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { InvalidUpload, UploadTooLarge } from './errors.ts';

export interface BodyLimits {
  /** Bytes as sent. */
  sentBytesMax: number;
  /** Bytes after unpacking. */
  unpackedBytesMax: number;
}

const MEBIBYTE = 1024 * 1024;

export const BODY_LIMITS: BodyLimits = { sentBytesMax: 25 * MEBIBYTE, unpackedBytesMax: 200 * MEBIBYTE };

/** The body of a request, unpacked. Throws InvalidUpload and UploadTooLarge. */
export async function readBody(request: Request, limits: BodyLimits = BODY_LIMITS): Promise<Uint8Array> {
  const isGzip = isGzipEncoding(request.headers.get('content-encoding'));
  const sent = sentChunks(request, limits);
  return isGzip ? gunzip(sent, limits) : joined(bounded(sent, limits.unpackedBytesMax, () => unpackedTooLarge(limits)));
}

/** The bytes of a body exactly as they were sent, for a signature over them. Throws UploadTooLarge. */
export const readSentBody = (request: Request, limits: BodyLimits = BODY_LIMITS): Promise<Uint8Array> =>
  joined(sentChunks(request, limits));

async function* sentChunks(request: Request, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > limits.sentBytesMax) throw sentTooLarge(limits);
  yield* bounded(request.body ?? [], limits.sentBytesMax, () => sentTooLarge(limits));
}

/** Whether a Content-Encoding is gzip; others than it and none are refused. */
function isGzipEncoding(header: string | null): boolean {
  const encoding = header?.trim().toLowerCase() ?? '';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === '' || encoding === 'identity') return false;
  throw new InvalidUpload(
    `Content-Encoding ${encoding.slice(0, 50)} is not understood: send gzip, or the body as it is.`,
  );
}

/** Unpacks bytes, also of a file within a multipart body; throws as {@link readBody}. */
export async function gunzip(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limits: BodyLimits = BODY_LIMITS,
): Promise<Uint8Array> {
  let body: Uint8Array = new Uint8Array();
  try {
    await pipeline(chunks, createGunzip(), async (unpacked: AsyncIterable<Uint8Array>) => {
      body = await joined(bounded(unpacked, limits.unpackedBytesMax, () => unpackedTooLarge(limits)));
    });
    return body;
  } catch (error) {
    if (error instanceof UploadTooLarge) throw error;
    throw new InvalidUpload('The body says it is gzip but cannot be unpacked: it is not gzip, or it is cut short.', {
      cause: error,
    });
  }
}

async function* bounded(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
  tooLarge: () => UploadTooLarge,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge();
    yield chunk;
  }
}

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const list: Uint8Array[] = [];
  for await (const chunk of chunks) list.push(chunk);
  return list.length === 1 && list[0] ? list[0] : Buffer.concat(list);
}

const sentTooLarge = ({ sentBytesMax }: BodyLimits): UploadTooLarge =>
  new UploadTooLarge(
    `The body is larger than ${sizeOf(sentBytesMax)}. Send it with Content-Encoding: gzip, or in several requests.`,
  );

const unpackedTooLarge = ({ unpackedBytesMax }: BodyLimits): UploadTooLarge =>
  new UploadTooLarge(`The body is larger than ${sizeOf(unpackedBytesMax)} unpacked. Send it in several requests.`);

const sizeOf = (bytes: number): string =>
  bytes >= MEBIBYTE ? `${Math.floor(bytes / MEBIBYTE)} MiB` : `${bytes} bytes`;
