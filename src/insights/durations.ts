/** How long tests take in their legs, which of them take the most time, and which grew. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { axesOf } from '../domain/axes.ts';
import { DURATION_DAYS, GROWTH_SECONDS_MIN, GROWTH_TIMES_MIN } from '../domain/duration-growth.ts';
import { formatMoment } from '../domain/moment.ts';
import { DAY_MS } from '../domain/time.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, noWindow, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { cursorParameter, enumParameter, perPageParameter } from '../http/parameters.ts';
import { onPostgres } from '../postgres/client.ts';
import {
  DURATION_SORTS,
  type DurationKey,
  type DurationSort,
  type DurationTotals,
  durationKeyOf,
  findDurations,
  readDurationTotals,
  type TestDurations,
} from '../postgres/durations.ts';
import * as common from './common.ts';

const US = 1_000_000;

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
  is_complete: z.boolean().meta({ description: 'Always true: every test is listed', example: true }),
  durations: z.array(durationSchema),
});
export type DurationPage = z.output<typeof response>;

type Row = TestDurations & { testName: string };
const listBy = (sort: DurationSort): PagedList<Row, DurationKey> => ({
  name: 'durations',
  keySchema: z.tuple([z.int(), z.guid(), z.guid()]),
  keyOf: (row) => durationKeyOf(sort, row),
});

const NOTHING: DurationTotals = { startDay: 0, endDay: 0, tests: 0, grown: 0, totalUs: 0 };

export function mountDurations(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/durations', {
    operationId: 'listDurations',
    tag: common.TAG,
    summary: 'List how long tests take, and which grew',
    description: `Median, p95 and share of the time of each test in each leg of the default branch, over ${DURATION_DAYS} UTC days: those up to the newest on which something ran. Since when, and between which commits, it takes longer. Some seconds old, and minutes where millions of executions are added up.`,
    access: 'read',
    params: common.shortPath,
    query: {
      sort: enumParameter(DURATION_SORTS, {
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
      const asked = { path, query, filters: { sort }, window: noWindow, url: publicUrlOf(http.publicUrl, url) };
      const page = await readPage(listBy(sort), asked, async ({ key, direction, perPage }) =>
        repository
          ? onPostgres(() => findDurations(deps.db, repository.id, { sort, key, direction, limit: perPage + 1 }))
          : [],
      );
      const totals = (repository && (await onPostgres(() => readDurationTotals(deps.db, repository.id)))) ?? NOTHING;
      const reply = pageReply(page, 'durations', (one) => toJson(one, totals.totalUs));
      return {
        ...reply,
        body: {
          ...reply.body,
          start: formatMoment(totals.startDay * DAY_MS),
          end: formatMoment(totals.endDay * DAY_MS),
          total: totals.tests,
          grown: totals.grown,
          total_seconds: totals.totalUs / US,
          is_complete: true,
        },
      };
    },
  });
}

const toJson = (one: Row, allUs: number): z.input<typeof durationSchema> => ({
  test_id: one.testId,
  test_name: one.testName,
  pipeline_name: one.pipelineName,
  job_name: one.jobName,
  axes: axesOf(one.axes),
  executions_count: one.executions,
  median_seconds: one.medianUs / US,
  p95_seconds: one.p95Us / US,
  total_seconds: one.totalUs / US,
  total_share: allUs === 0 ? 0 : one.totalUs / allUs,
  growth: one.growth && {
    since: formatMoment(one.growth.day * DAY_MS),
    before_seconds: one.growth.beforeUs / US,
    after_seconds: one.growth.afterUs / US,
    last_commit_before: one.growth.lastCommitBefore || null,
    first_commit_after: one.growth.firstCommitAfter || null,
  },
});
