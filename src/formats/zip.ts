/**
 * Reads files out of a zip in memory. Nothing is written anywhere, so names are only names. What it unpacks to is counted,
 * and bounded as with gzip, whatever the zip says of sizes: its files may share the same packed bytes.
 */
import { inflateRawSync } from 'node:zlib';
import { UPLOAD_LIMITS } from '../domain/limit-table.ts';
import { UNPACK_RATIO_MAX, UNPACKED_BYTES_ALWAYS, ZIP_FILES_MAX } from '../domain/limits.ts';
import { InvalidUpload, UploadTooLarge } from './errors.ts';

export interface ZippedFile {
  /** Without its folders. */
  name: string;
  /** Null if they are damaged. */
  bytes: Uint8Array | null;
}

/** Whether the body is a zip, by its first bytes; an empty one has only an end. */
export const isZip = (body: Uint8Array): boolean =>
  body[0] === 0x50 && body[1] === 0x4b && ((body[2] === 3 && body[3] === 4) || (body[2] === 5 && body[3] === 6));

const [STORED, DEFLATED] = [0, 8];
const WHY_LENGTH_MAX = 300;

/** The files whose names are wanted, in the order of the zip. Throws InvalidUpload and UploadTooLarge. */
export async function* filesOfZip(
  body: Uint8Array,
  isWanted: (name: string) => boolean,
): AsyncGenerator<ZippedFile, void> {
  const { fromBufferPromise } = await import('yauzl');
  let bytesLeft = Math.max(UNPACKED_BYTES_ALWAYS, body.length * UNPACK_RATIO_MAX);
  const zip = await whole(() => fromBufferPromise(Buffer.from(body.buffer, body.byteOffset, body.length)));
  if (zip.entryCount > ZIP_FILES_MAX) throw new UploadTooLarge(UPLOAD_LIMITS.ZIP_FILES_MAX.sentence());
  const entries = zip.eachEntry()[Symbol.asyncIterator]();
  for (;;) {
    const { done, value: entry } = await whole(() => entries.next());
    if (done) return;
    const name = entry.fileName.slice(entry.fileName.lastIndexOf('/') + 1);
    if (!isWanted(name)) continue;
    const { fileDataStart } = await whole(() => zip.readLocalFileHeaderPromise(entry, { minimal: true }));
    const packed = body.subarray(fileDataStart, fileDataStart + entry.compressedSize);
    const bytes = await whole(() => unpacked(packed, entry.isEncrypted() ? -1 : entry.compressionMethod, bytesLeft));
    bytesLeft -= bytes?.length ?? 0;
    if (bytesLeft < 0) throw new UploadTooLarge(UPLOAD_LIMITS.UNPACK_RATIO_MAX.sentence());
    yield { name, bytes };
  }
}

function unpacked(packed: Uint8Array, method: number, bytesLeft: number): Uint8Array | null {
  if (method === STORED) return packed;
  if (method !== DEFLATED) throw new Error('a file is encrypted, or packed in a way that is not known');
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, bytesLeft) });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')
      throw new UploadTooLarge(UPLOAD_LIMITS.UNPACK_RATIO_MAX.sentence());
    return null;
  }
}

/** Whatever a damaged zip makes throw becomes a sentence for its sender. */
async function whole<T>(read: () => Promise<T> | T): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UploadTooLarge) throw error;
    const why = error instanceof Error ? error.message.slice(0, WHY_LENGTH_MAX) : 'it is damaged';
    throw new InvalidUpload(`The zip cannot be read: ${why}.`, { cause: error });
  }
}
