/**
 * How many tests of a repository were in which health, and how often they failed, day by day. It follows from what is
 * kept of each identity (test, pipeline, CI job): its counts by day, its health now, and when that changed. Pure.
 */
import { HEALTH_RECENT_DAYS } from './judgement-constants.ts';
import { type Health, worstHealth } from './status.ts';
import type { DayCounts } from './test-state.ts';
import { DAY_MS } from './time.ts';

/**
 * UTC days of a series, the current one included. With the {@link HEALTH_RECENT_DAYS} that the first of them looks
 * back, they stay within the 30 days that summaries count.
 */
export const SERIES_DAYS = 14;

/** The first moment of the series at `now`; milliseconds since the epoch. */
export const seriesStart = (now: number): number => firstDay(now) * DAY_MS;

export interface IdentityDays {
  days: readonly DayCounts[];
  /** Now. */
  health: Health;
  /** Its changes since the start of the series, in order of time; milliseconds since the epoch. */
  changes: readonly { at: number; before: Health }[];
}

export interface RepositoryDay {
  /** Milliseconds since the epoch. */
  start: number;
  /**
   * Tests that passed or failed in the {@link HEALTH_RECENT_DAYS} days up to this one, by their health at its end: the
   * worst of the identities that did. What no longer runs says nothing about the repository.
   */
  healths: Record<Health, number>;
  /** Failed executions on this day. */
  failures: number;
}

/** Adds tests up, one by one. */
export class RepositoryDays {
  readonly days: readonly RepositoryDay[];
  readonly #first: number;

  /** @param now in milliseconds since the epoch; the series ends with its UTC day */
  constructor(now: number) {
    this.#first = firstDay(now);
    this.days = Array.from({ length: SERIES_DAYS }, (_, i) => ({
      start: (this.#first + i) * DAY_MS,
      healths: { healthy: 0, flaky: 0, broken: 0 },
      failures: 0,
    }));
  }

  /** @param identities all of one test */
  add(identities: readonly IdentityDays[]): void {
    const series = identities.map((identity) => this.#healthsOf(identity));
    for (const [i, counted] of this.days.entries()) {
      const healths = series.flatMap((of) => of[i] ?? []);
      if (healths.length > 0) counted.healths[worstHealth(healths)]++;
    }
    for (const { days } of identities)
      for (const [day, , failures] of days) {
        const counted = this.days[day - this.#first];
        if (counted) counted.failures += failures;
      }
  }

  /** At the end of each day; undefined on days before which it had not run for long. */
  #healthsOf({ days, health, changes }: IdentityDays): (Health | undefined)[] {
    let [nextDay, nextChange] = [0, 0];
    let newest = Number.NEGATIVE_INFINITY;
    return this.days.map(({ start }, i) => {
      const day = this.#first + i;
      for (let of = days[nextDay]; of && of[0] <= day; of = days[++nextDay]) newest = of[0];
      let change = changes[nextChange];
      while (change && change.at < start + DAY_MS) change = changes[++nextChange];
      return newest > day - HEALTH_RECENT_DAYS ? (change?.before ?? health) : undefined;
    });
  }
}

/** Failed executions on each day of the series at `now`, the current one last. */
export function failuresByDay(days: readonly DayCounts[], now: number): number[] {
  const first = firstDay(now);
  const failures = new Array<number>(SERIES_DAYS).fill(0);
  for (const [day, , failed] of days) if (day >= first && day < first + SERIES_DAYS) failures[day - first] = failed;
  return failures;
}

const firstDay = (now: number): number => Math.floor(now / DAY_MS) - SERIES_DAYS + 1;
