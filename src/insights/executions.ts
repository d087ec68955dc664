/** The identities under which a test ran in a window. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import type { Window } from '../domain/window.ts';
import { AXIS_PARAMETERS, type AxisFilter, axisFilterParameter, axisValues } from '../http/axis-filter.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { cursorParameter, enumParameter, perPageParameter } from '../http/parameters.ts';
import type { Repository } from '../postgres/repositories.ts';
import { type InRepository, OwnerBatches } from './batches.ts';
import { byPlace } from './by-place.ts';
import * as common from './common.ts';
import { directionParameter, type Order, orderOf, readingOf } from './order.ts';
import { rowsBeyond } from './pages-in-memory.ts';
import { checkedWindow, windowParameters } from './window.ts';

const SORTS = ['executions_count', 'pipeline_name', 'job_name'] as const;

/** A test and the window that is asked for. */
interface Asked {
  testId: string;
  window: Window;
}

const parameters = {
  repository_ids: 'Array(UUID)',
  test_ids: 'Array(UUID)',
  starts_ms: 'Array(Int64)',
  ends_ms: 'Array(Int64)',
} as const;
/** `place` is that of the test in the parameters, from 1. */
const rowSchema = z.object({
  place: z.int(),
  pipeline_name: z.string(),
  job_name: z.string(),
  executions: z.int(),
});
type Counted = Omit<z.infer<typeof rowSchema>, 'place'>;
const counts = defineQuery('insights/executions', parameters, rowSchema);

const countsOnAxes = defineQuery(
  'insights/executions_on_axes',
  { repository_id: 'UUID', test_id: 'UUID', start_ms: 'Int64', end_ms: 'Int64', ...AXIS_PARAMETERS },
  rowSchema.omit({ place: true }),
);

/** Reads how often tests ran, those that wait at the same time in one statement. */
const countReads = ({ clickhouse }: common.InsightsDeps) =>
  new OwnerBatches<Asked, z.infer<typeof rowSchema>[]>(clickhouse, async (take, turn) => {
    const valuesOf = (asked: readonly InRepository<Asked>[]) => ({
      repository_ids: asked.map(({ repositoryId }) => repositoryId),
      test_ids: asked.map(({ testId }) => testId),
      starts_ms: asked.map(({ window }) => window.start),
      ends_ms: asked.map(({ window }) => window.end),
    });
    return byPlace(await clickhouse.select(counts, () => valuesOf(take()), turn));
  });

const countOnAxes = (
  { clickhouse }: common.InsightsDeps,
  { id, owner }: Repository,
  { testId, window, axes }: Asked & { axes: AxisFilter },
  signal?: AbortSignal,
): Promise<Counted[]> => {
  const asked = { repository_id: id, test_id: testId, start_ms: window.start, end_ms: window.end, ...axisValues(axes) };
  return clickhouse.select(countsOnAxes, asked, { owner, signal });
};

interface Row {
  test_id: string;
  test_name: string;
  pipeline_name: string;
  job_name: string;
  executions_count: number;
}
type Key = [k0: number, k1: string, k2: string];

/** Keys ascend in the order of the list: see {@link readingOf}. */
function listOf(order: Order<(typeof SORTS)[number]>): PagedList<Row, Key> {
  const { sign } = readingOf(order, { direction: 'next' });
  return {
    name: 'executions',
    keySchema: z.tuple([z.int(), z.string(), z.string()]),
    keyOf: ({ executions_count, pipeline_name, job_name }) => [
      order.sort === 'executions_count' ? sign * executions_count : 0,
      ...(order.sort === 'job_name' ? ([job_name, pipeline_name] as const) : ([pipeline_name, job_name] as const)),
    ],
  };
}

const response = z.object({
  ...common.pageFields,
  executions: z.array(
    z.object({
      test_id: common.testIdOut,
      test_name: common.testNameOut,
      pipeline_name: common.pipelineNameOut,
      job_name: common.jobNameOut,
      executions_count: z.int().meta({ description: 'Executions in the window, including skipped ones', example: 3 }),
    }),
  ),
});

export type TestExecutions = z.output<typeof response>;

const executionsAddress = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/executions';

export function mountExecutions(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  const reads = countReads(deps);
  mount(app, http, 'GET', executionsAddress, {
    operationId: 'listTestExecutions',
    tag: common.TAG,
    summary: "List a test's executions",
    description: 'The pipelines and CI jobs in which the test ran on the default branch in the window, and how often.',
    access: 'read',
    params: common.testPath,
    query: {
      sort: enumParameter(SORTS, {
        description: 'Defaults to the number of executions, highest first.',
        default: 'executions_count',
      }),
      direction: directionParameter(),
      ...windowParameters(),
      axis: axisFilterParameter('Only executions in legs with these values, as `name:value`.'),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'A page of pipelines and CI jobs.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url, signal }) => {
      const order = orderOf(query);
      const { start, end, axis: axes } = query;
      const asked = {
        path,
        query,
        filters: { ...order, start, end, axes },
        window: (first = checkedWindow(query, deps.clock.now())) => first,
        url: publicUrlOf(http.publicUrl, url),
      };
      const list = listOf(order);
      const page = await readPage(list, asked, async ({ window, key, perPage, direction }) => {
        const { repository, testId } = await common.testAsked(deps, path);
        const asked = { testId, window };
        const read: Promise<readonly Counted[] | undefined> =
          axes.length === 0
            ? reads.get(repository, asked, signal)
            : countOnAxes(deps, repository, { ...asked, axes }, signal);
        const [found, { name }] = await Promise.all([read, deps.knownTests.get(repository, testId)]);
        const rows = (found ?? []).map(({ pipeline_name, job_name, executions }) => ({
          test_id: testId,
          test_name: name,
          pipeline_name,
          job_name,
          executions_count: executions,
        }));
        const { isForward } = readingOf(order, { direction });
        return rowsBeyond(rows, list.keyOf, { key, isForward, limit: perPage + 1 });
      });
      return pageReply(page, 'executions', ({ test_id, test_name, pipeline_name, job_name, executions_count }) => ({
        test_id,
        test_name,
        pipeline_name,
        job_name,
        executions_count,
      }));
    },
  });
}
