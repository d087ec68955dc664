/**
 * The legs of a source that have no names (docs/decisions.md, "Unnamed leg"). Reports that contradict each other under the
 * same names are legs by the order in which they arrive. All of it is decided from claims, so a resend finds its leg again.
 */
import { executionIdInLeg } from '../domain/identity.ts';
import { ClaimedResults } from './claims.ts';
import type { PreparedExecution } from './prepare.ts';

type Result = Pick<PreparedExecution, 'id' | 'variant' | 'status'>;

/** Where results of a source belong that came together. */
export interface Placement {
  leg: number;
  /** Nothing in them makes a leg that was not there: a result that any leg has counts nothing. */
  isKnown: boolean;
}

export const FIRST_LEG: Placement = { leg: 1, isKnown: true };

export class SourceLegs {
  /** That of leg 1 comes first. */
  readonly #legs: ClaimedResults[] = [];

  /** Whether it is no longer known which results are claimed: then none may be claimed. */
  isClosed = false;

  get isEmpty(): boolean {
    return this.#legs.length === 0;
  }

  close(): void {
    this.isClosed = true;
  }

  addPacked(leg: number, packed: Uint8Array): void {
    this.#leg(leg).addPacked(packed);
  }

  /** @param legsMax how many legs there may be */
  placementOf(results: readonly Result[], legsMax: number): Placement {
    const owner = this.#legs.findIndex((claimed, at) =>
      results.every(({ id }) => claimed.has(executionIdInLeg(id, at + 1))),
    );
    if (owner >= 0) return { leg: owner + 1, isKnown: true };
    const contradicting = new Set<Result>();
    for (let leg = 1; leg <= legsMax; leg++) {
      const found = leg <= this.#legs.length ? this.#contradictions(results, leg) : [];
      if (found.length === 0 || leg === legsMax) return { leg, isKnown: leg === 1 || this.#knows(contradicting, leg) };
      for (const result of found) contradicting.add(result);
    }
    return FIRST_LEG;
  }

  /** Passes against failures and failures against passes; none if the results only try again what failed. */
  #contradictions(results: readonly Result[], leg: number): Result[] {
    const found: Result[] = [];
    let isOnlyAgain = true;
    for (const result of results) {
      if (result.status === 'skipped') continue;
      const known = this.#leg(leg).statusesOf(executionIdInLeg(result.id, leg), result.variant);
      if (known.length === 0) continue;
      if (!known.includes('failed')) isOnlyAgain = false;
      if (!known.includes(result.status) && known.some((status) => status !== 'skipped')) found.push(result);
    }
    return isOnlyAgain ? [] : found;
  }

  /** Whether results that contradict the legs before this one have come before: some in this leg, or all in some leg. */
  #knows(contradicting: ReadonlySet<Result>, leg: number): boolean {
    const own = this.#leg(leg);
    const all = [...contradicting];
    return (
      all.some(({ id }) => own.has(executionIdInLeg(id, leg))) ||
      all.every(({ id }) => this.#legs.some((claimed, at) => claimed.has(executionIdInLeg(id, at + 1))))
    );
  }

  /** Claims a result. `conflicts`: another result of its test is claimed, in whatever leg. */
  claim(id: bigint, { leg, isKnown }: Placement): { isNew: boolean; conflicts: boolean } {
    const own = this.#leg(leg);
    if (this.#legs.length === 1) return own.claim(id);
    let isElsewhere = false;
    let conflicts = false;
    for (const [at, claimed] of this.#legs.entries()) {
      const there = executionIdInLeg(id, at + 1);
      if (at + 1 !== leg && claimed.has(there)) isElsewhere = true;
      if (claimed.hasOther(there)) conflicts = true;
    }
    if (isKnown && isElsewhere) return { isNew: false, conflicts };
    return { isNew: own.claim(executionIdInLeg(id, leg)).isNew, conflicts };
  }

  #leg(leg: number): ClaimedResults {
    while (this.#legs.length < leg) this.#legs.push(new ClaimedResults());
    return this.#legs[leg - 1] ?? new ClaimedResults();
  }
}
