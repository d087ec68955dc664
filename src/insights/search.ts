/** Spec §4.2: search of test identities by name. */

import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import { globToLike, isGlob } from '../domain/glob.ts';
import { testIdOf } from '../domain/identity.ts';
import { TEST_NAME_LENGTH_MAX } from '../domain/limits.ts';
import { decodeCursor, hashFilters } from '../http/cursor.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, linkHeaders, type Page, type PageRequest, pageOf, pageRequest, publicUrlOf } from '../http/pages.ts';
import { cursorParameter, enumParameter, perPageParameter, textsParameter } from '../http/parameters.ts';
import * as common from './common.ts';

const SORTS = ['executions_count', 'test_name', 'pipeline_name', 'job_name'] as const;

const rowSchema = z.object({
  test_id: z.string(),
  name: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
  k0: z.number(),
  k1: z.string(),
  k2: z.string(),
  k3: z.string(),
});
type Row = z.infer<typeof rowSchema>;

const parameters = {
  repository_id: 'UUID',
  test_ids: 'Array(UUID)',
  has_patterns: 'Bool',
  pattern: 'String',
  more_patterns: 'Array(String)',
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

const keySchema = z.tuple([z.number(), z.string(), z.string(), z.string()]);

export interface SearchFilters {
  testNames: string[];
  pipelines: string[];
  pipelinesExcluded: string[];
  jobs: string[];
  jobsExcluded: string[];
  sort: (typeof SORTS)[number];
  direction: common.Direction;
}

/** One page of the identities whose names match. */
export async function searchTests(
  clickhouse: ClickHouse,
  repositoryId: string,
  filters: SearchFilters,
  request: PageRequest,
  signal?: AbortSignal,
): Promise<Page<Row>> {
  // By count the key itself is negated for "most first", ties in alphabetical order; names are read against their order.
  const isCount = filters.sort === 'executions_count';
  const isReversed = !isCount && filters.direction === 'desc';
  const isForward = (request.direction === 'next') !== isReversed;
  const [k0, k1, k2, k3] = request.key === null ? [0, '', '', ''] : keySchema.parse(request.key);
  const globs = filters.testNames.filter(isGlob);
  const patterns = globs.map(globToLike);
  const isAll = patterns.includes('%');
  const [pattern = '', ...morePatterns] = isAll ? [] : patterns;
  const rows = await clickhouse.select(
    isForward ? forward : backward,
    {
      repository_id: repositoryId,
      test_ids: filters.testNames.map((name) => testIdOf(repositoryId, name)),
      has_patterns: pattern !== '',
      pattern,
      more_patterns: morePatterns,
      is_all: isAll,
      pipelines: filters.pipelines,
      pipelines_excluded: filters.pipelinesExcluded,
      jobs: filters.jobs,
      jobs_excluded: filters.jobsExcluded,
      sort: filters.sort,
      sign: filters.direction === 'desc' ? -1 : 1,
      is_first: request.key === null,
      k0,
      k1,
      k2,
      k3,
      rows: request.perPage + 1,
    },
    signal,
  );
  return pageOf(request, rows);
}

const response = z.object({
  size: z.int().meta({ description: 'Items in this page', example: 1 }),
  per_page: z.int().meta({ example: 10 }),
  tests: z.array(
    z.object({
      test_id: common.testIdOut,
      test_name: common.testNameOut,
      pipeline_name: common.pipelineNameOut,
      job_name: common.jobNameOut,
    }),
  ),
});

const searchAddress = '/v1/ci/:owner/repositories/:repository_name/search/tests';

export const mountSearch = (app: AnyElysia, http: Http, deps: common.InsightsDeps): void =>
  mount(app, http, 'GET', searchAddress, {
    operationId: 'searchTests',
    tag: common.TAG,
    summary: 'Search tests by name',
    description:
      'One entry for each test name, pipeline and job that ran on the default branch. `*` and `?` are wildcards; `\\` escapes them. Several names are combined with OR.',
    access: 'read',
    params: common.repositoryPath,
    query: {
      test_name: textsParameter(TEST_NAME_LENGTH_MAX, {
        description: 'Names to find; wildcards `*` and `?`. Repeat it to find more.',
        example: ['Cart > *'],
        required: true,
      }),
      sort: enumParameter(SORTS, { description: 'Most executions first by default.' }),
      direction: common.directionParameter(),
      pipeline_name: common.namesParameter('Only these pipelines.', ['CI']),
      pipeline_name_exclude: common.namesParameter('Not these pipelines.', ['nightly']),
      job_name: common.namesParameter('Only these jobs.', ['unit']),
      job_name_exclude: common.namesParameter('Not these jobs.', ['e2e']),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'A page of tests.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url, signal }) => {
      const sort = query.sort ?? 'executions_count';
      const filters: SearchFilters = {
        testNames: query.test_name,
        pipelines: query.pipeline_name,
        pipelinesExcluded: query.pipeline_name_exclude,
        jobs: query.job_name,
        jobsExcluded: query.job_name_exclude,
        sort,
        direction: common.directionOf(sort, query.direction),
      };
      const hash = hashFilters({ list: 'search', path: common.pathKey(path), filters });
      const request = pageRequest(decodeCursor(query.cursor, hash, keySchema), query.per_page);
      const repository = await deps.repositories.find(path.owner, path.repository_name);
      const page = repository
        ? await searchTests(deps.clickhouse, repository.id, filters, request, signal)
        : pageOf<Row>(request, []);
      const headers = linkHeaders({
        url: publicUrlOf(http.publicUrl, url),
        page,
        keyOf: (row) => [row.k0, row.k1, row.k2, row.k3],
        window: null,
        perPage: request.perPage,
        filters: hash,
      });
      const tests = page.items.map((row) => ({
        test_id: row.test_id,
        test_name: row.name,
        pipeline_name: row.pipeline_name,
        job_name: row.job_name,
      }));
      return { body: { size: tests.length, per_page: request.perPage, tests }, headers };
    },
  });
