/**
 * The health of one identity (test, pipeline, CI job): a fold over its executions on the default branch, in order of
 * finishing. It starts healthy:
 *
 * - any —flaky execution→ flaky
 * - healthy —failed→ broken
 * - broken —two passing runs in a row→ healthy
 * - flaky —n clean passes in a row over at least three days→ healthy
 * - flaky —failed on three commits in a row without a pass→ broken
 *
 * Neither skipped executions nor silence change anything. The fold can be stopped anywhere and continued later: its
 * state is plain data.
 */
import { attemptOf, type JudgedExecution } from './execution.ts';
import {
  BROKEN_RECOVERY_RUNS,
  CLEAN_PASSES_MAX,
  CLEAN_PASSES_MIN,
  FAILURE_SHARE_DAYS,
  FAILURE_SHARE_MAX,
  FAILURE_SHARE_MIN,
  FLAKY_RECOVERY_MS_MIN,
  FLAKY_TO_BROKEN_COMMITS,
  LUCK_PROBABILITY_MAX,
} from './judgement-constants.ts';
import type { Health } from './status.ts';
import { DAY_MS } from './time.ts';

/** What decides on health, by the names of the constants. Only a backtest changes them. */
export const HEALTH_CONSTANTS = {
  FLAKY_TO_BROKEN_COMMITS,
  BROKEN_RECOVERY_RUNS,
  FLAKY_RECOVERY_MS_MIN,
  LUCK_PROBABILITY_MAX,
  CLEAN_PASSES_MIN,
  CLEAN_PASSES_MAX,
} as const;
export type HealthConstant = keyof typeof HEALTH_CONSTANTS;
export type HealthConstants = Readonly<Record<HealthConstant, number>>;

/** What the fold remembers between two executions. */
export interface HealthState {
  health: Health;
  /** Attempts that passed since the last failure; no more than a recovery needs. */
  passingRuns: string[];
  /** Commits that failed since the last pass, without flaky failures; no more than the rule needs. */
  failingCommits: string[];
  /** Passes in a row that were not flaky, and when the first of them finished. */
  cleanPasses: number;
  cleanSince: number;
  /** How many clean passes rule out luck, as of the last failure. */
  cleanPassesNeeded: number;
  /** Executions and failures by UTC day (days since the epoch), for the failure share. */
  days: [day: number, executions: number, failures: number][];
}

export const healthyState = (constants: HealthConstants = HEALTH_CONSTANTS): HealthState => ({
  health: 'healthy',
  passingRuns: [],
  failingCommits: [],
  cleanPasses: 0,
  cleanSince: 0,
  cleanPassesNeeded: constants.CLEAN_PASSES_MIN,
  days: [],
});

/**
 * How many clean passes in a row rule out luck for a test that fails with probability p: the smallest n with
 * (1 − p)^n ≤ {@link LUCK_PROBABILITY_MAX}, within bounds.
 */
export function cleanPassesNeeded(
  failures: number,
  executions: number,
  constants: HealthConstants = HEALTH_CONSTANTS,
): number {
  const share = executions === 0 ? 0 : failures / executions;
  const p = Math.min(Math.max(share, FAILURE_SHARE_MIN), FAILURE_SHARE_MAX);
  const n = Math.ceil(Math.log(constants.LUCK_PROBABILITY_MAX) / Math.log(1 - p));
  return Math.min(Math.max(n, constants.CLEAN_PASSES_MIN), constants.CLEAN_PASSES_MAX);
}

/** The state after one more execution. `isFlaky` is the verdict on it (flakiness.ts). Does not change `state`. */
export function foldHealth(
  state: HealthState,
  execution: JudgedExecution,
  isFlaky: boolean,
  constants: HealthConstants = HEALTH_CONSTANTS,
): HealthState {
  if (execution.status === 'skipped') return state;
  const isFailed = execution.status === 'failed';
  const days = countDay(state.days, execution.finishedAt, isFailed || isFlaky);
  const next: HealthState =
    isFailed || isFlaky
      ? afterTrouble(state, execution, { isFlaky, days, constants })
      : afterPass(state, execution, { days, constants });
  return { ...next, health: transition(state.health, next, execution, { isFlaky, constants }) };
}

/** The rule by which an execution changed the health, in words: one of the five at the top of this file. */
export function healthRule(before: Health, after: Health): string {
  if (after === 'flaky') return 'a flaky execution';
  if (after === 'broken')
    return before === 'flaky' ? `failed on ${FLAKY_TO_BROKEN_COMMITS} commits in a row without a pass` : 'failed';
  return before === 'broken'
    ? `${BROKEN_RECOVERY_RUNS} passing runs in a row`
    : `enough clean passes in a row over at least ${FLAKY_RECOVERY_MS_MIN / DAY_MS} days`;
}

function afterTrouble(
  state: HealthState,
  execution: JudgedExecution,
  { isFlaky, days, constants }: { isFlaky: boolean; days: HealthState['days']; constants: HealthConstants },
): HealthState {
  const executions = days.reduce((sum, [, all]) => sum + all, 0);
  const failures = days.reduce((sum, [, , bad]) => sum + bad, 0);
  return {
    health: state.health,
    passingRuns: [],
    failingCommits: isFlaky
      ? []
      : withDistinct(state.failingCommits, execution.commit, constants.FLAKY_TO_BROKEN_COMMITS),
    cleanPasses: 0,
    cleanSince: 0,
    cleanPassesNeeded: cleanPassesNeeded(failures, executions, constants),
    days,
  };
}

function afterPass(
  state: HealthState,
  execution: JudgedExecution,
  { days, constants }: { days: HealthState['days']; constants: HealthConstants },
): HealthState {
  return {
    ...state,
    passingRuns: withDistinct(state.passingRuns, attemptOf(execution), constants.BROKEN_RECOVERY_RUNS),
    failingCommits: [],
    cleanPasses: state.cleanPasses + 1,
    cleanSince: state.cleanPasses === 0 ? execution.finishedAt : state.cleanSince,
    days,
  };
}

function transition(
  before: Health,
  next: HealthState,
  execution: JudgedExecution,
  { isFlaky, constants }: { isFlaky: boolean; constants: HealthConstants },
): Health {
  if (isFlaky) return 'flaky';
  if (before === 'healthy') return execution.status === 'failed' ? 'broken' : 'healthy';
  if (before === 'broken') return next.passingRuns.length >= constants.BROKEN_RECOVERY_RUNS ? 'healthy' : 'broken';
  if (next.failingCommits.length >= constants.FLAKY_TO_BROKEN_COMMITS) return 'broken';
  const isLongEnough = execution.finishedAt - next.cleanSince >= constants.FLAKY_RECOVERY_MS_MIN;
  return next.cleanPasses >= next.cleanPassesNeeded && isLongEnough ? 'healthy' : 'flaky';
}

/** Unknown (empty) values do not count. */
function withDistinct(values: string[], value: string, most: number): string[] {
  if (value === '' || values.length >= most || values.includes(value)) return values;
  return [...values, value];
}

/** Counts one execution on its day, and drops days that no failure share looks at any more. */
function countDay(days: HealthState['days'], finishedAt: number, isTrouble: boolean): HealthState['days'] {
  const day = Math.floor(finishedAt / DAY_MS);
  const kept = days.filter(([other]) => other > day - FAILURE_SHARE_DAYS && other !== day);
  const today = days.find(([other]) => other === day) ?? [day, 0, 0];
  return [...kept, [day, today[1] + 1, today[2] + (isTrouble ? 1 : 0)]];
}
