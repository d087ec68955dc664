/** One batch for each repository and kind of read, kept while it is idle as long as there is room. */
import { LRUCache } from 'lru-cache';
import { Batch, type Load } from '../batch.ts';
import type { Repository } from '../postgres/repositories.ts';

/** Kept while they are idle. */
const REPOSITORIES_MAX = 1_000;

export class RepositoryBatches<K, V> {
  readonly #batches = new LRUCache<string, Batch<K, V>>({ max: REPOSITORIES_MAX });
  readonly #loadOf: (repository: Pick<Repository, 'id' | 'owner'>) => Load<K, V>;
  readonly #sizeMax: number;

  constructor(loadOf: (repository: Pick<Repository, 'id' | 'owner'>) => Load<K, V>, { sizeMax = 256 } = {}) {
    this.#loadOf = loadOf;
    this.#sizeMax = sizeMax;
  }

  get(repository: Pick<Repository, 'id' | 'owner'>, key: K, signal?: AbortSignal): Promise<V | undefined> {
    let batch = this.#batches.get(repository.id);
    if (!batch) {
      batch = new Batch(this.#loadOf(repository), { sizeMax: this.#sizeMax });
      this.#batches.set(repository.id, batch);
    }
    return batch.get(key, signal);
  }
}
