/** Finds what is new in a batch of chunks. */
import { monthOf } from '../domain/retention.ts';
import { type Claim, ClaimedResults } from './claims.ts';
import type { PreparedChunk, PreparedExecution } from './prepare.ts';

/** The executions of a chunk that are to be stored. */
export interface Unclaimed {
  executions: PreparedExecution[];
  /** Executions of the chunk, new or not, of which another result is claimed. */
  conflicting: number;
  /** Whether some of them are new. */
  hasNewConflict: boolean;
}

/** Picks the executions of a batch that no block, and no earlier chunk of the batch, has claimed. */
export class UnclaimedExecutions {
  readonly #taken = new Map<string, Map<number, bigint[]>>();
  count = 0;
  readonly #duplicateSources = new Set<string>();

  constructor(private readonly claimed: Map<string, ClaimedResults>) {}

  of(chunk: PreparedChunk): Unclaimed {
    const executions: PreparedExecution[] = [];
    let conflicting = 0;
    let hasNewConflict = false;
    for (const execution of chunk.executions) {
      const { isNew, conflicts } = this.#knownOf(execution.sourceKey).claim(execution.id);
      if (conflicts) conflicting++;
      if (!isNew) {
        this.#duplicateSources.add(execution.sourceKey);
        continue;
      }
      if (conflicts) hasNewConflict = true;
      this.#take(execution);
      executions.push(execution);
    }
    return { executions, conflicting, hasNewConflict };
  }

  #knownOf(sourceKey: string): ClaimedResults {
    let known = this.claimed.get(sourceKey);
    if (known === undefined) {
      known = new ClaimedResults();
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
