/**
 * Nearly every test is calm: it is healthy, and passes. What is new about it is counted, without a look at anything else.
 */
import { afterCounted, isCounting } from '../domain/belief-fold.ts';
import { comparePositions } from '../domain/execution.ts';
import type { StoredBelief } from '../postgres/belief-text.ts';
import type { IdentityRecord } from '../postgres/test-states.ts';
import { type NewsOfIdentity, placeOf, type TestNews } from './news.ts';

/**
 * The beliefs after what is new about a test, by `placeOf` its identities; undefined if more than the number of its passes
 * matters: something went wrong, something is not known yet, or it finished before what is known.
 */
export function beliefsWhenCalm(
  news: TestNews,
  records: readonly IdentityRecord[],
): Map<string, StoredBelief> | undefined {
  if (news.hasTrouble) return undefined;
  const known = new Map(records.map((record) => [placeOf(record), record.belief]));
  const beliefs = new Map<string, StoredBelief>();
  for (const identity of news.identities) {
    const place = placeOf(identity);
    const after = countedAfter(known.get(place), identity);
    if (after === 'not calm') return undefined;
    if (after) beliefs.set(place, after);
  }
  return beliefs;
}

/** Undefined if nothing passed. Of a new identity, commits of pull requests may tell something, even if it was skipped. */
function countedAfter(end: StoredBelief | undefined, identity: NewsOfIdentity): StoredBelief | 'not calm' | undefined {
  if (!end) return 'not calm';
  const passes = identity.passes();
  if (!passes) return undefined;
  if (!end.at || !isCounting(end.belief) || comparePositions(passes.first, end.at) <= 0) return 'not calm';
  return { at: passes.last, belief: afterCounted(end.belief, passes.count, passes.commit) };
}
