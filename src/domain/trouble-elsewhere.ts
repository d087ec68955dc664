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
  /** The tests that failed in it, and were healthy on the default branch. */
  failedTests: ReadonlySet<string>;
  /** Those of them that passed in another attempt of the same leg on the same commit. */
  passedAgain: ReadonlySet<string>;
}

/** How far from the run others tell of the same trouble. */
export const NEARBY_MS = HOUR_MS;
/** With fewer, the change may as well have broken them. */
export const TOGETHER_MIN = 3;
/** The least part of the failed tests that a witness shares, or that passed again. */
const SHARED_MIN = 0.15;
const PASSED_AGAIN_MIN = 0.5;
/** A default branch that fails alike is enough. Of other changes it takes two: one may be based on the other. */
const CHANGES_MIN = 2;
/** Trouble that hits so much of a run hits it at random: then it also explains what failed in no other run. */
const AT_RANDOM_FROM = 0.3;

/**
 * The tests of a run whose failures trouble explains. More failures elsewhere never make it fewer.
 *
 * @param nearby all runs within {@link NEARBY_MS} of it; those of its own origin, and of the default branch after it, tell
 *   nothing: the change may have been merged
 */
export function troubledTests(run: AskedRun, nearby: readonly NearbyRun[]): Set<string> {
  const { failedTests, passedAgain } = run;
  if (failedTests.size < TOGETHER_MIN) return new Set();
  const isRerunTelling = passedAgain.size >= Math.max(TOGETHER_MIN, PASSED_AGAIN_MIN * failedTests.size);
  const explained = new Set(isRerunTelling ? passedAgain : []);
  const witnesses = witnessesOf(run, nearby);
  const changes = new Set(witnesses.flatMap(({ origin }) => (origin === null ? [] : [origin])));
  if (changes.size < CHANGES_MIN && witnesses.every(({ origin }) => origin !== null)) return explained;
  const isAtRandom = witnesses.some(({ passed, failed }) => failed >= AT_RANDOM_FROM * (passed + failed));
  for (const test of failedTests)
    if (isAtRandom || witnesses.some((one) => one.failedTests.has(test))) explained.add(test);
  return explained;
}

function witnessesOf(run: AskedRun, nearby: readonly NearbyRun[]): NearbyRun[] {
  const { origin, startedAt, endedAt, failedTests } = run;
  const least = Math.max(TOGETHER_MIN, SHARED_MIN * failedTests.size);
  const near = nearby.filter((one) => one.startedAt <= endedAt + NEARBY_MS && one.endedAt >= startedAt - NEARBY_MS);
  return near.filter((one) => {
    if (one.origin === null ? one.startedAt > endedAt : one.origin === origin) return false;
    return one.failedTests.intersection(failedTests).size >= least;
  });
}
