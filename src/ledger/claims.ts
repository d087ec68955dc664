/** Claims: which executions of a source belong to which block, in eight bytes per execution. */

export interface Claim {
  sourceKey: string;
  /** In which the executions finished, such as 202611. */
  month: number;
  ids: readonly bigint[];
}

/** The ids of a claim as PostgreSQL stores them. */
export function packIds(ids: readonly bigint[]): Buffer {
  const packed = Buffer.allocUnsafe(ids.length * 8);
  for (const [i, id] of ids.entries()) packed.writeBigUInt64BE(id, i * 8);
  return packed;
}

export function unpackIds(packed: Uint8Array): bigint[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  return Array.from({ length: packed.byteLength / 8 }, (_, i) => view.getBigUint64(i * 8));
}

/** Source keys are locked in buckets, so that a transaction takes a bounded number of locks. */
const LOCK_BUCKETS = 1_024;

/** The buckets of the source keys in ascending order: every transaction locks in this order, so none can deadlock. */
export function lockBuckets(sourceKeys: Iterable<string>): number[] {
  const buckets = new Set<number>();
  for (const key of sourceKeys) buckets.add(Number.parseInt(key.slice(0, 8), 16) % LOCK_BUCKETS);
  return [...buckets].sort((a, b) => a - b);
}
