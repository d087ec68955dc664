/**
 * Nearly every test is calm: it is healthy or remains flaky, and a pass changes nothing but their number. So passes are counted,
 * without a look at its history. That holds for its first ones, and for those of a test that has only ever passed, in any order.
 * Of a test that has failed, late ones must come among passes that were counted before.
 */
import { afterCounted, areAmongCounted, isCounting } from '../domain/counted-passes.ts';
import { comparePositions, type Position } from '../domain/execution.ts';
import { hasOnlyPassed, passedOnly } from '../domain/only-passed.ts';
import { monthOf } from '../domain/retention.ts';
import type { StoredBelief } from '../postgres/belief-text.ts';
import type { Checkpoints } from '../postgres/health-checkpoints.ts';
import type { IdentityRecord } from '../postgres/test-states.ts';
import type { NewPasses } from './new-executions.ts';
import { type NewsOfIdentity, placeOf, type TestNews } from './news.ts';
import { identityKey } from './store.ts';

/** What is new about an identity that may be calm, with what is known of it. */
interface CalmIdentity {
  news: NewsOfIdentity;
  /** Undefined if all were skipped. */
  passes: NewPasses | undefined;
  record: IdentityRecord | undefined;
  /**
   * `ahead`: everything new comes after what is known. `late`: some of it comes among passes that were counted. `first`:
   * nothing is known of the identity.
   */
  follows: 'ahead' | 'late' | 'first';
}

export interface CalmTest {
  testId: string;
  records: readonly IdentityRecord[];
  identities: readonly CalmIdentity[];
}

/** What more must be known of tests that may be calm. */
export interface CalmContext {
  /** By `identityKey`, of the tests with identities that {@link mayMove} theirs. */
  checkpoints: ReadonlyMap<string, Checkpoints>;
  /** Of the tests with identities that are `first`, those about which a commit contradicts itself, or did. */
  contradicted: ReadonlySet<string>;
}

/** A calm test after what is new about it. */
export interface CountedTest {
  /** What was known of its identities, with the passes that belong before. */
  records: readonly IdentityRecord[];
  /** By `placeOf` them. */
  beliefs: ReadonlyMap<string, StoredBelief>;
  /** Those to write, because passes belong before them. */
  checkpoints: readonly Checkpoints[];
}

/** Undefined if more than the number of its passes matters: something went wrong, or something is not known yet. */
export function maybeCalm(testId: string, news: TestNews, records: readonly IdentityRecord[]): CalmTest | undefined {
  if (news.hasTrouble) return undefined;
  const known = new Map<string, IdentityRecord>();
  for (const record of records) known.set(placeOf(record), record);
  const identities: CalmIdentity[] = [];
  for (const identity of news.identities) {
    const record = known.get(placeOf(identity));
    const passes = identity.passes();
    const follows = followsOf(record, passes, identity);
    if (!follows) return undefined;
    identities.push({ news: identity, passes, record, follows });
  }
  return { testId, records, identities };
}

function followsOf(
  record: IdentityRecord | undefined,
  passes: NewPasses | undefined,
  news: NewsOfIdentity,
): CalmIdentity['follows'] | undefined {
  if (!record) return 'first';
  if (!passes) return 'ahead';
  const { at, belief } = record.belief;
  if (!at) return 'first';
  if (isCounting(belief, passes.count, (commit) => news.isOn(commit))) {
    if (comparePositions(passes.first, at) > 0) return 'ahead';
    if (areAmongCounted(belief, record.summary.days, passes.first.finishedAt)) return 'late';
  }
  return hasOnlyPassed(belief) ? 'late' : undefined;
}

/** Whether some of what is new may belong before a checkpoint. */
export function mayMove({ record, passes }: CalmIdentity): boolean {
  if (!record || !passes) return false;
  const { finishedAt } = passes.first;
  // Baselines are from months that have left, and checkpoints no older.
  const [retained = Number.POSITIVE_INFINITY] = record.summary.months;
  return finishedAt <= record.checkpointAt || monthOf(finishedAt) < retained;
}

/** Undefined if the test is not calm. */
export function countCalm(
  { testId, records, identities }: CalmTest,
  { checkpoints, contradicted }: CalmContext,
): CountedTest | undefined {
  const beliefs = new Map<string, StoredBelief>();
  const changed = new Map<string, IdentityRecord>();
  const moved: Checkpoints[] = [];
  for (const { news, passes, record, follows } of identities) {
    if (follows === 'first' && contradicted.has(testId)) return undefined;
    if (!passes) continue;
    const place = placeOf(news);
    const { count, commit, last: at } = passes;
    if (!record?.belief.at) {
      beliefs.set(place, { at, belief: passedOnly(count, commit) });
    } else if (follows === 'ahead') {
      beliefs.set(place, { at, belief: afterCounted(record.belief.belief, count, commit) });
    } else {
      const row = checkpoints.get(identityKey(record));
      const late = [...news.positions()].filter(isUpTo(record.belief.at));
      // Of what is older than its baseline, nothing is known any more.
      if (row && late.some(isUpTo(row.baseline.at))) return undefined;
      const before = { ...record, belief: withPasses(record.belief, late) };
      changed.set(place, before);
      const ahead = count - late.length;
      beliefs.set(place, ahead > 0 ? { at, belief: afterCounted(before.belief.belief, ahead, commit) } : before.belief);
      if (row && late.some(isUpTo(row.newer.at)))
        moved.push({ ...row, older: withPasses(row.older, late), newer: withPasses(row.newer, late) });
    }
  }
  const known = changed.size === 0 ? records : records.map((record) => changed.get(placeOf(record)) ?? record);
  return { records: known, beliefs, checkpoints: moved };
}

const isUpTo =
  (at: Position | null) =>
  (position: Position): boolean =>
    at !== null && comparePositions(position, at) <= 0;

/** The same place, once passes are known that belong before it. */
function withPasses({ at, belief }: StoredBelief, passes: readonly Position[]): StoredBelief {
  return { at, belief: { ...belief, passes: belief.passes + passes.filter(isUpTo(at)).length } };
}
