/** One statistic of a test as a time series. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { Turn } from '../clickhouse/fair-queue.ts';
import type { ValuesOf } from '../clickhouse/parameters.ts';
import { defineQuery } from '../clickhouse/query.ts';
import { formatMoment } from '../domain/moment.ts';
import { BUCKETS_MAX, bucketCount, bucketStarts, bucketWidth, type Window } from '../domain/window.ts';
import { type Http, mount } from '../http/operation.ts';
import { unprocessable } from '../http/problems.ts';
import * as common from './common.ts';
import { checkedWindow, windowParameters } from './window.ts';

const STATS = ['success_count', 'failure_count', 'flaky_count', 'mean_duration'] as const;
type Stat = (typeof STATS)[number];

const parameters = {
  repository_id: 'UUID',
  test_id: 'UUID',
  start_ms: 'Int64',
  end_ms: 'Int64',
  width_ms: 'Int64',
} as const;

const statsRow = z.object({
  is_known: z.coerce.boolean(),
  buckets: z.array(z.object({ start_ms: z.int(), passed: z.int(), failed: z.int(), seconds: z.number() })),
});
const flakyRow = z.object({
  is_known: z.coerce.boolean(),
  buckets: z.array(z.object({ start_ms: z.int(), flaky: z.int() })),
});
type StatsBucket = z.infer<typeof statsRow>['buckets'][number];

/** What one bucket adds to the statistic. */
interface Bucket {
  startMs: number;
  amount: number;
  /** What a mean divides by. */
  executions: number;
}

const stats = defineQuery('insights/stats', parameters, statsRow);
const flakyStats = defineQuery('insights/flaky_stats', parameters, flakyRow);

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

const EXAMPLE = {
  value: 3,
  value_over_time: [
    { start: '2026-11-21T08:00:00.000Z', end: '2026-11-21T09:00:00.000Z', value: 1 },
    { start: '2026-11-21T09:00:00.000Z', end: '2026-11-21T10:00:00.000Z', value: 2 },
  ],
  stat: 'success_count',
};

const statsAddress = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/stats/:stat';

export const mountStats = (app: AnyElysia, http: Http, deps: common.InsightsDeps): void =>
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
    query: windowParameters(),
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
      const repository = await common.repositoryOfTest(deps, path.owner, path.repository_name);
      const found = await readBuckets(
        deps,
        path.stat,
        {
          repository_id: repository.id,
          test_id: path.test_id,
          start_ms: window.start,
          end_ms: window.end,
          width_ms: width,
        },
        { owner: path.owner, signal },
      );
      const isJudged = path.stat !== 'flaky_count' || repository.flakyDetectionEnabled;
      return { body: series(path.stat, isJudged ? found : [], window, width) };
    },
  });

/** Throws 404 for an unknown test. */
async function readBuckets(
  deps: common.InsightsDeps,
  stat: Stat,
  values: ValuesOf<typeof parameters>,
  turn: Turn,
): Promise<Bucket[]> {
  if (stat === 'flaky_count') {
    const [row] = await deps.clickhouse.select(flakyStats, values, turn);
    if (!row?.is_known) throw common.unknownTest();
    return row.buckets.map(({ start_ms, flaky }) => ({ startMs: start_ms, amount: flaky, executions: flaky }));
  }
  const [row] = await deps.clickhouse.select(stats, values, turn);
  if (!row?.is_known) throw common.unknownTest();
  return row.buckets.map((bucket) => ({
    startMs: bucket.start_ms,
    amount: amountOf[stat](bucket),
    executions: bucket.passed + bucket.failed,
  }));
}

const amountOf = {
  success_count: ({ passed }: StatsBucket) => passed,
  failure_count: ({ failed }: StatsBucket) => failed,
  mean_duration: ({ seconds }: StatsBucket) => seconds,
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
