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
/**
 * A statement that reads so many runs is not stopped on a busy machine, and what it has read stays if another one is. Smaller
 * ones take longer together, because each reads the days around its own: 60,000 runs of 87 days take 0.35 s of processor time
 * at once, and 0.6 s in three parts.
 */
const RUNS_AT_ONCE = 100_000;
/** The last that a date in ClickHouse has. */
const DAY_MAX = 65_535;
/**
 * Revisions are read before values. From a replica that lags, a value may be older than its revision: but not for longer. Of a
 * settled day, that hardly happens, so its value is kept until people come back on the next day.
 */
const KEPT_MS = HOUR_MS;
const SETTLED_KEPT_MS = 30 * HOUR_MS;

const dayRevisions = defineQuery(
  'insights/day_revisions',
  { repository_id: 'UUID', first_day: 'UInt16', last_day: 'UInt16' },
  z.object({ day_number: z.int(), revision: z.string(), runs: z.int() }),
);

type Revisions = ReadonlyMap<number, z.output<(typeof dayRevisions)['row']>>;

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
    this.#kept = new LRUCache({ maxSize: options.bytesMax });
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
      spansOf(changed, revisions).map(async (days) => {
        const values = await read(days);
        for (let day = dayOf(days.start); day < dayOf(days.end); day++) {
          const value = values.get(day);
          found.set(day, value);
          const size = 100 + (value ? this.options.bytesOf(value) : 0);
          const revision = revisionOf(revisions, day);
          const ttl = isSettled(revisions, day) ? SETTLED_KEPT_MS : KEPT_MS;
          this.#kept.set(keyOf(repository, filters, day), { revision, value }, { size, ttl });
        }
      }),
    );
    return [...found].sort(([one], [other]) => one - other).flatMap(([, value]) => (value ? [value] : []));
  }

  async #revisions(
    { id }: Repository,
    { first, last }: { first: number; last: number },
    turn: Turn,
  ): Promise<Revisions> {
    const values = {
      repository_id: id,
      first_day: storedDay(first - DAYS_BEFORE),
      last_day: storedDay(last + DAYS_AFTER),
    };
    const rows = await this.clickhouse.select(dayRevisions, values, turn);
    return new Map(rows.map((row) => [row.day_number, row]));
  }
}

/** The nearest of the days that a store can hold. */
const storedDay = (day: number): number => Math.min(Math.max(0, day), DAY_MAX);

const keyOf = ({ id }: Repository, filters: readonly unknown[], day: number): string =>
  JSON.stringify([id, day, ...filters]);

/** The revisions of all days that a value follows from. */
const revisionOf = (revisions: Revisions, day: number): string =>
  Array.from({ length: DAYS_BEFORE + 1 + DAYS_AFTER }, (_, i) => revisions.get(day - DAYS_BEFORE + i)?.revision).join();

/** Whether something ran after all days that its value follows from: then only late results change it. */
const isSettled = (revisions: Revisions, day: number): boolean => Math.max(...revisions.keys()) > day + DAYS_AFTER;

/** Days in order, in as few reads as are worth it. */
function spansOf(days: readonly number[], revisions: Revisions): Days[] {
  const spans: (Days & { runs: number })[] = [];
  for (const day of days) {
    const last = spans.at(-1);
    const isNear = last !== undefined && day - dayOf(last.end - 1) <= APART_DAYS;
    const runs = runsIn(revisions, isNear ? dayOf(last.end) : day, day);
    const end = (day + 1) * DAY_MS;
    if (isNear && last.runs + runs <= RUNS_AT_ONCE) {
      last.end = end;
      last.runs += runs;
    } else spans.push({ start: day * DAY_MS, end, runs: runsIn(revisions, day, day) });
  }
  return spans;
}

const runsIn = (revisions: Revisions, from: number, to: number): number =>
  [...revisions.values()].reduce((sum, { day_number: day, runs }) => sum + (day >= from && day <= to ? runs : 0), 0);
