/** One batch for each repository and kind of read, kept while it is idle as long as there is room. */
import { LRUCache } from 'lru-cache';
import { Batch, type Load } from '../batch.ts';
import type { Repository } from '../postgres/repositories.ts';

/** Kept while they are idle. */
const REPOSITORIES_MAX = 1_000;

type Of = Pick<Repository, 'id' | 'owner'>;

export class RepositoryBatches<K, V> {
  readonly #batches = new LRUCache<string, Batch<K, V>>({ max: REPOSITORIES_MAX });
  readonly #loadOf: (repository: Of) => Load<K, V>;

  readonly #limits: { sizeMax?: number };

  constructor(loadOf: (repository: Of) => Load<K, V>, limits: { sizeMax?: number } = {}) {
    this.#loadOf = loadOf;
    this.#limits = limits;
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
    let batch = this.#batches.get(repository.id);
    if (!batch) {
      batch = new Batch(this.#loadOf(repository), this.#limits);
      this.#batches.set(repository.id, batch);
    }
    return batch.get(key, signal);
  }
}
