/** Claims: which executions of a source are in which block. Eight bytes an execution. */

/** The ids of a claim as PostgreSQL keeps them. */
export function packIds(ids: readonly bigint[]): Buffer {
  const packed = Buffer.allocUnsafe(ids.length * 8);
  for (const [i, id] of ids.entries()) packed.writeBigUInt64BE(id, i * 8);
  return packed;
}

export function unpackIds(packed: Uint8Array): bigint[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  return Array.from({ length: packed.byteLength / 8 }, (_, i) => view.getBigUint64(i * 8));
}

/** Executions of a batch are locked by bucket of source key, so that a transaction takes a bounded number of locks. */
const LOCK_BUCKETS = 1_024;

/** The buckets of the source keys, in the one order in which every transaction takes them: no deadlock. */
export function lockBuckets(sourceKeys: Iterable<string>): number[] {
  const buckets = new Set<number>();
  for (const key of sourceKeys) buckets.add(Number.parseInt(key.slice(0, 8), 16) % LOCK_BUCKETS);
  return [...buckets].sort((a, b) => a - b);
}
