/** Claims: which executions of a source belong to which block, in eight bytes per execution. */
import { splitExecutionId } from '../domain/identity.ts';
import { statusOfVariant } from '../domain/result-variant.ts';
import type { Status } from '../domain/status.ts';

export interface Claim {
  repositoryId: string;
  sourceKey: string;
  /** The number of the unnamed leg; 1 for nearly all. */
  leg: number;
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

/** Which results of a leg of a source are claimed, by the test that they are of: nearly always one. */
export class ClaimedResults {
  readonly #variants = new Map<number, number | number[]>();

  addPacked(packed: Uint8Array): void {
    const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
    for (let at = 0; at < packed.byteLength; at += 8) this.#add(view.getUint32(at), view.getUint32(at + 4));
  }

  /** Claims a result. `isNew`: it was not claimed; `conflicts`: another one of the same test is. */
  claim(id: bigint): { isNew: boolean; conflicts: boolean } {
    return this.#add(Number(id >> 32n), Number(id & 0xffffffffn));
  }

  has(id: bigint): boolean {
    const { known, variant } = this.#knownOf(id);
    return known.includes(variant);
  }

  /** Whether another result of the same test is claimed. */
  hasOther(id: bigint): boolean {
    const { known, variant } = this.#knownOf(id);
    return known.some((one) => one !== variant);
  }

  /** How the results ended that are claimed of the test that this result is of. */
  statusesOf(id: bigint, ownVariant: number): Status[] {
    const { known, variant } = this.#knownOf(id);
    return known.map((one) => statusOfVariant(one ^ variant ^ ownVariant));
  }

  /** In an id, a variant is mixed with bits that all results of the test share. */
  #knownOf(id: bigint): { known: readonly number[]; variant: number } {
    const { place, variant } = splitExecutionId(Number(id >> 32n), Number(id & 0xffffffffn));
    const known = this.#variants.get(place);
    return { known: known === undefined ? NONE : typeof known === 'number' ? [known] : known, variant };
  }

  #add(upper: number, lower: number): { isNew: boolean; conflicts: boolean } {
    const { place, variant } = splitExecutionId(upper, lower);
    const known = this.#variants.get(place);
    if (known === undefined) {
      this.#variants.set(place, variant);
      return FIRST;
    }
    if (known === variant) return REPEATED;
    if (typeof known === 'number') this.#variants.set(place, [known, variant]);
    else if (known.includes(variant)) return { isNew: false, conflicts: true };
    else known.push(variant);
    return { isNew: true, conflicts: true };
  }
}

const NONE: readonly number[] = [];
const FIRST = { isNew: true, conflicts: false };
const REPEATED = { isNew: false, conflicts: false };

/** Source keys are locked in buckets, so that a transaction takes a bounded number of locks. */
export const LOCK_BUCKETS = 1_024;

/** The buckets of the source keys in ascending order: every transaction locks in this order, so none can deadlock. */
export function lockBuckets(sourceKeys: Iterable<string>): number[] {
  const buckets = new Set<number>();
  for (const key of sourceKeys) buckets.add(Number.parseInt(key.slice(0, 8), 16) % LOCK_BUCKETS);
  return [...buckets].sort((a, b) => a - b);
}
