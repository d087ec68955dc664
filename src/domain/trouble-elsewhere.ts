/**
 * Trouble that runs of other changes, or a second run of the same one, show: what explains the failures of a run off the
 * default branch of which only a part failed. A change may break a third of the tests, but not those of others, and what it
 * breaks does not pass when the job runs again. Pure.
 */
import { HOUR_MS } from './time.ts';

/** A run, as far as it is known: it may have failed tests that are not asked about. */
export interface NearbyRun {
  /** Whose change ran: runs with the same one are one witness. Null on the default branch. */
  origin: string | null;
  /** Milliseconds since the epoch. */
  startedAt: number;
  endedAt: number;
  passed: number;
  failed: number;
  /** Those that failed, of the tests that are asked about. */
  failedTests: ReadonlySet<string>;
}

export interface AskedRun {
  origin: string | null;
  startedAt: number;
  endedAt: number;
  /** How much of the run failed. */
  share: number;
  /** The tests that failed in it, and were healthy on the default branch. */
  failedTests: ReadonlySet<string>;
  /** Those of them that passed in another attempt of the same leg on the same commit; null if there was none. */
  passedAgain: ReadonlySet<string> | null;
}

/** How far from the run others show the same trouble. */
export const NEARBY_MS = HOUR_MS;
/** With fewer, the change may as well have broken them. */
export const TOGETHER_MIN = 3;
/** The least part of the failed tests that a witness shares, or that passed again. */
const SHARED_MIN = 0.15;
const PASSED_AGAIN_MIN = 0.5;
/**
 * A default branch that fails the same tests is enough. Of changes it takes two, because one may be based on the other; and two
 * of what fails other tests, because a change that breaks much looks alike.
 */
const ORIGINS_MIN = 2;
/** Trouble that hits each test by chance hits runs alike: one that failed this much less than another met something else. */
const ALIKE_MIN = 0.7;
/** Where trouble hits the same tests everywhere, they fail together this much more often than by chance. */
const SAME_TESTS_FROM = 1.5;
const SAME_TESTS_SURELY = 0.95;
/** If trouble hits by chance, what fails passes again as often as other tests pass; this part of that is enough. */
const BY_CHANCE_MIN = 0.5;

/**
 * The tests of a run whose failures trouble explains. More runs that fail elsewhere never make it fewer.
 *
 * @param nearby all runs within {@link NEARBY_MS} of it; those with its origin, and of the default branch after it, tell
 *   nothing: the change may have been merged
 */
export function troubledTests(run: AskedRun, nearby: readonly NearbyRun[]): Set<string> {
  const { failedTests, passedAgain } = run;
  if (failedTests.size < TOGETHER_MIN) return new Set();
  const again = passedAgain?.size ?? 0;
  const isRerunTelling = again >= Math.max(TOGETHER_MIN, PASSED_AGAIN_MIN * failedTests.size);
  const explained = new Set(isRerunTelling ? passedAgain : []);
  const witnesses = nearby.flatMap((one) => witnessOf(run, one) ?? []);
  const origins = new Set(witnesses.map(({ origin }) => origin));
  for (const { origin, areSame, explains } of witnesses)
    if (origins.size >= ORIGINS_MIN || (origin === null && areSame)) for (const test of explains) explained.add(test);
  return explained;
}

/** A run that met the same trouble, and the failures that it explains; undefined for one that tells nothing. */
function witnessOf(
  { origin, startedAt, endedAt, share, failedTests, passedAgain }: AskedRun,
  one: NearbyRun,
): { origin: string | null; areSame: boolean; explains: ReadonlySet<string> } | undefined {
  if (one.startedAt > endedAt + NEARBY_MS || one.endedAt < startedAt - NEARBY_MS) return undefined;
  if (one.origin === null ? one.startedAt > endedAt : one.origin === origin) return undefined;
  const shared = one.failedTests.intersection(failedTests);
  if (shared.size < Math.max(TOGETHER_MIN, SHARED_MIN * failedTests.size)) return undefined;
  const otherShare = one.failed / Math.max(1, one.passed + one.failed);
  const sameFrom = Math.min(SAME_TESTS_SURELY, SAME_TESTS_FROM * otherShare) * failedTests.size;
  if (shared.size >= sameFrom) return { origin: one.origin, areSame: true, explains: shared };
  const passesByChance = BY_CHANCE_MIN * (1 - otherShare) * failedTests.size;
  const isByChance = share >= ALIKE_MIN * otherShare && (!passedAgain || passedAgain.size >= passesByChance);
  return isByChance ? { origin: one.origin, areSame: false, explains: failedTests } : undefined;
}
