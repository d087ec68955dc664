/** One batch for each repository and kind of key, kept while it is idle as long as there is room. */
import { LRUCache } from 'lru-cache';
import { Batch, type Load } from '../batch.ts';
import type { Repository } from '../postgres/repositories.ts';

/** Kept while they are idle. */
const BATCHES_MAX = 1_000;

type Of = Pick<Repository, 'id' | 'owner'>;

export class RepositoryBatches<K, V> {
  readonly #batches = new LRUCache<string, Batch<K, V>>({ max: BATCHES_MAX });
  readonly #loadOf: (repository: Of) => Load<K, V>;

  readonly #sizeMax: { sizeMax?: number };
  readonly #kindOf: (key: K) => string;

  /** @param limits `sizeMax` of a batch; only keys of one kind share one */
  constructor(
    loadOf: (repository: Of) => Load<K, V>,
    { kindOf = () => '', ...sizeMax }: { sizeMax?: number; kindOf?: (key: K) => string } = {},
  ) {
    this.#loadOf = loadOf;
    this.#sizeMax = sizeMax;
    this.#kindOf = kindOf;
  }

  /** Of a read that finds values by key; several callers may ask for the same one. */
  static byKey<V>(find: (repositoryId: string, keys: string[]) => Promise<ReadonlyMap<string, V>>) {
    return new RepositoryBatches<string, V>(({ id }) => async (take) => {
      const keys = take();
      const found = await find(id, [...new Set(keys)]);
      return keys.map((key) => found.get(key));
    });
  }

  get(repository: Of, key: K, signal?: AbortSignal): Promise<V | undefined> {
    const name = `${repository.id} ${this.#kindOf(key)}`;
    let batch = this.#batches.get(name);
    if (!batch) {
      batch = new Batch(this.#loadOf(repository), this.#sizeMax);
      this.#batches.set(name, batch);
    }
    return batch.get(key, signal);
  }
}
