/** Finds what is new in a batch of chunks. */
import { monthOf } from '../domain/retention.ts';
import type { Claim } from './claims.ts';
import type { PreparedChunk, PreparedExecution } from './prepare.ts';

/** Picks the executions of a batch that no block, and no earlier chunk of the batch, has claimed. */
export class UnclaimedExecutions {
  readonly #taken = new Map<string, Map<number, bigint[]>>();
  count = 0;
  readonly #duplicateSources = new Set<string>();

  constructor(private readonly claimed: Map<string, Set<bigint>>) {}

  of(chunk: PreparedChunk): PreparedExecution[] {
    const unclaimed: PreparedExecution[] = [];
    for (const execution of chunk.executions) {
      const known = this.#knownOf(execution.sourceKey);
      if (known.has(execution.id)) {
        this.#duplicateSources.add(execution.sourceKey);
        continue;
      }
      known.add(execution.id);
      this.#take(execution);
      unclaimed.push(execution);
    }
    return unclaimed;
  }

  #knownOf(sourceKey: string): Set<bigint> {
    let known = this.claimed.get(sourceKey);
    if (known === undefined) {
      known = new Set();
      this.claimed.set(sourceKey, known);
    }
    return known;
  }

  #take({ sourceKey, finishedAt, id }: PreparedExecution): void {
    let months = this.#taken.get(sourceKey);
    if (months === undefined) {
      months = new Map();
      this.#taken.set(sourceKey, months);
    }
    const month = monthOf(finishedAt);
    const ids = months.get(month);
    if (ids) ids.push(id);
    else months.set(month, [id]);
    this.count++;
  }

  /** The new claims. */
  get claims(): Claim[] {
    return [...this.#taken].flatMap(([sourceKey, months]) =>
      [...months].map(([month, ids]) => ({ sourceKey, month, ids })),
    );
  }

  /** The unstored blocks that may claim one of the duplicates found. */
  duplicatesIn(unstored: Map<string, number[]>): Set<number> {
    return new Set([...this.#duplicateSources].flatMap((sourceKey) => unstored.get(sourceKey) ?? []));
  }
}
