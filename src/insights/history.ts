/** The history of a test: each of its executions, on any branch, and one of them with the stacks of its failures. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { STATUSES } from '../domain/status.ts';
import type { Window } from '../domain/window.ts';
import { AXIS_PARAMETERS, axisFilterParameter, axisValues } from '../http/axis-filter.ts';
import { keyMoment } from '../http/cursor.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import {
  branchesParameter,
  cursorParameter,
  enumParameter,
  enumsParameter,
  integersParameter,
  perPageParameter,
} from '../http/parameters.ts';
import { notFound } from '../http/problems.ts';
import { mergedAs, pullRequestsOf } from '../postgres/pull-requests.ts';
import type { Repository } from '../postgres/repositories.ts';
import * as common from './common.ts';
import {
  type AttemptRow,
  attemptRow,
  type ExecutionRow,
  executionRow,
  type KnownPulls,
  listedExecution,
  listedJson,
  wholeExecution,
  wholeJson,
} from './execution-json.ts';
import { longWindow, longWindowParameters } from './window.ts';

const PULL_MAX = 2_147_483_647;
/** Most failed attempts read for a page of executions: a runner tries a test few times. */
const ATTEMPTS_MAX = 1_000;
/** A failed attempt ended before its execution did, by less than a day. */
const DAY_MS = 86_400_000;

const filters = {
  branches: 'Array(String)',
  pipelines: 'Array(String)',
  jobs: 'Array(String)',
  commits: 'Array(String)',
  pulls: 'Array(UInt32)',
  statuses: 'Array(String)',
  has_failed: 'Bool',
  ...AXIS_PARAMETERS,
} as const;
const parameters = {
  repository_id: 'UUID',
  test_id: 'UUID',
  start_ms: 'Int64',
  end_ms: 'Int64',
  ...filters,
  is_first: 'Bool',
  key_ms: 'Int64',
  key_execution: 'UInt64',
  rows: 'UInt32',
} as const;
/** The list is newest first, so its next page lies backward in time. */
const pages = {
  next: defineQuery('insights/history', parameters, executionRow, 'backward'),
  previous: defineQuery('insights/history', parameters, executionRow, 'forward'),
};
const oneExecution = defineQuery(
  'insights/execution',
  { repository_id: 'UUID', test_id: 'UUID', execution: 'UInt64' },
  executionRow,
);
const failedAttempts = defineQuery(
  'insights/failed_attempts',
  {
    repository_id: 'UUID',
    test_id: 'UUID',
    executions: 'Array(UInt64)',
    start_ms: 'Int64',
    end_ms: 'Int64',
    with_texts: 'Bool',
    rows: 'UInt32',
  },
  attemptRow,
);

type Key = [finishedMs: number, executionId: string];
const EXECUTION_MAX = 2n ** 64n;
const executionId = z
  .string()
  .refine((id) => /^\d{1,20}$/.test(id) && BigInt(id) < EXECUTION_MAX, { error: 'must be the id of an execution' });
const history: PagedList<ExecutionRow, Key> = {
  name: 'history',
  keySchema: z.tuple([keyMoment, executionId]),
  keyOf: ({ finished_ms, execution }) => [finished_ms, execution],
};

const response = z.object({ ...common.pageFields, executions: z.array(listedExecution) });
export type TestHistory = z.output<typeof response>;
export type TestExecution = z.output<typeof wholeExecution>;

const address = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/history';

export function mountHistory(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  mount(app, http, 'GET', address, {
    operationId: 'listTestHistory',
    tag: common.TAG,
    summary: 'List each execution of a test',
    description:
      'The executions of a test on any branch, newest first, each with its commit, branch, pull request and author, and how it failed.',
    access: 'read',
    params: common.testPath,
    query: {
      branch: branchesParameter({ description: 'Only executions on these branches.', example: ['feature/rounding'] }),
      pipeline_name: common.namesParameter('Only executions in these pipelines.', ['CI']),
      job_name: common.namesParameter('Only executions in these CI jobs.', ['unit']),
      commit_sha: common.namesParameter('Only executions on these commits.', [
        '1111111111111111111111111111111111111111',
      ]),
      pull_request: integersParameter(1, PULL_MAX, {
        description: 'Only executions for these pull requests.',
        example: [7],
      }),
      status: enumsParameter(STATUSES, { description: 'Only executions that ended so.', example: ['failed'] }),
      has_failed: enumParameter(['true', 'false'], {
        description: '`true`: only executions of which an attempt failed, also those that passed in the end.',
        default: 'false',
      }),
      axis: axisFilterParameter('Only executions in legs with these values, as `name:value`.'),
      ...longWindowParameters(),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'A page of executions.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url, signal }) => {
      const { branch, pipeline_name, job_name, commit_sha, pull_request, status, has_failed, axis, start, end } = query;
      const values = {
        branches: branch,
        pipelines: pipeline_name,
        jobs: job_name,
        commits: commit_sha,
        pulls: pull_request,
        statuses: status,
        has_failed: has_failed === 'true',
        ...axisValues(axis),
      };
      const asked = {
        path,
        query,
        filters: { ...values, start, end },
        window: (first = longWindow(query, deps.clock.now())) => first,
        url: publicUrlOf(http.publicUrl, url),
      };
      const { repository, testId } = await common.testAsked(deps, path);
      const page = await readPage(history, asked, ({ window, key, perPage, direction }) =>
        deps.clickhouse.select(
          pages[direction],
          {
            repository_id: repository.id,
            test_id: testId,
            start_ms: window.start,
            end_ms: window.end,
            ...values,
            is_first: key === null,
            key_ms: key?.[0] ?? 0,
            key_execution: BigInt(key?.[1] ?? 0),
            rows: perPage + 1,
          },
          { owner: repository.owner, signal },
        ),
      );
      const [attempts, pulls] = await Promise.all([
        attemptsOf(deps, repository, { testId, rows: page.items, isWhole: false }, signal),
        pullsOf(deps, repository, page.items),
      ]);
      return pageReply(page, 'executions', (row) => listedJson(row, attempts.get(row.execution) ?? [], pulls));
    },
  });

  mount(app, http, 'GET', `${address}/:execution_id`, {
    operationId: 'getTestExecution',
    tag: common.TAG,
    summary: 'Get one execution of a test',
    description: 'An execution on any branch, with the stack traces of its failed attempts.',
    access: 'read',
    params: common.testPath.extend({
      execution_id: executionId.meta({
        description: 'The execution, as the history of the test names it.',
        example: '1234567890123456789',
      }),
    }),
    responses: { 200: { description: 'The execution.', schema: wholeExecution } },
    isCoalesced: true,
    handle: async ({ params: path, signal }) => {
      const { repository, testId } = await common.testAsked(deps, path);
      const [row] = await deps.clickhouse.select(
        oneExecution,
        { repository_id: repository.id, test_id: testId, execution: BigInt(path.execution_id) },
        { owner: repository.owner, signal },
      );
      if (!row) throw notFound('This test has no such execution. Its executions are listed at …/history.');
      const [attempts, pulls] = await Promise.all([
        attemptsOf(deps, repository, { testId, rows: [row], isWhole: true }, signal),
        pullsOf(deps, repository, [row]),
      ]);
      return { body: wholeJson(testId, row, attempts.get(row.execution) ?? [], pulls) };
    },
  });
}

const EVERYTHING = {
  branches: [],
  pipelines: [],
  jobs: [],
  commits: [],
  pulls: [],
  statuses: [],
  has_failed: false,
  ...axisValues([]),
} as const;

/** The newest execution of a test in a window of which an attempt failed, with its stacks; undefined if there is none. */
export async function newestFailed(
  deps: common.InsightsDeps,
  repository: Repository,
  { testId, window, commits = [] }: { testId: string; window: Window; commits?: readonly string[] },
  signal?: AbortSignal,
): Promise<TestExecution | undefined> {
  const [row] = await deps.clickhouse.select(
    pages.next,
    {
      repository_id: repository.id,
      test_id: testId,
      start_ms: window.start,
      end_ms: window.end,
      ...{ ...EVERYTHING, has_failed: true, commits },
      ...{ is_first: true, key_ms: 0, key_execution: 0n, rows: 1 },
    },
    { owner: repository.owner, signal },
  );
  if (!row) return undefined;
  const [attempts, pulls] = await Promise.all([
    attemptsOf(deps, repository, { testId, rows: [row], isWhole: true }, signal),
    pullsOf(deps, repository, [row]),
  ]);
  return wholeJson(testId, row, attempts.get(row.execution) ?? [], pulls);
}

/** The failed attempts of some executions, by execution, in order. */
async function attemptsOf(
  { clickhouse }: common.InsightsDeps,
  { id, owner }: Repository,
  { testId, rows, isWhole }: { testId: string; rows: readonly ExecutionRow[]; isWhole: boolean },
  signal: AbortSignal | undefined,
): Promise<Map<string, AttemptRow[]>> {
  const failed = rows.filter(({ failures }) => failures > 0);
  if (failed.length === 0) return new Map();
  const times = failed.map(({ finished_ms: at }) => at);
  const found = await clickhouse.select(
    failedAttempts,
    {
      repository_id: id,
      test_id: testId,
      executions: failed.map(({ execution }) => BigInt(execution)),
      start_ms: Math.min(...times) - DAY_MS,
      end_ms: Math.max(...times) + DAY_MS,
      with_texts: isWhole,
      rows: ATTEMPTS_MAX,
    },
    { owner, signal },
  );
  return Map.groupBy(found, ({ execution }) => execution);
}

async function pullsOf(
  { db }: common.InsightsDeps,
  { id }: Repository,
  rows: readonly ExecutionRow[],
): Promise<KnownPulls> {
  const numbers = [...new Set(rows.map(({ pull_request: number }) => number).filter((number) => number !== 0))];
  const merged = rows.filter(({ pull_request: number }) => number === 0).map(({ commit_sha: commit }) => commit);
  const [byNumber, byCommit] = await Promise.all([
    numbers.length === 0 ? new Map() : pullRequestsOf(db, id, numbers),
    mergedAs(db, id, [...new Set(merged)]),
  ]);
  return { byNumber, byCommit };
}
