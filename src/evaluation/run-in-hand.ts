/** A run that is being judged, with the identities that failed in it. */
import type { RunJudgement, RunMeaning } from '../domain/judge-runs.ts';
import { nameOfRun, type StoredRun } from '../postgres/judged-runs.ts';
import { placeOf } from './news.ts';
import { testIdIn } from './store.ts';

export class RunInHand {
  readonly name: string;
  readonly place: string;
  /** By `identityKey`: whether the identity was healthy before the run; undefined if it was not in it before. */
  readonly members = new Map<string, boolean | undefined>();

  constructor(readonly stored: StoredRun) {
    this.name = nameOfRun(stored);
    this.place = placeOf(stored);
    for (const testId of stored.unexpected) this.members.set(this.keyOf(testId), true);
    for (const testId of stored.expected) this.members.set(this.keyOf(testId), false);
  }

  get meaning(): RunMeaning | null {
    return this.stored.meaning;
  }

  keyOf(testId: string): string {
    return `${testId}\0${this.place}`;
  }

  /** As it is to be stored. `isJudged`: whether it follows from `wereHealthy` that an identity was healthy before it. */
  toStore({ meaning, wereHealthy }: RunJudgement, isJudged: (identity: string) => boolean): StoredRun {
    const unexpected = new Set<string>();
    const expected = new Set<string>();
    for (const [key, wasHealthy] of this.members)
      ((isJudged(key) ? wereHealthy.has(key) : wasHealthy) ? unexpected : expected).add(testIdIn(key));
    return { ...this.stored, meaning, unexpected, expected };
  }
}

/** Whether there is nothing to write. */
export const isSameRun = (one: StoredRun, other: StoredRun): boolean =>
  JSON.stringify(one.meaning) === JSON.stringify(other.meaning) &&
  one.unexpected.symmetricDifference(other.unexpected).size === 0 &&
  one.expected.symmetricDifference(other.expected).size === 0;
