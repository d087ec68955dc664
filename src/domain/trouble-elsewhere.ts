/**
 * Trouble that others met, or that was gone when the job ran again: what explains failures of a run off the default branch of
 * which only a part failed. A change may break a third of the tests, but others do not fail in the same way at the time, and
 * what it breaks does not pass on the next attempt. What only this change shows stays its own doing, however much else fails
 * in its run: so a doubt never excuses a failure. Pure.
 */
import { HOUR_MS } from './time.ts';

/** A failed test of a run that was healthy on the default branch, with the ways in which it failed. */
export interface AskedFailure {
  testId: string;
  /** Failure groups, which are those of this test alone. */
  groups: readonly string[];
  /** What its failures may share with those of other tests: exception type and message, without what differs by run. */
  messages: readonly string[];
  /** In another attempt of the same leg on the same commit. */
  hasPassedAgain: boolean;
}

/** The origin of runs of the default branch. */
export const DEFAULT_BRANCH_ORIGIN = 'default branch';

/**
 * What failed on other commits at the time. An origin is a change, or the default branch: pull requests of one author, or built
 * on one another, are one origin, and that of the asked run is left out.
 */
export interface Elsewhere {
  /** Origins with a run within {@link NEARBY_MS}. */
  origins: number;
  /** By failure group: the origins that had it within {@link SAME_FAILURE_MS}. */
  groups: ReadonlyMap<string, ReadonlySet<string>>;
  /** By message: the origins that had it within {@link NEARBY_MS} in tests healthy on the default branch, and these tests. */
  messages: ReadonlyMap<string, { origins: ReadonlySet<string>; tests: ReadonlySet<string> }>;
}

export const NOTHING_ELSEWHERE: Elsewhere = { origins: 0, groups: new Map(), messages: new Map() };

/**
 * - `run`: nearly everything failed in its run.
 * - `same_failures`: it and other tests of the run failed in the same way for others.
 * - `same_message`: other tests failed with the same message for others.
 * - `rerun`: nearly all that failed in the run passed when the job ran again.
 */
export const TROUBLE_SIGNS = ['run', 'same_failures', 'same_message', 'rerun'] as const;

/** What shows that trouble explains a failure. */
export interface Trouble {
  sign: (typeof TROUBLE_SIGNS)[number];
  /** Other changes that show it. */
  changes: number;
  isOnDefaultBranch: boolean;
}

/** How far from a run other tests with the same message show the same trouble. */
export const NEARBY_MS = HOUR_MS;
/** And the same tests with the same message: a runner may be bad all day, and hits each test rarely. */
export const SAME_FAILURE_MS = 12 * HOUR_MS;
/** One may have copied the fault of the other; two are independent witnesses. */
const ORIGINS_MIN = 2;
/** So many tests must fail like that: what fails alone on many pull requests is more likely a fault that many make. */
const TOGETHER_MIN = 5;
/** A message that other tests show may be one that any fault gives, such as `expected true`: that asks for more witnesses. */
const MESSAGE_ORIGINS_MIN = 3;
const MESSAGE_SHARE_MIN = 0.25;
/**
 * Nearly all that failed passes when the job runs again: trouble is over at once, while of the tests that a change made
 * unreliable some fail again. Where others show no trouble, it takes more tests to tell.
 */
const PASSED_AGAIN_SHARE_MIN = 0.9;
const PASSED_AGAIN_MIN = 10;

/** What explains failures of a run, by test. More failures elsewhere never explain fewer. */
export function troublesOf(failures: readonly AskedFailure[], elsewhere: Elsewhere): Map<string, Trouble> {
  const found = new Map<string, Trouble>();
  for (const { testId, messages } of failures) {
    const seen = messages.map((message) => elsewhere.messages.get(message));
    if (seen.length > 0 && seen.every((one) => isSign(one, elsewhere)))
      found.set(testId, shownBy('same_message', fewest(seen.map((one) => one?.origins))));
  }
  const same = failures.flatMap(({ testId, groups }) => {
    const origins = fewest(groups.map((group) => elsewhere.groups.get(group)));
    return origins.size >= ORIGINS_MIN ? [{ testId, origins }] : [];
  });
  if (same.length >= TOGETHER_MIN)
    for (const { testId, origins } of same) found.set(testId, shownBy('same_failures', origins));
  const again = failures.filter(({ hasPassedAgain }) => hasPassedAgain);
  const isTelling = again.length >= PASSED_AGAIN_SHARE_MIN * failures.length;
  if (isTelling && (again.length >= PASSED_AGAIN_MIN || found.size > 0))
    for (const { testId } of again) if (!found.has(testId)) found.set(testId, shownBy('rerun', new Set()));
  return found;
}

const isSign = (
  seen: { origins: ReadonlySet<string>; tests: ReadonlySet<string> } | undefined,
  { origins }: Elsewhere,
): boolean =>
  seen !== undefined &&
  seen.tests.size >= TOGETHER_MIN &&
  seen.origins.size >= Math.max(MESSAGE_ORIGINS_MIN, MESSAGE_SHARE_MIN * origins);

/** A test may have failed in several ways: each must have been seen elsewhere. */
function fewest(sets: readonly (ReadonlySet<string> | undefined)[]): ReadonlySet<string> {
  const [first = new Set<string>(), ...others] = sets;
  return others.reduce<ReadonlySet<string>>((one, other = new Set()) => (other.size < one.size ? other : one), first);
}

const shownBy = (sign: Trouble['sign'], origins: ReadonlySet<string>): Trouble => ({
  sign,
  changes: origins.size - (origins.has(DEFAULT_BRANCH_ORIGIN) ? 1 : 0),
  isOnDefaultBranch: origins.has(DEFAULT_BRANCH_ORIGIN),
});
