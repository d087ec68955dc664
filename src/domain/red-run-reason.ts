/** Why a run was red: one reason for each failed test, and one for the run. Pure; docs/cost.md has the rule. */
import { isTroubledOffDefault } from './commit-verdict.ts';
import { episodeAt, type HealthStep } from './health-at.ts';
import { type Health, worstHealth } from './status.ts';

/** In the order in which a run takes the reason of its tests: the first that any of them has. */
export const RED_REASONS = ['infrastructure', 'change', 'broken', 'flaky'] as const;
export type RedReason = (typeof RED_REASONS)[number];

export interface RunToExplain {
  isOnDefault: boolean;
  /** As the evaluation has judged it; runs off the default branch are not judged. */
  isJudgedTroubled: boolean;
  /** Executions that passed. */
  passed: number;
  /** When it ended; milliseconds since the epoch. */
  endedAt: number;
  /** Failed tests; at least one. */
  tests: readonly string[];
  /** Those of them that failed in every run of the leg on this commit. */
  alwaysFailed: ReadonlySet<string>;
}

/** The health of a test on the default branch at some moment: the worst of its legs. */
export type HealthThen = (testId: string, moment: number) => Health;

/**
 * - `infrastructure`: the run is troubled: so much failed in it that it explains its failures.
 * - `change`: a test failed that was healthy on the default branch, and never passed on this commit.
 * - `broken`: every failed test was unhealthy or passed on the same commit, and one was broken.
 * - `flaky`: every failed test was flaky, or passed on the same commit.
 */
export function reasonOf(run: RunToExplain, healthThen: HealthThen): RedReason {
  const healths = run.tests.map((testId) => healthThen(testId, run.endedAt));
  const failedHealthy = healths.filter((health) => health === 'healthy').length;
  const isTroubled = run.isOnDefault
    ? run.isJudgedTroubled
    : isTroubledOffDefault({ passed: run.passed, failedHealthy, healthyTests: failedHealthy });
  if (isTroubled) return 'infrastructure';
  const reasons = run.tests.map((testId, i): RedReason => {
    if (healths[i] === 'broken') return 'broken';
    return healths[i] === 'flaky' || !run.alwaysFailed.has(testId) ? 'flaky' : 'change';
  });
  return RED_REASONS.find((reason) => reasons.includes(reason)) ?? 'change';
}

/** What is stored of the legs of tests: by leg, when its health changed, and what it is now. */
export interface LegHealth {
  steps: readonly HealthStep[];
  now: Health;
}

export const healthThenOf =
  (legs: ReadonlyMap<string, readonly LegHealth[]>): HealthThen =>
  (testId, moment) =>
    worstHealth((legs.get(testId) ?? []).map(({ steps, now }) => episodeAt(steps, moment, now).health));
