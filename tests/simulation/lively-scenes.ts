/** What happened lately in a lively repository, on top of its world, so that every page has something of today to show. */
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import type { Run, Trouble } from './history.ts';

/** Causes; `lively.ts` has their messages. */
export const CACHE_AWAY = 'cache away';
export const NEW_CONTRACT = 'new contract';
export const LATE_MAIL = 'late mail';

/** A test that fails for one cause, between two moments before the end of the history. */
interface Scene {
  test: number;
  begunMs: number;
  endedMs: number;
  message: string;
  /** How often it fails on the default branch, and elsewhere. */
  rate: number;
  pullRequestRate: number;
}

/** A test that was flaky for weeks and has passed ever since. */
export const RECOVERED_TEST = 8;
const RECOVERED_MS = 55 * DAY_MS;
/** A test that is flaky for a few days. */
export const NEWLY_FLAKY_TEST = 14;

/** Recovers this week. */
const RECOVERING_TEST = 46;
/** They do not use the cache. */
const WITHOUT_CACHE: ReadonlySet<number> = new Set([RECOVERED_TEST, RECOVERING_TEST]);

const SCENES: readonly Scene[] = [
  // Broken by what was merged last night, and still broken.
  { test: 33, begunMs: 20 * HOUR_MS, endedMs: 0, message: NEW_CONTRACT, rate: 1, pullRequestRate: 0.3 },
  { test: 21, begunMs: 6 * DAY_MS, endedMs: 3 * DAY_MS, message: NEW_CONTRACT, rate: 1, pullRequestRate: 0.3 },
  { test: NEWLY_FLAKY_TEST, begunMs: 6 * DAY_MS, endedMs: 0, message: LATE_MAIL, rate: 0.4, pullRequestRate: 0.2 },
  {
    test: RECOVERING_TEST,
    begunMs: 40 * DAY_MS,
    endedMs: 9 * DAY_MS,
    message: LATE_MAIL,
    rate: 0.5,
    pullRequestRate: 0.1,
  },
  {
    test: RECOVERED_TEST,
    begunMs: 82 * DAY_MS,
    endedMs: RECOVERED_MS,
    message: LATE_MAIL,
    rate: 0.5,
    pullRequestRate: 0.2,
  },
];

/** The cache was away for some hours, and most tests failed whatever the change was. */
const AWAY = { begunMs: 56 * HOUR_MS, endedMs: 52 * HOUR_MS, share: 0.9 };

/**
 * Runs with what happened lately.
 *
 * @param runs in order of time
 * @param random tells what fails
 */
export function withScenes(runs: readonly Run[], random: () => number): Run[] {
  const end = runs.at(-1)?.at ?? 0;
  return runs.map((run) => {
    const ago = end - run.at;
    const troubles = new Map<number, Trouble>(run.troubles);
    const ran = new Set(Array.from(run.identities));
    for (const { test, begunMs, endedMs, message, rate, pullRequestRate } of SCENES) {
      const isOn = ago <= begunMs && ago >= endedMs && ran.has(test);
      if (isOn && random() < (run.isDefaultBranch ? rate : pullRequestRate))
        troubles.set(test, { message, isPassedOnRetry: false });
    }
    if (ago <= AWAY.begunMs && ago >= AWAY.endedMs)
      for (const test of ran)
        if (!WITHOUT_CACHE.has(test) && random() < AWAY.share)
          troubles.set(test, { message: CACHE_AWAY, isPassedOnRetry: false });
    return { ...run, troubles };
  });
}
