/**
 * How long the tests of a repository take, from its executions of four weeks: those up to the newest UTC day on which
 * something ran. So it follows from what is stored alone, and not from when it is derived.
 */
import { v5 as uuid5 } from 'uuid';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import {
  DURATION_DAYS,
  GROWTH_DAYS_MIN,
  GROWTH_SECONDS_MIN,
  GROWTH_TIMES_MIN,
  growthOf,
} from '../domain/duration-growth.ts';
import { ALL_LEGS, jobKey, type Leg, legKey } from '../domain/test-identity.ts';
import type { Executor } from '../postgres/client.ts';
import { type DurationTotals, jobsWithLegs, type TestDurations, testIdsOf } from '../postgres/durations.ts';

/** Tests whose executions one statement adds up. */
const TESTS_AT_ONCE = 2_000;
const US = 1_000_000;
/** What took no time at all is nothing to divide by. */
const SECONDS_MIN = 0.000_001;

const leg = { pipeline_name: z.string(), job_name: z.string() };
const newestDay = defineLongQuery('evaluation/newest_day', { repository_id: 'UUID' }, z.object({ day: z.int() }));
const ofLegs = defineLongQuery(
  'evaluation/durations_of_legs',
  { repository_id: 'UUID', start_day: 'UInt16', end_day: 'UInt16' },
  z.object({ ...leg, axes: z.string(), day: z.int(), seconds: z.number() }),
);
const ofTests = defineLongQuery(
  'evaluation/durations',
  {
    repository_id: 'UUID',
    test_ids: 'Array(UUID)',
    is_fold: 'Bool',
    pipelines: 'Array(String)',
    jobs: 'Array(String)',
    start_day: 'UInt16',
    end_day: 'UInt16',
    days_min: 'UInt8',
    times_min: 'Float64',
    us_min: 'UInt32',
  },
  z.object({
    ...leg,
    test_id: z.string(),
    leg: z.string(),
    executions: z.int(),
    median_us: z.int(),
    p95_us: z.int(),
    total_us: z.int(),
    days: z.array(z.object({ day: z.int(), us: z.int(), firstCommit: z.string(), lastCommit: z.string() })),
  }),
);
type Row = z.infer<typeof ofTests.row>;

export interface DurationsPlace {
  tx: Executor;
  clickhouse: ClickHouse;
  repositoryId: string;
}

/** The durations of some tests of a repository, of every one that is known. */
interface DurationsOfTests {
  testIds: readonly string[];
  durations: TestDurations[];
}

/** The durations of every test, some tests after the other; returns the totals, null if no test that is known ran. */
export async function* deriveDurations(
  place: DurationsPlace,
  testsAtOnce = TESTS_AT_ONCE,
): AsyncGenerator<DurationsOfTests, DurationTotals | null> {
  const { tx, clickhouse, repositoryId } = place;
  const [newest] = await clickhouse.select(newestDay, { repository_id: repositoryId });
  const endDay = newest ? newest.day + 1 : DURATION_DAYS;
  const window = { repository_id: repositoryId, start_day: endDay - DURATION_DAYS, end_day: endDay };
  const usual = new Map<string, number>();
  for (const { day, seconds, ...row } of await clickhouse.select(ofLegs, window))
    usual.set(usualKey(legIn(row, row.axes), day), seconds);
  const jobs = await jobsWithLegs(tx, repositoryId);
  const folded = new Set(jobs.map(jobKey));
  const totals: DurationTotals = { startDay: window.start_day, endDay, tests: 0, grown: 0, totalUs: 0 };
  for await (const testIds of testIdsOf(tx, repositoryId, testsAtOnce)) {
    const asked = {
      ...{ ...window, test_ids: testIds, days_min: GROWTH_DAYS_MIN, times_min: GROWTH_TIMES_MIN },
      us_min: Math.round(GROWTH_SECONDS_MIN * US),
      ...{ pipelines: jobs.map(({ pipelineName }) => pipelineName), jobs: jobs.map(({ jobName }) => jobName) },
    };
    const rows = await clickhouse.select(ofTests, { ...asked, is_fold: false });
    const folds = jobs.length === 0 ? [] : await clickhouse.select(ofTests, { ...asked, is_fold: true });
    const durations = [...rows, ...folds].map((row) => durationsOf(row, folded, usual));
    for (const { axes, growth, totalUs } of durations)
      if (axes !== ALL_LEGS) {
        totals.tests++;
        totals.totalUs += totalUs;
        if (growth) totals.grown++;
      }
    yield { testIds, durations };
  }
  return totals.tests > 0 ? totals : null;
}

const legIn = (row: { pipeline_name: string; job_name: string }, axes: string): Leg => ({
  ...{ pipelineName: row.pipeline_name, jobName: row.job_name, axes },
});

const usualKey = (one: Leg, day: number): string => `${legKey(one)}\0${day}`;

function durationsOf(row: Row, folded: ReadonlySet<string>, usual: ReadonlyMap<string, number>): TestDurations {
  const of = legIn(row, row.leg);
  const growth = growthOf(
    row.days.map(({ us, ...one }) => ({
      ...one,
      seconds: us / US,
      relative: us / US / Math.max(usual.get(usualKey(of, one.day)) ?? 0, SECONDS_MIN),
    })),
  );
  return {
    ...of,
    testId: row.test_id,
    legId: uuid5(legKey(of), LEGS),
    isFolded: row.leg !== ALL_LEGS && folded.has(jobKey(of)),
    executions: row.executions,
    medianUs: row.median_us,
    p95Us: row.p95_us,
    totalUs: row.total_us,
    growth: growth && {
      day: growth.day,
      beforeUs: Math.round(growth.before * US),
      afterUs: Math.round(growth.after * US),
      lastCommitBefore: growth.lastCommitBefore,
      firstCommitAfter: growth.firstCommitAfter,
    },
  };
}

/** The namespace of the ids of legs: drawn at random once. */
const LEGS = 'b0a7a3f6-3d0f-4f53-8a8e-2f4f2f1c9d55';
