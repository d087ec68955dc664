/** Spec §4.7: the identities under which a test ran in a window. */

import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { resolveWindow, type Window } from '../domain/window.ts';
import { type Cursor, decodeCursor, hashFilters } from '../http/cursor.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, linkHeaders, pageOf, pageRequest, publicUrlOf } from '../http/pages.ts';
import { cursorParameter, enumParameter, momentParameter, perPageParameter } from '../http/parameters.ts';
import { unprocessable } from '../http/problems.ts';
import * as common from './common.ts';

const SORTS = ['executions_count', 'pipeline_name', 'job_name'] as const;

const rowSchema = z.object({
  known_name: z.string().nullable(),
  identities: z.array(z.tuple([z.string(), z.string(), z.number(), z.number()])),
});

const parameters = {
  repository_id: 'UUID',
  test_id: 'UUID',
  start_ms: 'Int64',
  end_ms: 'Int64',
  sort: 'String',
  sign: 'Int64',
  is_first: 'Bool',
  k0: 'Int64',
  k1: 'String',
  k2: 'String',
  rows: 'UInt32',
} as const;

const forward = defineQuery('insights/executions', parameters, rowSchema);
const backward = defineQuery('insights/executions', parameters, rowSchema, 'backward');

const keySchema = z.tuple([z.number(), z.string(), z.string()]);

const response = z.object({
  size: z.int().meta({ example: 1 }),
  per_page: z.int().meta({ example: 10 }),
  executions: z.array(
    z.object({
      test_id: common.testIdOut,
      test_name: common.testNameOut,
      pipeline_name: common.pipelineNameOut,
      job_name: common.jobNameOut,
      executions_count: z.int().meta({ description: 'Executions in the window, skipped ones too', example: 3 }),
    }),
  ),
});

const executionsAddress = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/executions';

export const mountExecutions = (app: AnyElysia, http: Http, deps: common.InsightsDeps): void =>
  mount(app, http, 'GET', executionsAddress, {
    operationId: 'listTestExecutions',
    tag: common.TAG,
    summary: "List a test's executions",
    description: 'The pipelines and jobs in which the test ran on the default branch in the window, with how often.',
    access: 'read',
    params: common.testPath,
    query: {
      sort: enumParameter(SORTS, { description: 'Most executions first by default.' }),
      direction: common.directionParameter(),
      ...windowParameters(),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'A page of pipelines and jobs.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url, signal }) => {
      const sort = query.sort ?? 'executions_count';
      const direction = common.directionOf(sort, query.direction);
      const hash = hashFilters({
        list: 'executions',
        path: common.pathKey(path),
        sort,
        direction,
        start: query.start,
        end: query.end,
      });
      const cursor = decodeCursor(query.cursor, hash, keySchema);
      const window = windowOf(cursor, query, deps.clock.now());
      const request = pageRequest(cursor, query.per_page);
      const repository = await common.repositoryOfTest(deps, path.owner, path.repository_name);
      const isReversed = sort !== 'executions_count' && direction === 'desc';
      const isForward = (request.direction === 'next') !== isReversed;
      const [k0, k1, k2] = request.key === null ? [0, '', ''] : keySchema.parse(request.key);
      const [found] = await deps.clickhouse.select(
        isForward ? forward : backward,
        {
          repository_id: repository.id,
          test_id: path.test_id,
          start_ms: window.start,
          end_ms: window.end,
          sort,
          sign: direction === 'desc' ? -1 : 1,
          is_first: request.key === null,
          k0,
          k1,
          k2,
          rows: request.perPage + 1,
        },
        signal,
      );
      const testName = found?.known_name;
      if (!testName) throw common.unknownTest();
      const page = pageOf(request, found.identities);
      const headers = linkHeaders({
        url: publicUrlOf(http.publicUrl, url),
        page,
        keyOf: ([pipeline, job, , count]) => (sort === 'job_name' ? [count, job, pipeline] : [count, pipeline, job]),
        window: [window.start, window.end],
        perPage: request.perPage,
        filters: hash,
      });
      const executions = page.items.map(([pipeline, job, count]) => ({
        test_id: path.test_id,
        test_name: testName,
        pipeline_name: pipeline,
        job_name: job,
        executions_count: count,
      }));
      return {
        body: { size: executions.length, per_page: request.perPage, executions },
        headers,
      };
    },
  });

/** The window as first resolved: a default of now does not move between pages. */
function windowOf(
  cursor: Cursor | null,
  query: { start?: number | undefined; end?: number | undefined },
  now: number,
): Window {
  if (cursor?.window) return { start: cursor.window[0], end: cursor.window[1] };
  return checkedWindow(query, now);
}

export const windowParameters = () => ({
  start: momentParameter({
    description: 'Start of the window, inclusive; a day before `end` by default.',
    example: '2026-11-20T10:00:00Z',
  }),
  end: momentParameter({
    description: 'End of the window, exclusive; a day after `start` when only that is given, else now.',
  }),
});

/** Start inclusive, end exclusive; 422 when it is empty. */
export function checkedWindow(query: { start?: number | undefined; end?: number | undefined }, now: number): Window {
  const window = resolveWindow(query.start, query.end, now);
  if (window.start >= window.end)
    throw unprocessable([{ loc: ['query', 'start'], msg: 'must be before end', type: 'invalid_window' }]);
  return window;
}
