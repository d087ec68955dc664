/** Search of test identities by name. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { costOf, globToLike, isGlob } from '../domain/glob.ts';
import { testIdOf } from '../domain/identity.ts';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import { SEARCH_COST_MAX, TEST_NAME_LENGTH_MAX } from '../domain/limits.ts';
import { executionsOf } from '../domain/test-state.ts';
import type { Turn } from '../fair-queue.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, noWindow, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { cursorParameter, enumParameter, perPageParameter, textsParameter } from '../http/parameters.ts';
import { unprocessable } from '../http/problems.ts';
import type { Repository } from '../postgres/repositories.ts';
import {
  type FoundIdentity,
  keyOf,
  SEARCH_SORTS,
  type SearchKey,
  searchTests,
  type TestSearch,
} from '../postgres/test-search.ts';
import * as common from './common.ts';
import type { KnownTests } from './known-tests.ts';
import { directionParameter, orderOf } from './order.ts';
import { rowsBeyond } from './pages-in-memory.ts';

const listOf = (search: Pick<TestSearch, 'sort' | 'isDescending'>): PagedList<FoundIdentity, SearchKey> => ({
  name: 'search',
  keySchema: z.tuple([z.int(), z.string(), z.string(), z.string()]),
  keyOf: (found) => keyOf(search, found),
});

/** A search that costs more takes a smaller share: ten ordinary patterns cost about as much. */
const HEAVY_COST = 30;

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

export type TestSearchAnswer = z.output<typeof response>;

const toJson = ({ test_id, name, pipeline_name, job_name }: FoundIdentity) => ({
  test_id,
  test_name: name,
  pipeline_name,
  job_name,
});

/** Tests by their whole names, together with everything else that is asked about tests at the same time. */
async function searchByNames(
  knownTests: KnownTests,
  repository: Repository,
  search: TestSearch,
): Promise<FoundIdentity[]> {
  const tests = await Promise.all([...new Set(search.testIds)].map((testId) => knownTests.find(repository, testId)));
  const { pipelines, pipelinesExcluded, jobs, jobsExcluded } = search;
  const isAmong = (name: string, only: readonly string[], except: readonly string[]): boolean =>
    (only.length === 0 || only.includes(name)) && !except.includes(name);
  const found = tests.flatMap((test) =>
    (test?.identities ?? [])
      .filter(({ pipelineName }) => isAmong(pipelineName, pipelines, pipelinesExcluded))
      .filter(({ jobName }) => isAmong(jobName, jobs, jobsExcluded))
      .map(({ testId, pipelineName, jobName, summary }) => ({
        test_id: testId,
        name: test?.name ?? '',
        pipeline_name: pipelineName,
        job_name: jobName,
        executions: executionsOf(summary),
      })),
  );
  const isReversed = search.sort !== 'executions_count' && search.isDescending;
  const { key, rows: limit, isBackward } = search;
  return rowsBeyond(found, (row) => keyOf(search, row), { key, isForward: isBackward === isReversed, limit });
}

/** Takes its turn among those of other owners: a pattern may have to look at every name. */
async function searchByPatterns(
  { db, searches }: common.InsightsDeps,
  { id, owner }: Repository,
  search: TestSearch,
  { isHeavy, signal }: Omit<Turn, 'owner'>,
): Promise<FoundIdentity[]> {
  const onEnded = await searches.take({ owner, isHeavy, signal });
  try {
    return await searchTests(db, id, search, signal);
  } finally {
    onEnded();
  }
}

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
      sort: enumParameter(SEARCH_SORTS, {
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
      const { sort, direction } = orderOf(query);
      const filters = {
        testNames: query.test_name,
        pipelines: query.pipeline_name,
        pipelinesExcluded: query.pipeline_name_exclude,
        jobs: query.job_name,
        jobsExcluded: query.job_name_exclude,
        sort,
        direction,
      };
      const asked = { path, query, filters: { filters }, window: noWindow, url: publicUrlOf(http.publicUrl, url) };
      const list = listOf({ sort, isDescending: direction === 'desc' });
      const page = await readPage(list, asked, async (request) => {
        const repository = await deps.repositories.find(path.owner, path.repository_name);
        if (!repository) return [];
        const { testNames, ...rest } = filters;
        const search = {
          ...rest,
          testIds: testNames.map((name) => testIdOf(repository.id, name)),
          patterns: testNames.filter(isGlob).map(globToLike),
          isDescending: direction === 'desc',
          isBackward: request.direction === 'previous',
          key: request.key,
          rows: request.perPage + 1,
        };
        return search.patterns.length === 0
          ? searchByNames(deps.knownTests, repository, search)
          : searchByPatterns(deps, repository, search, { isHeavy: costOf(testNames, HEAVY_COST) > HEAVY_COST, signal });
      });
      return pageReply(page, 'tests', toJson);
    },
  });
