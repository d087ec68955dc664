/**
 * What is known of a test now: one summary per identity (test, pipeline, CI job), kept up to date by the evaluation and
 * read by most insights. All of it follows from the retained executions on the default branch, in whatever order they
 * arrive; only the first failure outlives them.
 */
import { HEALTH_RECENT_DAYS } from './judgement-constants.ts';
import { monthOf } from './retention.ts';
import { type Health, type Status, worstHealth } from './status.ts';
import { DAY_MS } from './time.ts';

/** Ratios cover this many UTC days, the current one included. */
export const RATIO_DAYS = 30;

/** What the summary needs of one execution. */
export interface SummarisedExecution {
  executionId: bigint;
  status: Status;
  /** Milliseconds since the epoch. */
  finishedAt: number;
  framework: string;
  frameworkVersion: string;
  language: string;
  filepath: string;
  function: string;
}

/** How often an identity passed and failed on one UTC day (days since the epoch). */
export type DayCounts = readonly [day: number, passed: number, failed: number];

export interface IdentitySummary {
  /** Retained executions by month (YYYYMM), skipped ones included. */
  months: ReadonlyMap<number, number>;
  /** The days that a ratio can still ask for, in order. */
  days: readonly DayCounts[];
  /** Milliseconds since the epoch; null if it never happened, or only in months that have left. */
  lastSuccessAt: number | null;
  lastFailureAt: number | null;
  /** The execution that finished last; of several at the same time, the one with the greatest id. */
  newest: SummarisedExecution | null;
}

export const emptySummary: IdentitySummary = {
  months: new Map(),
  days: [],
  lastSuccessAt: null,
  lastFailureAt: null,
  newest: null,
};

/** Retained executions of the identity, skipped ones included. */
export const executionsOf = ({ months }: Pick<IdentitySummary, 'months'>): number =>
  [...months.values()].reduce((sum, count) => sum + count, 0);

/**
 * The worst health of the identities that ran within 14 days before the test's newest execution: a job that no longer
 * runs the test says nothing about it.
 */
export function healthOfTest(
  identities: readonly { health: Health; summary: Pick<IdentitySummary, 'lastSuccessAt' | 'lastFailureAt'> }[],
): Health {
  const judged = identities.flatMap(({ health, summary: { lastSuccessAt, lastFailureAt } }) => {
    if (lastSuccessAt === null && lastFailureAt === null) return [];
    return [{ health, newestAt: Math.max(lastSuccessAt ?? 0, lastFailureAt ?? 0) }];
  });
  const newestAt = Math.max(...judged.map((one) => one.newestAt));
  const recent = judged.filter((one) => one.newestAt > newestAt - HEALTH_RECENT_DAYS * DAY_MS);
  return worstHealth(recent.map(({ health }) => health));
}

/** The summary after some more executions, each of which it must not have counted before. */
export function addExecutions(summary: IdentitySummary, executions: readonly SummarisedExecution[]): IdentitySummary {
  const months = new Map(summary.months);
  const days = new Map(summary.days.map(([day, passed, failed]) => [day, { passed, failed }]));
  let { lastSuccessAt, lastFailureAt, newest } = summary;
  for (const execution of executions) {
    const { finishedAt, status } = execution;
    const month = monthOf(finishedAt);
    months.set(month, (months.get(month) ?? 0) + 1);
    if (newest === null || isLater(execution, newest)) newest = execution;
    if (status === 'skipped') continue;
    const day = Math.floor(finishedAt / DAY_MS);
    const counts = days.get(day) ?? { passed: 0, failed: 0 };
    days.set(day, counts);
    if (status === 'passed') {
      counts.passed++;
      lastSuccessAt = Math.max(lastSuccessAt ?? finishedAt, finishedAt);
    } else {
      counts.failed++;
      lastFailureAt = Math.max(lastFailureAt ?? finishedAt, finishedAt);
    }
  }
  if (newest !== null && newest !== summary.newest) newest = summarised(newest);
  return { months, days: newestDays(days), lastSuccessAt, lastFailureAt, newest };
}

/** Without what else is known of the execution. */
const summarised = (execution: SummarisedExecution): SummarisedExecution => ({
  executionId: execution.executionId,
  status: execution.status,
  finishedAt: execution.finishedAt,
  framework: execution.framework,
  frameworkVersion: execution.frameworkVersion,
  language: execution.language,
  filepath: execution.filepath,
  function: execution.function,
});

const isLater = (one: SummarisedExecution, other: SummarisedExecution): boolean =>
  one.finishedAt > other.finishedAt || (one.finishedAt === other.finishedAt && one.executionId > other.executionId);

/** Time does not go back, so what no ratio asks for on the newest day is never asked for again. */
function newestDays(days: ReadonlyMap<number, { passed: number; failed: number }>): DayCounts[] {
  const newest = Math.max(...days.keys());
  return [...days]
    .filter(([day]) => day > newest - RATIO_DAYS)
    .sort(([one], [other]) => one - other)
    .map(([day, { passed, failed }]) => [day, passed, failed] as const);
}

/** The summary without the executions of a month that leaves, and of every month before it. */
export function withoutMonth(summary: IdentitySummary, month: number): IdentitySummary {
  const isKept = (at: number | null): at is number => at !== null && monthOf(at) > month;
  return {
    months: new Map([...summary.months].filter(([other]) => other > month)),
    days: summary.days.filter(([day]) => monthOf(day * DAY_MS) > month),
    lastSuccessAt: isKept(summary.lastSuccessAt) ? summary.lastSuccessAt : null,
    lastFailureAt: isKept(summary.lastFailureAt) ? summary.lastFailureAt : null,
    newest: summary.newest !== null && isKept(summary.newest.finishedAt) ? summary.newest : null,
  };
}

/** Passes and failures of the ratio's days as of `now`. */
export function recentCounts(
  summaries: Iterable<Pick<IdentitySummary, 'days'>>,
  now: number,
): { passed: number; failed: number } {
  const first = firstRatioDay(now);
  let passed = 0;
  let failed = 0;
  for (const { days } of summaries)
    for (const [day, passes, failures] of days)
      if (day >= first) {
        passed += passes;
        failed += failures;
      }
  return { passed, failed };
}

/** The first UTC day (days since the epoch) that a ratio covers at `now`. */
export const firstRatioDay = (now: number): number => Math.floor(now / DAY_MS) - RATIO_DAYS + 1;

/** The newest execution of several identities. */
export function newestOf(summaries: Iterable<IdentitySummary>): SummarisedExecution | null {
  let found: SummarisedExecution | null = null;
  for (const { newest } of summaries) if (newest !== null && (found === null || isLater(newest, found))) found = newest;
  return found;
}

/** Flaky executions of the ratio's days as of `now`. */
export function recentFlaky(days: Iterable<readonly [day: number, executions: number]>, now: number): number {
  const first = firstRatioDay(now);
  let flaky = 0;
  for (const [day, executions] of days) if (day >= first) flaky += executions;
  return flaky;
}
