/**
 * How many tests of a repository are in which health, and how often they failed, day by day. It follows from what is kept
 * of each identity (test, pipeline, CI job): its counts by day, its health now, and when that changed. Pure.
 */
import { type DayCounts, endOfDays, forEachDay } from './flat-counts.ts';
import { HEALTH_RECENT_DAYS } from './judgement-constants.ts';
import { HEALTHS, type Health, worstHealth } from './status.ts';
import { DAY_MS, dayOf } from './time.ts';

/**
 * UTC days of a series, the current one included. With the {@link HEALTH_RECENT_DAYS} that the first of them looks
 * back, they stay within the 30 days that summaries count.
 */
export const SERIES_DAYS = 14;

/** The first UTC day of the series at `now`; days since the epoch. */
export const firstDayOf = (now: number): number => dayOf(now) - SERIES_DAYS + 1;

/** The first moment of the series at `now`; milliseconds since the epoch. */
export const seriesStart = (now: number): number => firstDayOf(now) * DAY_MS;

export interface IdentityDays {
  days: DayCounts;
  /** Now. */
  health: Health;
  /** When it last failed on its own (activity.ts); milliseconds since the epoch, 0 for never. */
  ownFailureAt: number;
  /** Its changes, in order of time, at least since the first of the days that are counted; milliseconds since the epoch. */
  changes: readonly { at: number; before: Health }[];
}

export interface DayTotals {
  /**
   * Tests that passed or failed in the {@link HEALTH_RECENT_DAYS} days up to this one, by their health at its end: the
   * worst of the identities that did. What no longer runs says nothing about the repository.
   */
  healths: Record<Health, number>;
  /** Failed executions on this day. */
  failures: number;
}

export interface RepositoryDay extends DayTotals {
  /** Milliseconds since the epoch. */
  start: number;
}

/** How many tests there are now; each counts once, in the worst health of its identities. */
export interface TestCounts {
  tests: number;
  flaky: number;
  broken: number;
  /** Flaky tests by the UTC day on which they last failed on their own (days since the epoch): day, tests, day, … in order. */
  flakyDays: number[];
}

/** Adds tests up, one by one. */
export class RepositoryTotals {
  readonly #counts = { tests: 0, flaky: 0, broken: 0 };
  readonly #flakyDays = new Map<number, number>();
  readonly #days = new Map<number, DayTotals>();

  /** @param firstDay the first day to count; days since the epoch. Without it, every day that a test was counted on */
  constructor(private readonly firstDay = Number.NEGATIVE_INFINITY) {}

  /** @param identities all of one test */
  add(identities: readonly IdentityDays[]): void {
    if (identities.length === 0) return;
    const now = worstHealth(identities.map(({ health }) => health));
    this.#counts.tests++;
    if (now !== 'healthy') this.#counts[now]++;
    if (now === 'flaky') this.#addFlaky(identities);
    for (const { days } of identities)
      forEachDay(days, (day, _, failures) => {
        if (failures > 0 && day >= this.firstDay) this.#at(day).failures += failures;
      });
    const span = spanOf(identities, this.firstDay);
    for (const [i, mark] of healthsIn(span, identities).entries()) {
      const health = HEALTHS[mark - 1];
      if (health) this.#at(span.first + i).healths[health]++;
    }
  }

  #addFlaky(identities: readonly IdentityDays[]): void {
    const flaky = identities.filter(({ health }) => health === 'flaky');
    const day = dayOf(Math.max(...flaky.map(({ ownFailureAt }) => ownFailureAt)));
    this.#flakyDays.set(day, (this.#flakyDays.get(day) ?? 0) + 1);
  }

  get counts(): TestCounts {
    return { ...this.#counts, flakyDays: [...this.#flakyDays].sort(([one], [other]) => one - other).flat() };
  }

  /** Every day with a number other than zero, in order. */
  get days(): [day: number, totals: DayTotals][] {
    return [...this.#days].sort(([one], [other]) => one - other);
  }

  #at(day: number): DayTotals {
    let totals = this.#days.get(day);
    if (!totals) {
      totals = noTotals();
      this.#days.set(day, totals);
    }
    return totals;
  }
}

/** The series of days that ends at `now`; a day without totals is zero. */
export function seriesOf(days: Iterable<readonly [day: number, totals: DayTotals]>, now: number): RepositoryDay[] {
  const known = new Map(days);
  return Array.from({ length: SERIES_DAYS }, (_, i) => {
    const day = firstDayOf(now) + i;
    return { start: day * DAY_MS, ...(known.get(day) ?? noTotals()) };
  });
}

/** Failed executions on each day of the series at `now`, the current one last. */
export function failuresByDay(days: DayCounts, now: number): number[] {
  const first = firstDayOf(now);
  const failures = new Array<number>(SERIES_DAYS).fill(0);
  forEachDay(days, (day, _, failed) => {
    if (day >= first && day < first + SERIES_DAYS) failures[day - first] = failed;
  });
  return failures;
}

/** Days since the epoch. */
interface Span {
  first: number;
  /** The first day after it; not after `first` if it is empty. */
  end: number;
}

/** The days on which any of these identities can count, from a first one on. */
function spanOf(identities: readonly IdentityDays[], firstDay: number): Span {
  let [first, end] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { days } of identities) {
    first = Math.min(first, days[0] ?? first);
    end = Math.max(end, (endOfDays(days) ?? end) + HEALTH_RECENT_DAYS - 1);
  }
  return { first: Math.max(first, firstDay), end };
}

/** The health of a test on each day of a span: 0 on which it does not count, else one more than its place in `HEALTHS`. */
function healthsIn(span: Span, identities: readonly IdentityDays[]): Uint8Array {
  const worst = new Uint8Array(Math.max(0, span.end - span.first));
  for (const identity of identities) markHealth(worst, span.first, identity);
  return worst;
}

/** Marks the health of an identity at the end of each day on which it counts: those on which it ran, and some after each. */
function markHealth(worst: Uint8Array, first: number, { days, health, changes }: IdentityDays): void {
  const now = HEALTHS.indexOf(health) + 1;
  let next = 0;
  let change = changes[0];
  let unmarked = first;
  forEachDay(days, (ran) => {
    const end = ran + HEALTH_RECENT_DAYS;
    for (let day = Math.max(ran, unmarked); day < end; day++) {
      while (change && change.at < (day + 1) * DAY_MS) change = changes[++next];
      const mark = change ? HEALTHS.indexOf(change.before) + 1 : now;
      if (mark > (worst[day - first] ?? 0)) worst[day - first] = mark;
    }
    unmarked = Math.max(unmarked, end);
  });
}

const noTotals = (): DayTotals => ({ healths: { healthy: 0, flaky: 0, broken: 0 }, failures: 0 });
