/** One statistic of a test as a time series. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { ValuesOf } from '../clickhouse/parameters.ts';
import { defineQuery } from '../clickhouse/query.ts';
import { formatMoment } from '../domain/moment.ts';
import { BUCKETS_MAX, bucketCount, bucketStarts, bucketWidth, type Window } from '../domain/window.ts';
import { AXIS_PARAMETERS, type AxisFilter, axisFilterParameter, axisValues } from '../http/axis-filter.ts';
import { type Http, mount } from '../http/operation.ts';
import { unprocessable } from '../http/problems.ts';
import { onPostgres } from '../postgres/client.ts';
import { countFlakyExecutions, type FlakyBucket, readFlakyExecutions } from '../postgres/flaky-executions.ts';
import type { Repository } from '../postgres/repositories.ts';
import { type InRepository, OwnerBatches } from './batches.ts';
import { byPlace } from './by-place.ts';
import * as common from './common.ts';
import { checkedWindow, windowParameters } from './window.ts';

const STATS = ['success_count', 'failure_count', 'flaky_count', 'mean_duration'] as const;
type Stat = (typeof STATS)[number];

/** A test and the window that is asked for, cut into buckets of this width; milliseconds. */
interface Asked {
  testId: string;
  window: Window;
  width: number;
}

/** A bucket's share of the statistic. */
interface Bucket {
  startMs: number;
  amount: number;
  /** Divisor of a mean. */
  executions: number;
}

const parameters = {
  repository_ids: 'Array(UUID)',
  test_ids: 'Array(UUID)',
  starts_ms: 'Array(Int64)',
  ends_ms: 'Array(Int64)',
  widths_ms: 'Array(Int64)',
} as const;

/** `place` is that of the test in the parameters, from 1. */
const statsRow = z.object({
  place: z.int(),
  bucket_ms: z.int(),
  passed: z.int(),
  failed: z.int(),
  seconds: z.number(),
});
type StatsRow = z.infer<typeof statsRow>;
type Amounts = Omit<StatsRow, 'place'>;
const stats = defineQuery('insights/stats', parameters, statsRow);

const statsOnAxes = defineQuery(
  'insights/stats_on_axes',
  {
    repository_id: 'UUID',
    test_id: 'UUID',
    start_ms: 'Int64',
    end_ms: 'Int64',
    width_ms: 'Int64',
    flaky_ids: 'Array(UInt64)',
    ...AXIS_PARAMETERS,
  },
  statsRow.omit({ place: true }).extend({ flaky: z.int() }),
);

const valuesOf = (asked: readonly InRepository<Asked>[]): ValuesOf<typeof parameters> => ({
  repository_ids: asked.map(({ repositoryId }) => repositoryId),
  test_ids: asked.map(({ testId }) => testId),
  starts_ms: asked.map(({ window }) => window.start),
  ends_ms: asked.map(({ window }) => window.end),
  widths_ms: asked.map(({ width }) => width),
});

const seriesOf = <V extends z.ZodType, S extends z.ZodType>(value: V, stat: S) =>
  z.object({
    value,
    value_over_time: z.array(z.object({ start: common.dateTimeOut, end: common.dateTimeOut, value })),
    stat,
  });
const response = z.union([
  seriesOf(z.int().meta({ example: 3 }), z.enum(['success_count', 'failure_count', 'flaky_count'])).meta({
    id: 'CountStatistics',
  }),
  seriesOf(z.number().meta({ description: 'Seconds', example: 0.42 }), z.literal('mean_duration')).meta({
    id: 'DurationStatistics',
  }),
]);

export type TestStatistic = z.output<typeof response>;

const EXAMPLE = {
  value: 3,
  value_over_time: [
    { start: '2026-11-21T08:00:00.000Z', end: '2026-11-21T09:00:00.000Z', value: 1 },
    { start: '2026-11-21T09:00:00.000Z', end: '2026-11-21T10:00:00.000Z', value: 2 },
  ],
  stat: 'success_count',
};

const statsAddress = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/stats/:stat';

export function mountStats(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  const readBuckets = bucketReads(deps);
  mount(app, http, 'GET', statsAddress, {
    operationId: 'getTestStat',
    tag: common.TAG,
    summary: 'Get a single test stat as a time series',
    description:
      'The buckets have the smallest width of 1h, 4h, 1d and 2d for which 48 cover the window. They are whole, aligned to the epoch in UTC and zero-filled. Only executions inside the window count.',
    access: 'read',
    params: common.testPath.extend({
      stat: z.enum(STATS, { error: `must be one of ${STATS.join(', ')}` }).meta({ example: 'success_count' }),
    }),
    query: {
      ...windowParameters(),
      axis: axisFilterParameter('Only executions in legs with these values, as `name:value`.'),
    },
    responses: {
      200: { description: 'The series, and the value over the whole window.', schema: response, example: EXAMPLE },
    },
    isCoalesced: true,
    handle: async ({ params: path, query, signal }) => {
      const window = checkedWindow(query, deps.clock.now());
      const width = bucketWidth(window);
      if (bucketCount(window, width) > BUCKETS_MAX)
        throw unprocessable([
          {
            loc: ['query', 'start'],
            msg: `makes the window longer than ${BUCKETS_MAX} buckets of two days`,
            type: 'invalid_window',
          },
        ]);
      const { repository, testId } = await common.testAsked(deps, path);
      const asked = { testId, window, width };
      const [found] = await Promise.all([
        query.axis.length === 0
          ? readBuckets(repository, path.stat, asked, signal)
          : bucketsOnAxes(deps, { repository, stat: path.stat, asked, axes: query.axis }, signal),
        deps.knownTests.get(repository, testId),
      ]);
      const isJudged = path.stat !== 'flaky_count' || repository.flakyDetectionEnabled;
      return { body: series(path.stat, isJudged ? found : [], window, width) };
    },
  });
}

/** Reads the buckets of tests, those that wait at the same time in one statement. */
function bucketReads({ clickhouse, db }: common.InsightsDeps) {
  const executions = new OwnerBatches<Asked, StatsRow[]>(clickhouse, async (take, turn) =>
    byPlace(await clickhouse.select(stats, () => valuesOf(take()), turn)),
  );
  const flaky = new OwnerBatches<Asked, FlakyBucket[]>(clickhouse, async (take) => {
    const asked = take().map(({ window, ...test }) => ({ ...test, ...window }));
    return byPlace(await countFlakyExecutions(db, asked));
  });
  return async (repository: Repository, stat: Stat, asked: Asked, signal?: AbortSignal): Promise<Bucket[]> => {
    if (stat === 'flaky_count') {
      const rows = (await flaky.get(repository, asked, signal)) ?? [];
      return rows.map((row) => ({ startMs: row.bucket_ms, amount: row.flaky, executions: row.flaky }));
    }
    const rows = (await executions.get(repository, asked, signal)) ?? [];
    return rows.map((row) => ({
      startMs: row.bucket_ms,
      amount: amountOf[stat](row),
      executions: row.passed + row.failed,
    }));
  };
}

interface OnAxes {
  repository: Repository;
  stat: Stat;
  asked: Asked;
  axes: AxisFilter;
}

/** PostgreSQL knows which executions are flaky, but not where they ran. */
async function bucketsOnAxes(
  { clickhouse, db }: common.InsightsDeps,
  { repository: { id, owner }, stat, asked: { testId, window, width }, axes }: OnAxes,
  signal?: AbortSignal,
): Promise<Bucket[]> {
  const flaky =
    stat === 'flaky_count' ? await onPostgres(() => readFlakyExecutions(db, id, [testId], window.start)) : [];
  const values = {
    repository_id: id,
    test_id: testId,
    start_ms: window.start,
    end_ms: window.end,
    width_ms: width,
    flaky_ids: flaky.map(({ executionId }) => BigInt(executionId)),
    ...axisValues(axes),
  };
  const rows = await clickhouse.select(statsOnAxes, values, { owner, signal });
  return rows.map((row) => ({
    startMs: row.bucket_ms,
    amount: stat === 'flaky_count' ? row.flaky : amountOf[stat](row),
    executions: row.passed + row.failed,
  }));
}

const amountOf = {
  success_count: ({ passed }: Amounts) => passed,
  failure_count: ({ failed }: Amounts) => failed,
  mean_duration: ({ seconds }: Amounts) => seconds,
};

/** A count adds up; a mean is over all executions, not a mean of means. */
function statistic(stat: Stat, buckets: readonly Bucket[]): number {
  const amount = buckets.reduce((sum, bucket) => sum + bucket.amount, 0);
  if (stat !== 'mean_duration') return amount;
  const executions = buckets.reduce((sum, bucket) => sum + bucket.executions, 0);
  return executions === 0 ? 0 : amount / executions;
}

function series(stat: Stat, buckets: readonly Bucket[], window: Window, width: number): z.infer<typeof response> {
  const byStart = new Map(buckets.map((bucket) => [bucket.startMs, bucket]));
  const valueOverTime = bucketStarts(window, width).map((startMs) => {
    const bucket = byStart.get(startMs);
    return {
      start: formatMoment(startMs),
      end: formatMoment(startMs + width),
      value: bucket ? statistic(stat, [bucket]) : 0,
    };
  });
  return { value: statistic(stat, buckets), value_over_time: valueOverTime, stat };
}
