/**
 * Which shard of a cluster stores a repository: what a `Distributed` table does with its sharding key
 * `cityHash64(repository_id)`. A test compares it with ClickHouse's own answer.
 */
import { StoreUnavailable } from '../errors.ts';
import { failingStore } from './failing-store.ts';

const MASK = (1n << 64n) - 1n;
const MULTIPLIER = 0x9ddfea08eb382d69n;
const BYTES = 16n;

const product = (one: bigint, other: bigint): bigint => (one * other) & MASK;
const mixed = (value: bigint): bigint => value ^ (value >> 47n);
const rotated = (value: bigint, bits: bigint): bigint => ((value >> bits) | (value << (64n - bits))) & MASK;

/** ClickHouse's `cityHash64` of a UUID: CityHash 1.0.2 of its two halves. */
export function cityHashOf(uuid: string): bigint {
  const hex = uuid.replaceAll('-', '');
  const high = BigInt(`0x${hex.slice(0, 16)}`);
  const low = BigInt(`0x${hex.slice(16)}`);
  const turned = rotated((low + BYTES) & MASK, BYTES);
  const first = mixed(product(high ^ turned, MULTIPLIER));
  const second = mixed(product(turned ^ first, MULTIPLIER));
  return product(second, MULTIPLIER) ^ low;
}

/**
 * @param weights of the shards, in their order
 * @returns the number of the shard, from 0
 */
export function shardAmong(weights: readonly number[], repositoryId: string): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let slot = Number(cityHashOf(repositoryId) % BigInt(Math.max(total, 1)));
  return weights.findIndex((weight) => {
    slot -= weight;
    return slot < 0;
  });
}

/** Some shards of a cluster failed; what is on the others is done. */
export class ShardsUnavailable extends StoreUnavailable {
  override name = 'ShardsUnavailable';
  constructor(first: unknown) {
    super(
      'clickhouse',
      first instanceof StoreUnavailable ? first.cause : first,
      first instanceof StoreUnavailable ? first.advice : undefined,
    );
  }
}

/** Work on many repositories, in which a shard that does not answer stops only what is on it. */
export class ShardByShard {
  readonly #failed = new Map<number | 'every shard', unknown>();

  constructor(private readonly clickhouse: { isSharded: boolean }) {}

  /** The shards that have failed so far. */
  get failed(): number[] {
    return [...this.#failed.keys()].filter((shard) => typeof shard === 'number');
  }

  /** Runs it, unless the shard has failed before. Returns undefined if it fails; throws what is not trouble with a shard. */
  async attempt<T>(shard: number | 'every shard', work: () => Promise<T>): Promise<T | undefined> {
    if (this.#failed.has(shard)) return undefined;
    try {
      return await work();
    } catch (error) {
      if (!this.clickhouse.isSharded || failingStore(error) !== 'clickhouse') throw error;
      this.#failed.set(shard, error);
      return undefined;
    }
  }

  /** Throws {@link ShardsUnavailable} if any has failed, once everything else is done. */
  rethrow(): void {
    for (const error of this.#failed.values()) throw new ShardsUnavailable(error);
  }
}
