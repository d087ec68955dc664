/** Zips whose parts say what a test wants, whether or not it is true. */
import { deflateRawSync } from 'node:zlib';

export interface Zipped {
  name: string;
  content: Uint8Array;
  /** Says of its size something else. */
  statedSize?: number;
}

/** @param shares the files after the first have its packed bytes as well, which the zip holds once */
export function zipOf(files: readonly Zipped[], shares = false): Uint8Array {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  let first = Buffer.alloc(0);
  for (const [i, { name, content, statedSize = content.length }] of files.entries()) {
    const packed = shares && i > 0 ? first : deflateRawSync(content, { level: 9 });
    if (i === 0) first = packed;
    const offset = shares ? 0 : at;
    const crc = Bun.hash.crc32(content);
    const head = Buffer.alloc(46);
    head.writeUInt32LE(0x02014b50, 0);
    head.writeUInt16LE(8, 10);
    head.writeUInt32LE(crc, 16);
    head.writeUInt32LE(packed.length, 20);
    head.writeUInt32LE(statedSize, 24);
    head.writeUInt16LE(Buffer.byteLength(name), 28);
    head.writeUInt32LE(offset, 42);
    central.push(head, Buffer.from(name));
    if (shares && i > 0) continue;
    const start = Buffer.alloc(30);
    start.writeUInt32LE(0x04034b50, 0);
    start.writeUInt16LE(8, 8);
    start.writeUInt32LE(crc, 14);
    start.writeUInt32LE(packed.length, 18);
    start.writeUInt32LE(statedSize, 22);
    start.writeUInt16LE(Buffer.byteLength(name), 26);
    local.push(start, Buffer.from(name), packed);
    at += 30 + Buffer.byteLength(name) + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...local, directory, end]);
}
