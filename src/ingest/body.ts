/**
 * Reads the body of an upload within two limits, one for the bytes as sent and one for the bytes after decompression.
 * Both are counted while they arrive, so a zip bomb is stopped at the limit.
 */
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { boundedBytes, type Chunks, joinedBytes, sentBytes } from '../http/bounded-bytes.ts';
import { InvalidUpload, UploadTooLarge } from './errors.ts';

export interface BodyLimits {
  /** Bytes as sent. */
  sentBytesMax: number;
  /** Bytes after decompression. */
  unpackedBytesMax: number;
}

const MEBIBYTE = 1024 * 1024;

export const BODY_LIMITS: BodyLimits = { sentBytesMax: 25 * MEBIBYTE, unpackedBytesMax: 200 * MEBIBYTE };

/** The body of a request, decompressed. Throws InvalidUpload and UploadTooLarge. */
export async function readBody(request: Request, limits: BodyLimits = BODY_LIMITS): Promise<Uint8Array> {
  const isGzip = isGzipEncoding(request.headers.get('content-encoding'));
  const sent = sentChunks(request, limits);
  if (isGzip) return gunzip(sent, limits);
  return joinedBytes(boundedBytes(sent, limits.unpackedBytesMax, () => unpackedTooLarge(limits)));
}

/** The bytes of a body exactly as they were sent, to check a signature over them. Throws UploadTooLarge. */
export const readSentBody = (request: Request, limits: BodyLimits = BODY_LIMITS): Promise<Uint8Array> =>
  joinedBytes(sentChunks(request, limits));

const sentChunks = (request: Request, limits: BodyLimits): AsyncIterable<Uint8Array> =>
  sentBytes(request, limits.sentBytesMax, () => sentTooLarge(limits));

/** Whether a Content-Encoding is gzip; anything else but none is refused. */
function isGzipEncoding(header: string | null): boolean {
  const encoding = header?.trim().toLowerCase() ?? '';
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  if (encoding === '' || encoding === 'identity') return false;
  throw new InvalidUpload(
    `Content-Encoding ${encoding.slice(0, 50)} is not accepted: send gzip, or the body without an encoding.`,
  );
}

/** Decompresses a body, or a file within a form. Throws as {@link readBody} does. */
export async function gunzip(chunks: Chunks, limits: BodyLimits = BODY_LIMITS): Promise<Uint8Array> {
  let body: Uint8Array = new Uint8Array();
  try {
    await pipeline(chunks, createGunzip(), async (unpacked: AsyncIterable<Uint8Array>) => {
      body = await joinedBytes(boundedBytes(unpacked, limits.unpackedBytesMax, () => unpackedTooLarge(limits)));
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
