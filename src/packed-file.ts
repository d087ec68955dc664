/** Files that are compressed by zstd, as streams. Only their owner can read them. */
import { createReadStream, createWriteStream } from 'node:fs';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';

/** Writes a file that does not exist yet. */
export const writePacked = (bytes: Readable, path: string): Promise<void> =>
  pipeline(bytes, createZstdCompress(), createWriteStream(path, { flags: 'wx', mode: 0o600 }));

/** Reads a file. The stream fails if the file cannot be read, or is damaged. */
export function readPacked(path: string): Readable {
  const unpacked = new PassThrough();
  pipeline(createReadStream(path), createZstdDecompress(), unpacked).catch((error) => unpacked.destroy(error));
  return unpacked;
}
