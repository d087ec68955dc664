/** How long the tests of a repository take in their legs: read as a whole, and kept, because it reads many executions. */
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import {
  type DurationDay,
  GROWTH_DAYS_MIN,
  GROWTH_SECONDS_MIN,
  GROWTH_TIMES_MIN,
  type Growth,
  growthOf,
} from '../domain/duration-growth.ts';
import { type Leg, legKey } from '../domain/test-identity.ts';
import { DAY_MS, HOUR_MS } from '../domain/time.ts';
import type { Repository } from '../postgres/repositories.ts';
import { TtlCache } from '../ttl-cache.ts';
import type { InsightsDeps } from './common.ts';

/** UTC days, the current one included. */
export const DURATION_DAYS = 28;
/** So many tests in their legs, those that take the most time. */
export const DURATIONS_MAX = 5_000;
/** Days are looked at of so many that may have grown, those that take the most time. */
const CANDIDATES_MAX = 500;
const KEPT_MS = HOUR_MS;
const KEPT_MAX = 20;

const identity = { test_id: z.string(), pipeline_name: z.string(), job_name: z.string(), axes: z.string() };
/** Null where nothing passed: ClickHouse answers NaN. */
const seconds = z.number().nullable();
const durations = defineQuery(
  'insights/durations',
  {
    repository_id: 'UUID',
    start_ms: 'Int64',
    end_ms: 'Int64',
    middle_ms: 'Int64',
    recent_ms: 'Int64',
    rows: 'UInt32',
  },
  z.object({
    ...identity,
    test_name: z.string(),
    passed: z.int(),
    executions: z.int(),
    seconds: z.number(),
    of_passed: z.tuple([z.number(), z.number()]),
    all_seconds: z.number(),
    recent: seconds,
    earlier: seconds,
    second_half: seconds,
    first_half: seconds,
  }),
);
type Row = z.infer<typeof durations.row>;
const durationDays = defineQuery(
  'insights/duration_days',
  { repository_id: 'UUID', start_ms: 'Int64', end_ms: 'Int64', test_ids: 'Array(UUID)' },
  z.object({
    ...identity,
    days: z.array(
      z.object({
        day: z.int(),
        seconds: z.number(),
        relative: z.number(),
        firstCommit: z.string(),
        lastCommit: z.string(),
      }),
    ),
  }),
);

/** A test in a leg. Durations in seconds. */
export interface TestDuration extends Leg {
  testId: string;
  testName: string;
  executions: number;
  median: number;
  p95: number;
  total: number;
  growth: Growth | null;
}

export interface DurationList {
  /** The window; milliseconds since the epoch. */
  start: number;
  end: number;
  /** Of all tests, also those that are not listed. */
  totalSeconds: number;
  isComplete: boolean;
  durations: readonly TestDuration[];
}

export class DurationLists {
  readonly #kept = new TtlCache<DurationList>(KEPT_MS, KEPT_MAX);

  constructor(private readonly deps: Pick<InsightsDeps, 'clickhouse' | 'clock'>) {}

  /** Up to an hour old, but for one without a test: the first ones are shown at once. */
  async of(repository: Repository): Promise<DurationList> {
    const list = await this.#kept.get(repository.id, () => this.#read(repository));
    if (list.durations.length === 0) this.#kept.forget(repository.id);
    return list;
  }

  async #read({ id, owner }: Repository): Promise<DurationList> {
    const end = (Math.floor(this.deps.clock.now() / DAY_MS) + 1) * DAY_MS;
    const start = end - DURATION_DAYS * DAY_MS;
    const window = { repository_id: id, start_ms: start, end_ms: end };
    const recent = { middle_ms: end - (DURATION_DAYS / 2) * DAY_MS, recent_ms: end - GROWTH_DAYS_MIN * DAY_MS };
    const rows = await this.deps.clickhouse.select(
      durations,
      { ...window, ...recent, rows: DURATIONS_MAX + 1 },
      { owner },
    );
    const listed = rows.slice(0, DURATIONS_MAX);
    const candidates = listed.filter(mayHaveGrown).slice(0, CANDIDATES_MAX);
    const days = new Map<string, readonly DurationDay[]>();
    if (candidates.length > 0) {
      const asked = { ...window, test_ids: [...new Set(candidates.map(({ test_id }) => test_id))] };
      for (const found of await this.deps.clickhouse.select(durationDays, asked, { owner }))
        days.set(keyOf(found), found.days);
    }
    return {
      start,
      end,
      totalSeconds: rows[0]?.all_seconds ?? 0,
      isComplete: rows.length <= DURATIONS_MAX,
      durations: listed.map((row) => ({
        testId: row.test_id,
        testName: row.test_name,
        pipelineName: row.pipeline_name,
        jobName: row.job_name,
        axes: row.axes,
        executions: row.executions,
        median: row.of_passed[0],
        p95: row.of_passed[1],
        total: row.seconds,
        growth: growthOf(days.get(keyOf(row)) ?? []),
      })),
    };
  }
}

const keyOf = (row: Pick<Row, 'test_id' | 'pipeline_name' | 'job_name' | 'axes'>): string =>
  JSON.stringify([row.test_id, legKey({ pipelineName: row.pipeline_name, jobName: row.job_name, axes: row.axes })]);

/** Whether the last days or the second half took longer, by a little less than what is named: medians of days differ. */
function mayHaveGrown({ recent, earlier, second_half: second, first_half: first }: Row): boolean {
  const isLonger = (after: number | null, before: number | null): boolean =>
    after !== null &&
    before !== null &&
    after >= before + 0.8 * GROWTH_SECONDS_MIN &&
    after >= (1 + 0.8 * (GROWTH_TIMES_MIN - 1)) * before;
  return isLonger(recent, earlier) || isLonger(second, first) || isLonger(recent, first);
}
