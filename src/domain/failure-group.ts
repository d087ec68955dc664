/**
 * A failure group: how often it occurred, when first and last, and the texts of its newest failure. All of it
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

/** The group of one failure. */
export const groupOf = (failure: GroupedFailure): FailureGroup => ({
  months: new Map([[monthOf(failure.failedAt), { failures: 1, firstAt: failure.failedAt }]]),
  newest: failure,
});

/** The group of the failures of both, none of which is in both. */
export function mergeGroups(one: FailureGroup | undefined, other: FailureGroup): FailureGroup {
  if (!one) return other;
  const months = new Map(one.months);
  for (const [month, { failures, firstAt }] of other.months) {
    const known = months.get(month);
    months.set(month, {
      failures: (known?.failures ?? 0) + failures,
      firstAt: Math.min(known?.firstAt ?? firstAt, firstAt),
    });
  }
  return { months, newest: isLater(other.newest, one.newest) ? other.newest : one.newest };
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
