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
  /** Exception type and message of its failures, without what differs by run: other tests may share them. */
  messages: readonly string[];
  /** In another attempt of the same leg on the same commit. */
  hasPassedAgain: boolean;
}

/** Runs of the default branch count as one change. */
export const DEFAULT_BRANCH_CHANGE = 'default branch';

/**
 * The failures on other commits at the time, by change: pull requests of one author, or built on one another, are one change,
 * and so is the default branch (changes.ts). The change of the asked run is left out.
 */
export interface Elsewhere {
  /** All that ran. */
  changes: NearAndFar;
  /** By failure group: those that had it. */
  groups: ReadonlyMap<string, NearAndFar>;
  /** By message: the changes that had it within {@link NEARBY_MS} in tests healthy on the default branch, and these tests. */
  messages: ReadonlyMap<string, { changes: ReadonlySet<string>; tests: ReadonlySet<string> }>;
}

/** Changes within {@link NEARBY_MS}, and within {@link SAME_FAILURE_MS}. */
export interface NearAndFar {
  near: ReadonlySet<string>;
  far: ReadonlySet<string>;
}

const NO_ONE: NearAndFar = { near: new Set(), far: new Set() };
export const NOTHING_ELSEWHERE: Elsewhere = { changes: NO_ONE, groups: new Map(), messages: new Map() };

/**
 * - `run`: nearly everything failed in its run.
 * - `same_failures`: it and other tests of the run failed in the same way for others.
 * - `same_message`: other tests failed with the same message for others.
 * - `rerun`: nearly all that failed in the run passed when the job ran again.
 */
export const TROUBLE_SIGNS = ['run', 'same_failures', 'same_message', 'rerun'] as const;

/** The sign that trouble explains a failure. */
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
const CHANGES_MIN = 2;
/**
 * Trouble hits this part of those that run meanwhile. A fault that a few copied from each other, unknown to the service, does not.
 */
const NEAR_SHARE_MIN = 0.2;
const FAR_SHARE_MIN = 0.1;
/** And of those that it hit, this part fail in each test: fewer have something else in common, such as a fault they copied. */
const TEST_SHARE_MIN = 0.15;
/** So many tests must fail like that: what fails alone on many pull requests is more likely a fault that many make. */
const TOGETHER_MIN = 5;
/** A message that other tests show may be one that any fault gives, such as `expected true`: that asks for more witnesses. */
const MESSAGE_CHANGES_MIN = 3;
const MESSAGE_SHARE_MIN = 0.25;
/**
 * Nearly all that failed passes when the job runs again: trouble is over at once, while of the tests that a change made
 * unreliable some fail again. Where others show no trouble, it takes more tests to tell.
 */
const PASSED_AGAIN_SHARE_MIN = 0.9;
const PASSED_AGAIN_MIN = 10;

/** The trouble that explains failures of a run, by test. */
export function troublesOf(failures: readonly AskedFailure[], elsewhere: Elsewhere): Map<string, Trouble> {
  const found = new Map<string, Trouble>();
  for (const { testId, messages } of failures) {
    const seen = messages.map((message) => elsewhere.messages.get(message));
    if (seen.length > 0 && seen.every((one) => isSign(one, elsewhere)))
      found.set(testId, shownBy('same_message', common(seen.map((one) => one?.changes ?? NO_ONE.near))));
  }
  for (const [testId, changes] of sameFailures(failures, elsewhere))
    found.set(testId, shownBy('same_failures', changes));
  const again = failures.filter(({ hasPassedAgain }) => hasPassedAgain);
  const isTelling = again.length >= PASSED_AGAIN_SHARE_MIN * failures.length;
  if (isTelling && (again.length >= PASSED_AGAIN_MIN || found.size > 0))
    for (const { testId } of again) if (!found.has(testId)) found.set(testId, shownBy('rerun', new Set()));
  return found;
}

/** The changes that had the same failures, by test. */
function sameFailures(
  failures: readonly AskedFailure[],
  { changes, groups }: Elsewhere,
): Map<string, ReadonlySet<string>> {
  const same = new Map<string, ReadonlySet<string>>();
  const shared = { near: new Map<string, number>(), far: new Map<string, number>() };
  for (const { testId, groups: own } of failures) {
    const seen = own.map((group) => groups.get(group) ?? NO_ONE);
    const witnesses = common(seen.map(({ far }) => far));
    if (witnesses.size < CHANGES_MIN) continue;
    same.set(testId, witnesses);
    for (const one of witnesses) shared.far.set(one, (shared.far.get(one) ?? 0) + 1);
    for (const one of common(seen.map(({ near }) => near))) shared.near.set(one, (shared.near.get(one) ?? 0) + 1);
  }
  const hit = (counts: ReadonlyMap<string, number>): number =>
    counts
      .values()
      .filter((count) => count >= TOGETHER_MIN)
      .toArray().length;
  const far = hit(shared.far);
  const isTrouble =
    hit(shared.near) >= Math.max(CHANGES_MIN, NEAR_SHARE_MIN * changes.near.size) ||
    far >= Math.max(CHANGES_MIN, FAR_SHARE_MIN * changes.far.size);
  if (!isTrouble) return new Map();
  const ofTrouble = [...same].filter(([, witnesses]) => witnesses.size >= TEST_SHARE_MIN * far);
  return new Map(ofTrouble.length >= TOGETHER_MIN ? ofTrouble : []);
}

const isSign = (
  seen: { changes: ReadonlySet<string>; tests: ReadonlySet<string> } | undefined,
  { changes }: Elsewhere,
): boolean =>
  seen !== undefined &&
  seen.tests.size >= TOGETHER_MIN &&
  seen.changes.size >= Math.max(MESSAGE_CHANGES_MIN, MESSAGE_SHARE_MIN * changes.near.size);

/** A test may have failed in several ways: others must have seen each. */
const common = (sets: readonly ReadonlySet<string>[]): ReadonlySet<string> =>
  sets.length === 0 ? NO_ONE.far : sets.reduce((one, other) => one.intersection(other));

const shownBy = (sign: Trouble['sign'], changes: ReadonlySet<string>): Trouble => ({
  sign,
  changes: changes.size - (changes.has(DEFAULT_BRANCH_CHANGE) ? 1 : 0),
  isOnDefaultBranch: changes.has(DEFAULT_BRANCH_CHANGE),
});
