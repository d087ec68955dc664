/** Finds what is new in a batch of chunks. */
import { executionIdInLeg } from '../domain/identity.ts';
import { monthOf } from '../domain/retention.ts';
import { unnamedLegsOf } from '../domain/unnamed-leg.ts';
import type { Claim } from './claims.ts';
import type { PreparedChunk, PreparedExecution } from './prepare.ts';
import { FIRST_LEG, type Placement, SourceLegs } from './source-legs.ts';

/** The executions of a chunk that are to be stored. */
export interface Unclaimed {
  /** By the number of their unnamed leg, with their ids in it. */
  byLeg: ReadonlyMap<number, PreparedExecution[]>;
  accepted: number;
  /** The last of the unnamed legs that the chunk belongs to; 1 for nearly all. */
  leg: number;
  /** Executions of the chunk, new or not, of which another result is claimed. */
  conflicting: number;
  /** Whether some of them are new. */
  hasNewConflict: boolean;
  /** Executions of sources whose claims are closed: no one knows whether they are stored. */
  late: PreparedExecution[];
}

/** Picks the executions of a batch that no block, and no earlier chunk of the batch, has claimed. */
export class UnclaimedExecutions {
  /** By source, leg and month. */
  readonly #taken = new Map<string, Claim & { ids: bigint[] }>();
  count = 0;
  readonly #duplicateSources = new Set<string>();

  constructor(private readonly claimed: Map<string, SourceLegs>) {}

  of(chunk: PreparedChunk): Unclaimed {
    const byLeg = new Map<number, PreparedExecution[]>();
    const placementOf = this.#placementsOf(chunk);
    let accepted = 0;
    let conflicting = 0;
    let hasNewConflict = false;
    let lastLeg = 1;
    const late: PreparedExecution[] = [];
    for (const execution of chunk.executions) {
      if (this.#legsOf(execution.sourceKey).isClosed) {
        late.push(execution);
        // A newer block of the source may not be stored yet, and this may be its job.
        this.#duplicateSources.add(execution.sourceKey);
        continue;
      }
      const placement = placementOf(execution.sourceKey);
      const { leg } = placement;
      if (leg > lastLeg) lastLeg = leg;
      const { isNew, conflicts } = this.#legsOf(execution.sourceKey).claim(execution.id, placement);
      if (conflicts) conflicting++;
      if (!isNew) {
        this.#duplicateSources.add(execution.sourceKey);
        continue;
      }
      if (conflicts) hasNewConflict = true;
      accepted++;
      const taken = leg === 1 ? execution : { ...execution, id: executionIdInLeg(execution.id, leg) };
      this.#take(chunk.repositoryId, taken, leg);
      const inLeg = byLeg.get(leg);
      if (inLeg) inLeg.push(taken);
      else byLeg.set(leg, [taken]);
    }
    return { byLeg, accepted, leg: lastLeg, conflicting, hasNewConflict, late };
  }

  /**
   * The legs of the chunk's sources, from what is claimed before any of it. A source without claims, as nearly all are, is
   * not looked at.
   */
  #placementsOf(chunk: PreparedChunk): (sourceKey: string) => Placement {
    const known = new Map<string, Placement>();
    let bySource: Map<string, PreparedExecution[]> | undefined;
    return (sourceKey) => {
      const found = known.get(sourceKey);
      if (found) return found;
      const legs = this.#legsOf(sourceKey);
      let placement = FIRST_LEG;
      if (!legs.isEmpty) {
        bySource ??= Map.groupBy(chunk.executions, (execution) => execution.sourceKey);
        placement = legs.placementOf(bySource.get(sourceKey) ?? [], unnamedLegsOf(chunk.run.axes));
      }
      known.set(sourceKey, placement);
      return placement;
    };
  }

  #legsOf(sourceKey: string): SourceLegs {
    let known = this.claimed.get(sourceKey);
    if (known === undefined) {
      known = new SourceLegs();
      this.claimed.set(sourceKey, known);
    }
    return known;
  }

  #take(repositoryId: string, { sourceKey, finishedAt, id }: PreparedExecution, leg: number): void {
    const month = monthOf(finishedAt);
    const key = `${sourceKey} ${leg} ${month}`;
    const claim = this.#taken.get(key);
    if (claim) claim.ids.push(id);
    else this.#taken.set(key, { repositoryId, sourceKey, leg, month, ids: [id] });
    this.count++;
  }

  /** The new claims. */
  get claims(): Claim[] {
    return [...this.#taken.values()];
  }

  /** The unstored blocks that may claim one of the duplicates found. */
  duplicatesIn(unstored: Map<string, number[]>): Set<number> {
    return new Set([...this.#duplicateSources].flatMap((sourceKey) => unstored.get(sourceKey) ?? []));
  }
}
