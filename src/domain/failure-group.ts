/**
 * What is known of a failure group: how often it occurred, when first and last, and the texts of its newest failure. It
 * follows from the retained failures, in whatever order they arrive.
 */
import { monthOf } from './retention.ts';

export interface GroupedFailure {
  /** Milliseconds since the epoch. */
  failedAt: number;
  executionId: bigint;
  attempt: number;
  exceptionType: string;
  exceptionMessage: string;
}

export interface FailureGroup {
  /** By month (YYYYMM): how many failures, and when the first of them happened. */
  months: ReadonlyMap<number, { failures: number; firstAt: number }>;
  /** The newest failure; of several at the same time, the one of the greatest execution and attempt. */
  newest: GroupedFailure;
}

/** The group after some more failures, each of which it must not have counted before. */
export function addFailures(group: FailureGroup | undefined, failures: readonly GroupedFailure[]): FailureGroup {
  const months = new Map(group?.months);
  let newest = group?.newest;
  for (const failure of failures) {
    const month = monthOf(failure.failedAt);
    const known = months.get(month);
    months.set(month, {
      failures: (known?.failures ?? 0) + 1,
      firstAt: Math.min(known?.firstAt ?? failure.failedAt, failure.failedAt),
    });
    if (newest === undefined || isLater(failure, newest)) newest = failure;
  }
  if (newest === undefined) throw new RangeError('a failure group has at least one failure');
  return { months, newest };
}

const isLater = (one: GroupedFailure, other: GroupedFailure): boolean =>
  one.failedAt !== other.failedAt
    ? one.failedAt > other.failedAt
    : one.executionId !== other.executionId
      ? one.executionId > other.executionId
      : one.attempt > other.attempt;

/** The group without a month that leaves and every month before it; undefined when nothing is left of it. */
export function withoutGroupMonth({ months, newest }: FailureGroup, month: number): FailureGroup | undefined {
  const kept = new Map([...months].filter(([other]) => other > month));
  return kept.size === 0 ? undefined : { months: kept, newest };
}

/** How many failures the group has, and when the first of them happened. */
export function totalsOf({ months }: Pick<FailureGroup, 'months'>): { failures: number; firstAt: number } {
  let failures = 0;
  let firstAt = Number.MAX_SAFE_INTEGER;
  for (const month of months.values()) {
    failures += month.failures;
    firstAt = Math.min(firstAt, month.firstAt);
  }
  return { failures, firstAt };
}
