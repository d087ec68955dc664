/** The identities under which a test ran in a window. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { cursorParameter, enumParameter, perPageParameter } from '../http/parameters.ts';
import * as common from './common.ts';
import { directionParameter, orderOf, readingOf } from './order.ts';
import { checkedWindow, windowParameters } from './window.ts';

const SORTS = ['executions_count', 'pipeline_name', 'job_name'] as const;

const identitySchema = z.object({
  pipeline_name: z.string(),
  job_name: z.string(),
  executions_count: z.int(),
  k0: z.int(),
  k1: z.string(),
  k2: z.string(),
});
const rowSchema = z.object({ known_name: z.string().nullable(), identities: z.array(identitySchema) });

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

interface Row extends z.infer<typeof identitySchema> {
  test_name: string;
}
type Key = [k0: number, k1: string, k2: string];

const list: PagedList<Row, Key> = {
  name: 'executions',
  keySchema: z.tuple([z.int(), z.string(), z.string()]),
  keyOf: ({ k0, k1, k2 }) => [k0, k1, k2],
};

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

const executionsAddress = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/executions';

export const mountExecutions = (app: AnyElysia, http: Http, deps: common.InsightsDeps): void =>
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
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'A page of pipelines and CI jobs.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url, signal }) => {
      const order = orderOf(query);
      const { start, end } = query;
      const asked = {
        path,
        query,
        filters: { ...order, start, end },
        window: (first = checkedWindow(query, deps.clock.now())) => first,
        url: publicUrlOf(http.publicUrl, url),
      };
      const page = await readPage(list, asked, async ({ window, key, perPage, direction }) => {
        const repository = await common.repositoryOfTest(deps, path.owner, path.repository_name);
        const { isForward, sign } = readingOf(order, { direction });
        const [k0, k1, k2] = key ?? [0, '', ''];
        const [found] = await deps.clickhouse.select(
          isForward ? forward : backward,
          {
            repository_id: repository.id,
            test_id: path.test_id,
            start_ms: window.start,
            end_ms: window.end,
            sort: order.sort,
            sign,
            is_first: key === null,
            k0,
            k1,
            k2,
            rows: perPage + 1,
          },
          { owner: path.owner, signal },
        );
        const testName = found?.known_name;
        if (!testName) throw common.unknownTest();
        return found.identities.map((identity) => ({ ...identity, test_name: testName }));
      });
      return pageReply(page, 'executions', ({ test_name, pipeline_name, job_name, executions_count }) => ({
        test_id: path.test_id,
        test_name,
        pipeline_name,
        job_name,
        executions_count,
      }));
    },
  });
