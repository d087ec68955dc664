/** Search of test identities by name. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Turn } from '../clickhouse/fair-queue.ts';
import { defineQuery } from '../clickhouse/query.ts';
import { costOf, planOf } from '../domain/glob.ts';
import { testIdOf } from '../domain/identity.ts';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import { SEARCH_COST_MAX, TEST_NAME_LENGTH_MAX } from '../domain/limits.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, noWindow, type PagedList, type PageRequest, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { cursorParameter, enumParameter, perPageParameter, textsParameter } from '../http/parameters.ts';
import { unprocessable } from '../http/problems.ts';
import * as common from './common.ts';
import { directionParameter, type Order, orderOf, readingOf } from './order.ts';

const SORTS = ['executions_count', 'test_name', 'pipeline_name', 'job_name'] as const;

const rowSchema = z.object({
  test_id: z.string(),
  name: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
  k0: z.int(),
  k1: z.string(),
  k2: z.string(),
  k3: z.string(),
});
type Row = z.infer<typeof rowSchema>;

const parameters = {
  repository_id: 'UUID',
  test_ids: 'Array(UUID)',
  has_patterns: 'Bool',
  has_like: 'Bool',
  like: 'String',
  has_texts: 'Bool',
  prefixes: 'Array(String)',
  suffixes: 'Array(String)',
  inner: 'Array(String)',
  firsts: 'Array(UInt32)',
  sizes: 'Array(UInt32)',
  has_expression: 'Bool',
  expression: 'String',
  is_all: 'Bool',
  pipelines: 'Array(String)',
  pipelines_excluded: 'Array(String)',
  jobs: 'Array(String)',
  jobs_excluded: 'Array(String)',
  sort: 'String',
  sign: 'Int64',
  is_first: 'Bool',
  k0: 'Int64',
  k1: 'String',
  k2: 'String',
  k3: 'String',
  rows: 'UInt32',
} as const;

const forward = defineQuery('insights/search', parameters, rowSchema);
const backward = defineQuery('insights/search', parameters, rowSchema, 'backward');

type Key = [k0: number, k1: string, k2: string, k3: string];

const list: PagedList<Row, Key> = {
  name: 'search',
  keySchema: z.tuple([z.int(), z.string(), z.string(), z.string()]),
  keyOf: ({ k0, k1, k2, k3 }) => [k0, k1, k2, k3],
};

interface SearchFilters extends Order<(typeof SORTS)[number]> {
  testNames: string[];
  pipelines: string[];
  pipelinesExcluded: string[];
  jobs: string[];
  jobsExcluded: string[];
}

/** The identities whose names match, up to one more than a page. */
function selectIdentities(
  clickhouse: ClickHouse,
  repositoryId: string,
  filters: SearchFilters,
  request: PageRequest<Key>,
  turn: Turn,
): Promise<Row[]> {
  const { isForward, sign } = readingOf(filters, request);
  const [k0, k1, k2, k3] = request.key ?? [0, '', '', ''];
  const { isAll, names, like, expression, ...texts } = planOf(filters.testNames);
  const hasTexts = texts.prefixes.length > 0;
  return clickhouse.select(
    isForward ? forward : backward,
    {
      repository_id: repositoryId,
      test_ids: [...filters.testNames, ...names].map((name) => testIdOf(repositoryId, name)),
      has_patterns: !isAll && (like !== undefined || expression !== undefined || hasTexts),
      has_like: like !== undefined,
      like: like ?? '',
      has_texts: hasTexts,
      ...texts,
      has_expression: expression !== undefined,
      expression: expression ?? '',
      is_all: isAll,
      pipelines: filters.pipelines,
      pipelines_excluded: filters.pipelinesExcluded,
      jobs: filters.jobs,
      jobs_excluded: filters.jobsExcluded,
      sort: filters.sort,
      sign,
      is_first: request.key === null,
      k0,
      k1,
      k2,
      k3,
      rows: request.perPage + 1,
    },
    { ...turn, isHeavy: !isAll && (hasTexts || expression !== undefined) },
  );
}

/** Throws 422 for patterns that cost too much. */
export function checkCost(testNames: readonly string[]): void {
  if (costOf(testNames, SEARCH_COST_MAX) <= SEARCH_COST_MAX) return;
  const msg = REQUEST_LIMITS.SEARCH_COST_MAX.sentence();
  throw unprocessable([{ loc: ['query', 'test_name'], msg, type: 'too_expensive' }]);
}

const response = z.object({
  ...common.pageFields,
  tests: z.array(
    z.object({
      test_id: common.testIdOut,
      test_name: common.testNameOut,
      pipeline_name: common.pipelineNameOut,
      job_name: common.jobNameOut,
    }),
  ),
});

const toJson = ({ test_id, name, pipeline_name, job_name }: Row) => ({
  test_id,
  test_name: name,
  pipeline_name,
  job_name,
});

const searchAddress = '/v1/ci/:owner/repositories/:repository_name/search/tests';

export const mountSearch = (app: AnyElysia, http: Http, deps: common.InsightsDeps): void =>
  mount(app, http, 'GET', searchAddress, {
    operationId: 'searchTests',
    tag: common.TAG,
    summary: 'Search tests by name',
    description:
      'One entry for each combination of test name, pipeline and job that ran on the default branch. `*` and `?` are wildcards; `\\` escapes them. Several names are combined with OR.',
    access: 'read',
    params: common.repositoryPath,
    query: {
      test_name: textsParameter(TEST_NAME_LENGTH_MAX, {
        description: 'Name to find; `*` and `?` are wildcards. Repeat it for several names.',
        example: ['Cart > *'],
        required: true,
      }),
      sort: enumParameter(SORTS, {
        description: 'Defaults to the number of executions, highest first.',
        default: 'executions_count',
      }),
      direction: directionParameter(),
      pipeline_name: common.namesParameter('Only these pipelines.', ['CI']),
      pipeline_name_exclude: common.namesParameter('All pipelines except these.', ['nightly']),
      job_name: common.namesParameter('Only these CI jobs.', ['unit']),
      job_name_exclude: common.namesParameter('All CI jobs except these.', ['e2e']),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'A page of tests.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url, signal }) => {
      checkCost(query.test_name);
      const filters: SearchFilters = {
        testNames: query.test_name,
        pipelines: query.pipeline_name,
        pipelinesExcluded: query.pipeline_name_exclude,
        jobs: query.job_name,
        jobsExcluded: query.job_name_exclude,
        ...orderOf(query),
      };
      const asked = { path, query, filters: { filters }, window: noWindow, url: publicUrlOf(http.publicUrl, url) };
      const turn = { owner: path.owner, signal };
      const page = await readPage(list, asked, async (request) => {
        const repository = await deps.repositories.find(path.owner, path.repository_name);
        return repository ? selectIdentities(deps.clickhouse, repository.id, filters, request, turn) : [];
      });
      return pageReply(page, 'tests', toJson);
    },
  });
