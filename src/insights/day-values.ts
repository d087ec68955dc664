/**
 * What is read of the runs of a UTC day, kept in memory until more is known of the days around it.
 *
 * A read of 90 days puts 300,000 runs together, and of most days nothing has changed since the read before. To ask whether it
 * has takes 0.05 s of processor time instead of 1.6 (docs/performance.md has the reads). Each day has a revision
 * (sql/queries/insights/day_revisions.sql) that follows from its rows alone. So a value is right for late results, after
 * retention and a rebuild, and in each of several processes, without a word between them.
 */
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../domain/time.ts';
import type { Turn } from '../fair-queue.ts';
import type { Repository } from '../postgres/repositories.ts';

/** What came before a run is looked for on the day before, what came after it on seven days after; and runs may span midnight. */
const DAYS_BEFORE = 2;
const DAYS_AFTER = 8;
/** Days that are nearer to each other are read at once, with those between them. */
const APART_DAYS = DAYS_BEFORE + DAYS_AFTER;
/** A statement that reads so many at most is not stopped on a busy machine, and what it has read stays if another one is. */
const AT_ONCE_MS = 30 * DAY_MS;
/** The last that a date in ClickHouse has. */
const DAY_MAX = 65_535;
/** Revisions are read before values. From a replica that lags, a value may be older than its revision: but not for longer. */
const KEPT_MS = HOUR_MS;

const dayRevisions = defineQuery(
  'insights/day_revisions',
  { repository_id: 'UUID', first_day: 'UInt16', last_day: 'UInt16' },
  z.object({ day_number: z.int(), revision: z.string() }),
);

/** Whole UTC days, in milliseconds since the epoch; the end is exclusive. */
export interface Days {
  start: number;
  end: number;
}

interface Asked {
  repository: Repository;
  /** Filters: values of others are apart. */
  filters: readonly unknown[];
  /** Days that this window touches are given whole. */
  window: Days;
  turn: Turn;
}

export class DayValues<V extends object> {
  readonly #kept: LRUCache<string, { revision: string; value: V | undefined }>;

  /**
   * @param options `bytesMax`: of all values together, as `bytesOf` estimates them. Those that were not asked for the longest
   *   leave first
   */
  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly options: { bytesMax: number; bytesOf: (value: V) => number },
  ) {
    this.#kept = new LRUCache({ maxSize: options.bytesMax, ttl: KEPT_MS });
  }

  /**
   * The values of days, the oldest first; days without runs have none.
   *
   * @param read gives the values of days by `dayOf`; each must follow from runs of that day, of the day before and of seven after
   */
  async of(
    { repository, filters, window, turn }: Asked,
    read: (days: Days) => Promise<ReadonlyMap<number, V>>,
  ): Promise<V[]> {
    const [first, last] = [dayOf(window.start), dayOf(window.end - 1)];
    const revisions = await this.#revisions(repository, { first, last }, turn);
    const found = new Map<number, V | undefined>();
    const changed: number[] = [];
    for (let day = first; day <= last; day++) {
      const known = this.#kept.get(keyOf(repository, filters, day));
      if (known?.revision === revisionOf(revisions, day)) found.set(day, known.value);
      else if (revisions.has(day)) changed.push(day);
    }
    await Promise.all(
      spansOf(changed).map(async (days) => {
        const values = await read(days);
        for (let day = dayOf(days.start); day < dayOf(days.end); day++) {
          const value = values.get(day);
          found.set(day, value);
          const size = 100 + (value ? this.options.bytesOf(value) : 0);
          const revision = revisionOf(revisions, day);
          this.#kept.set(keyOf(repository, filters, day), { revision, value }, { size });
        }
      }),
    );
    return [...found].sort(([one], [other]) => one - other).flatMap(([, value]) => (value ? [value] : []));
  }

  async #revisions(
    { id }: Repository,
    { first, last }: { first: number; last: number },
    turn: Turn,
  ): Promise<Map<number, string>> {
    const values = {
      repository_id: id,
      first_day: storedDay(first - DAYS_BEFORE),
      last_day: storedDay(last + DAYS_AFTER),
    };
    const rows = await this.clickhouse.select(dayRevisions, values, turn);
    return new Map(rows.map(({ day_number: day, revision }) => [day, revision]));
  }
}

/** The nearest of the days that a store can hold. */
const storedDay = (day: number): number => Math.min(Math.max(0, day), DAY_MAX);

const keyOf = ({ id }: Repository, filters: readonly unknown[], day: number): string =>
  JSON.stringify([id, day, ...filters]);

/** The revisions of all days that a value follows from. */
const revisionOf = (revisions: ReadonlyMap<number, string>, day: number): string =>
  Array.from({ length: DAYS_BEFORE + 1 + DAYS_AFTER }, (_, i) => revisions.get(day - DAYS_BEFORE + i) ?? '').join();

/** Days in order, in as few reads as are worth it. */
function spansOf(days: readonly number[]): Days[] {
  const spans: Days[] = [];
  for (const day of days) {
    const last = spans.at(-1);
    const end = (day + 1) * DAY_MS;
    if (last && day - dayOf(last.end - 1) <= APART_DAYS && end - last.start <= AT_ONCE_MS) last.end = end;
    else spans.push({ start: day * DAY_MS, end });
  }
  return spans;
}
