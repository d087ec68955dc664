/**
 * The state of a test now: one summary per identity (test, pipeline, CI job), kept up to date by the evaluation and
 * read by most insights. All of it follows from the retained executions on the default branch, in whatever order they
 * arrive; only the first failure outlives them.
 */
import {
  addToDay,
  addToMonth,
  type DayCounts,
  type MonthCounts,
  NO_COUNTS,
  newestDays,
  totalOf,
} from './flat-counts.ts';
import { HEALTH_RECENT_DAYS } from './judgement-constants.ts';
import { RATIO_DAYS } from './ratio-window.ts';
import { monthOf } from './retention.ts';
import { type Health, type Status, worstHealth } from './status.ts';
import { DAY_MS, dayOf } from './time.ts';

/** A test that was only skipped for so many days says so beside its health, which is from before. */
export const SKIPPED_DAYS = 14;

/**
 * Facts that are shown of the newest execution of a test, in the order in which statements list them. Empty where unknown.
 */
export const NEWEST_FACTS = ['framework', 'frameworkVersion', 'language', 'filepath', 'function'] as const;
export type NewestFacts = Record<(typeof NEWEST_FACTS)[number], string>;

/** The fields of one execution that a summary needs. */
export interface SummarisedExecution extends NewestFacts {
  executionId: bigint;
  status: Status;
  /** Milliseconds since the epoch. */
  finishedAt: number;
}

export interface IdentitySummary {
  /** Retained executions, skipped ones included. */
  months: MonthCounts;
  /** How often it passed and failed on the UTC days that a ratio can still ask for. */
  days: DayCounts;
  /** Milliseconds since the epoch; null if it never happened, or only in months that have left. */
  lastSuccessAt: number | null;
  /** The newest execution with a failed attempt, also one that passed in the end: what failure groups count, too. */
  lastFailureAt: number | null;
  /** The execution that finished last; of several at the same time, the one with the greatest id. */
  newest: SummarisedExecution | null;
}

/** The summary of no executions. */
export const NOTHING_RAN: IdentitySummary = {
  months: NO_COUNTS,
  days: NO_COUNTS,
  lastSuccessAt: null,
  lastFailureAt: null,
  newest: null,
};

/** Retained executions of the identity, skipped ones included. */
export const executionsOf = ({ months }: Pick<IdentitySummary, 'months'>): number => totalOf(months);

/**
 * The identities on which the health of a test rests: those that ran within 14 days before its newest execution. A job that
 * no longer runs the test says nothing about it.
 */
export function countedIdentities<I extends { summary: Pick<IdentitySummary, 'lastSuccessAt' | 'lastFailureAt'> }>(
  identities: readonly I[],
): I[] {
  const judged = identities.flatMap((identity) => {
    const { lastSuccessAt, lastFailureAt } = identity.summary;
    if (lastSuccessAt === null && lastFailureAt === null) return [];
    return [{ identity, newestAt: Math.max(lastSuccessAt ?? 0, lastFailureAt ?? 0) }];
  });
  const newestAt = Math.max(...judged.map((one) => one.newestAt));
  return judged.flatMap((one) => (one.newestAt > newestAt - HEALTH_RECENT_DAYS * DAY_MS ? [one.identity] : []));
}

/** The worst health of the identities that count. */
export const healthOfTest = (
  identities: readonly { health: Health; summary: Pick<IdentitySummary, 'lastSuccessAt' | 'lastFailureAt'> }[],
): Health => worstHealth(countedIdentities(identities).map(({ health }) => health));

/**
 * The summary of some executions of an identity.
 *
 * @param newest the one that finished last
 */
export function summaryOf(
  executions: readonly (Pick<SummarisedExecution, 'status' | 'finishedAt'> & { hasFailures: boolean })[],
  newest: SummarisedExecution | null,
): IdentitySummary {
  const counts = new SummaryCounts();
  for (const { status, finishedAt, hasFailures } of executions) counts.add(status, finishedAt, hasFailures);
  return counts.summary(newest);
}

/** Counts executions one by one. */
class SummaryCounts {
  readonly #months: number[] = [];
  readonly #days: number[] = [];
  #lastSuccessAt: number | null = null;
  #lastFailureAt: number | null = null;

  /** @param finishedAt in milliseconds since the epoch. */
  add(status: Status, finishedAt: number, hasFailures: boolean): void {
    addToMonth(this.#months, monthOf(finishedAt), 1);
    if (hasFailures || status === 'failed') this.#lastFailureAt = later(this.#lastFailureAt, finishedAt);
    if (status === 'skipped') return;
    const hasPassed = status === 'passed';
    addToDay(this.#days, dayOf(finishedAt), hasPassed ? 1 : 0, hasPassed ? 0 : 1);
    if (hasPassed) this.#lastSuccessAt = later(this.#lastSuccessAt, finishedAt);
  }

  summary(newest: SummarisedExecution | null): IdentitySummary {
    return {
      months: this.#months,
      days: newestDays(this.#days, RATIO_DAYS),
      lastSuccessAt: this.#lastSuccessAt,
      lastFailureAt: this.#lastFailureAt,
      newest,
    };
  }
}

const later = (one: number | null, other: number | null): number | null =>
  one === null || (other !== null && other > one) ? other : one;

type Place = Pick<SummarisedExecution, 'finishedAt' | 'executionId'>;

/** Whether an execution finished after another; of two at the same time, the one with the greater id. */
export const isLater = (one: Place, other: Place): boolean =>
  one.finishedAt > other.finishedAt || (one.finishedAt === other.finishedAt && one.executionId > other.executionId);

/**
 * Since when a test is only skipped: when it last passed or failed, or first ran if it never did. Null if its newest
 * execution is no skipped one from {@link SKIPPED_DAYS} days later, or more. Says nothing about days without executions.
 */
export function skippedSince(
  identities: readonly { summary: IdentitySummary; firstExecutions: readonly number[] }[],
): number | null {
  const newest = newestOf(identities.map(({ summary }) => summary));
  if (newest?.status !== 'skipped') return null;
  const results = identities.flatMap(({ summary: { lastSuccessAt, lastFailureAt } }) => [
    ...(lastSuccessAt === null ? [] : [lastSuccessAt]),
    ...(lastFailureAt === null ? [] : [lastFailureAt]),
  ]);
  const since =
    results.length > 0 ? Math.max(...results) : Math.min(...identities.flatMap((one) => one.firstExecutions));
  return newest.finishedAt - since >= SKIPPED_DAYS * DAY_MS ? since : null;
}

/** The newest execution of several identities. */
export function newestOf(summaries: Iterable<IdentitySummary>): SummarisedExecution | null {
  let found: SummarisedExecution | null = null;
  for (const { newest } of summaries) if (newest !== null && (found === null || isLater(newest, found))) found = newest;
  return found;
}
