/** How long tests take in their legs, which of them take the most time, and which grew. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { axesOf } from '../domain/axes.ts';
import { GROWTH_SECONDS_MIN, GROWTH_TIMES_MIN } from '../domain/duration-growth.ts';
import { formatMoment } from '../domain/moment.ts';
import { DAY_MS } from '../domain/time.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, noWindow, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { cursorParameter, enumParameter, perPageParameter } from '../http/parameters.ts';
import * as common from './common.ts';
import {
  DURATION_DAYS,
  DURATIONS_MAX,
  type DurationList,
  type DurationLists,
  type TestDuration,
} from './duration-lists.ts';
import { mostFirst, rowsBeyond } from './pages-in-memory.ts';

const SORTS = ['share', 'median', 'p95', 'growth'] as const;
type Sort = (typeof SORTS)[number];
const amountOf: Readonly<Record<Sort, (one: TestDuration) => number>> = {
  share: ({ total }) => total,
  median: ({ median }) => median,
  p95: ({ p95 }) => p95,
  growth: ({ growth }) => (growth ? growth.after - growth.before : 0),
};

const seconds = (description: string, example: number) => z.number().meta({ description, example });
const durationSchema = z
  .object({
    test_id: common.testIdOut,
    test_name: common.testNameOut,
    pipeline_name: common.pipelineNameOut,
    job_name: common.jobNameOut,
    axes: common.axesOut,
    executions_count: z.int().meta({ description: 'Executions that passed or failed', example: 212 }),
    median_seconds: seconds('Of those that passed', 1.2),
    p95_seconds: seconds('19 of 20 that passed took no longer', 2.1),
    total_seconds: seconds('Of all that passed or failed', 260.5),
    total_share: z.number().meta({ description: 'Its part of the time of all tests', example: 0.031 }),
    growth: z
      .object({
        since: common.dateTimeOut.meta({ description: 'The UTC day from which on it took longer' }),
        before_seconds: seconds('Median of the days before', 0.8),
        after_seconds: seconds('Median of the days since', 1.9),
        last_commit_before: z.string().nullable().meta({ description: 'The last commit of the day before' }),
        first_commit_after: z.string().nullable().meta({ description: 'The first commit of that day' }),
      })
      .nullable()
      .meta({
        description: `If it took longer since some day, surely, by ${GROWTH_TIMES_MIN} times and ${GROWTH_SECONDS_MIN} s at least, and other tests of its leg did not; else null`,
        example: null,
      }),
  })
  .meta({ id: 'TestDuration' });
const response = z.object({
  ...common.pageFields,
  start: common.dateTimeOut,
  end: common.dateTimeOut,
  total: z.int().meta({ description: 'Tests in their legs that are listed', example: 1_204 }),
  grown: z.int().meta({ description: 'Those of them that grew', example: 2 }),
  total_seconds: seconds('Of all tests that passed at least once', 8_412.5),
  is_complete: z
    .boolean()
    .meta({ description: `False: only the ${DURATIONS_MAX} that take the most time are listed`, example: true }),
  durations: z.array(durationSchema),
});
export type DurationPage = z.output<typeof response>;

type Row = TestDuration & { by: Sort };
const pagedDurations: PagedList<Row, [number, string, string, string, string]> = {
  name: 'durations',
  keySchema: z.tuple([z.int(), z.string(), z.string(), z.string(), z.string()]),
  keyOf: (row) => [mostFirst(amountOf[row.by](row)), row.testId, row.pipelineName, row.jobName, row.axes],
};

const NOTHING: DurationList = { start: 0, end: 0, totalSeconds: 0, isComplete: true, durations: [] };

export function mountDurations(
  app: AnyElysia,
  http: Http,
  deps: common.InsightsDeps & { durationLists: DurationLists },
): void {
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/durations', {
    operationId: 'listDurations',
    tag: common.TAG,
    summary: 'List how long tests take, and which grew',
    description: `Median, p95 and share of the time of each test in each leg of the default branch, over the last ${DURATION_DAYS} UTC days; and since when, and between which commits, it takes longer. Up to an hour old.`,
    access: 'read',
    params: common.shortPath,
    query: {
      sort: enumParameter(SORTS, {
        description: 'The most first; defaults to share. With growth, only tests that grew.',
      }),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'A page of tests.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url }) => {
      const sort = query.sort ?? 'share';
      const repository = await deps.repositories.find(path.owner, path.repository);
      const list = repository ? await deps.durationLists.of(repository) : NOTHING;
      const rows = list.durations
        .filter(({ growth }) => sort !== 'growth' || growth !== null)
        .map((one): Row => ({ ...one, by: sort }));
      const asked = { path, query, filters: { sort }, window: noWindow, url: publicUrlOf(http.publicUrl, url) };
      const page = await readPage(pagedDurations, asked, async ({ key, direction, perPage }) =>
        rowsBeyond(rows, pagedDurations.keyOf, { key, isForward: direction === 'next', limit: perPage + 1 }),
      );
      const reply = pageReply(page, 'durations', (one) => toJson(one, list.totalSeconds));
      return {
        ...reply,
        body: {
          ...reply.body,
          start: formatMoment(list.start),
          end: formatMoment(list.end),
          total: list.durations.length,
          grown: list.durations.filter(({ growth }) => growth !== null).length,
          total_seconds: list.totalSeconds,
          is_complete: list.isComplete,
        },
      };
    },
  });
}

const toJson = (one: TestDuration, all: number): z.input<typeof durationSchema> => ({
  test_id: one.testId,
  test_name: one.testName,
  pipeline_name: one.pipelineName,
  job_name: one.jobName,
  axes: axesOf(one.axes),
  executions_count: one.executions,
  median_seconds: one.median,
  p95_seconds: one.p95,
  total_seconds: one.total,
  total_share: all === 0 ? 0 : one.total / all,
  growth: one.growth && {
    since: formatMoment(one.growth.day * DAY_MS),
    before_seconds: one.growth.before,
    after_seconds: one.growth.after,
    last_commit_before: one.growth.lastCommitBefore || null,
    first_commit_after: one.growth.firstCommitAfter || null,
  },
});
