/**
 * How a payload travels: as plain JSON, or as `{v, enc: "zstd", b: base64}` of the same JSON, which is an eighth of the
 * size and three times cheaper to add to a queue in PostgreSQL. Producers may send either.
 */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';

/** The largest job that a consumer unpacks, in bytes: a small payload must not become a large allocation. */
const JOB_BYTES_MAX = 64 * 1024 * 1024;

export const compressedSchema = z.object({ v: z.literal(1), enc: z.literal('zstd'), b: z.base64() });
export type Compressed = z.infer<typeof compressedSchema>;

export const compress = (payload: unknown): Compressed => compressText(JSON.stringify(payload));

/** The same for a payload that is JSON already. */
export function compressText(json: string): Compressed {
  return { v: 1, enc: 'zstd', b: zstdCompressSync(json).toString('base64') };
}

/** How much larger packed payloads usually are as JSON. */
const EXPANSION = 8;
const packedSchema = z.object({ b: z.string() });

/** About how many bytes a payload is as JSON, without unpacking it. */
export function roughBytes(data: unknown): number {
  const packed = packedSchema.safeParse(data);
  return packed.success ? packed.data.b.length * EXPANSION : JSON.stringify(data ?? null).length;
}

export interface Unpacked {
  /** The payload, unchecked. */
  payload: unknown;
  /** Its size as JSON. */
  bytes: number;
}

/** Throws if the data claims to be compressed and is not, or is larger than {@link JOB_BYTES_MAX}. */
export function unpack(data: unknown): Unpacked {
  const compressed = compressedSchema.safeParse(data);
  if (!compressed.success) return { payload: data, bytes: JSON.stringify(data ?? null).length };
  const bytes = zstdDecompressSync(Buffer.from(compressed.data.b, 'base64'), { maxOutputLength: JOB_BYTES_MAX });
  return { payload: JSON.parse(bytes.toString('utf8')), bytes: bytes.byteLength };
}
