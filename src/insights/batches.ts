/** Batches by what their reads have in common, kept while they are idle as long as there is room. */
import { LRUCache } from 'lru-cache';
import { Batch, type Load } from '../batch.ts';
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Turn } from '../fair-queue.ts';
import type { Repository } from '../postgres/repositories.ts';

/** Kept while they are idle. */
const BATCHES_MAX = 1_000;

class NamedBatches<K, V> {
  readonly #batches = new LRUCache<string, Batch<K, V>>({ max: BATCHES_MAX });

  of(name: string, make: () => Batch<K, V>): Batch<K, V> {
    const known = this.#batches.get(name);
    if (known) return known;
    const batch = make();
    this.#batches.set(name, batch);
    return batch;
  }
}

type Of = Pick<Repository, 'id' | 'owner'>;

/** One batch for each repository and kind of key. */
export class RepositoryBatches<K, V> {
  readonly #batches = new NamedBatches<K, V>();
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

  /** A read that finds values by key; several callers may ask for the same one. */
  static byKey<V>(find: (repositoryId: string, keys: string[]) => Promise<ReadonlyMap<string, V>>) {
    return new RepositoryBatches<string, V>(({ id }) => async (take) => {
      const keys = take();
      const found = await find(id, [...new Set(keys)]);
      return keys.map((key) => found.get(key));
    });
  }

  get(repository: Of, key: K, signal?: AbortSignal): Promise<V | undefined> {
    const name = `${repository.id} ${this.#kindOf(key)}`;
    return this.#batches.of(name, () => new Batch(this.#loadOf(repository), this.#sizeMax)).get(key, signal);
  }
}

/** A question about a test, with its repository. */
export type InRepository<A> = A & { repositoryId: string };

/** A test, and what is asked about it. */
interface AboutTest {
  testId: string;
}

/** Two statements keep two cores busy. */
const STATEMENTS_AT_ONCE = 2;

/**
 * One batch for all repositories of an owner: most of a small statement is planning, so one for 64 tests takes ClickHouse
 * 1.4 times as long as one for 12. In a cluster one for each repository, so that a shard that is down holds up no other.
 */
export class OwnerBatches<A extends AboutTest, V> {
  readonly #batches = new NamedBatches<InRepository<A>, V>();

  /** @param load gives the values in the order of what it takes: different tests, whose ids differ in all repositories */
  constructor(
    private readonly clickhouse: Pick<ClickHouse, 'isSharded'>,
    private readonly load: (take: () => InRepository<A>[], turn: Turn) => Promise<readonly V[]>,
  ) {}

  get({ id, owner }: Of, asked: A, signal?: AbortSignal): Promise<V | undefined> {
    const { isSharded } = this.clickhouse;
    const batch = this.#batches.of(isSharded ? id : owner, () => {
      const load: Load<InRepository<A>, V> = (take, ended) => this.load(take, { owner, signal: ended });
      return new Batch(load, { atOnce: isSharded ? 1 : STATEMENTS_AT_ONCE, thingOf: ({ testId }) => testId });
    });
    return batch.get({ ...asked, repositoryId: id }, signal);
  }
}
