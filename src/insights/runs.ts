/** Lists pipelines' runs of commits, on any branch, newest first. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { DAY_MS } from '../domain/time.ts';
import type { Window } from '../domain/window.ts';
import { axisFilterParameter } from '../http/axis-filter.ts';
import { keyMoment } from '../http/cursor.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { branchesParameter, cursorParameter, momentParameter, perPageParameter } from '../http/parameters.ts';
import { unprocessable } from '../http/problems.ts';
import * as common from './common.ts';
import { failedJobsOf, type RunRow, runJson, runSchema } from './run-json.ts';
import type { RunKey, RunLists } from './run-lists.ts';
import { RunTroubles } from './run-troubles.ts';

/** The window of a request that names neither its start nor a commit. */
const WINDOW_DAYS = 7;

const pagedRuns: PagedList<RunRow, RunKey> = {
  name: 'runs',
  keySchema: z.tuple([keyMoment, z.string(), z.string(), z.string()]),
  keyOf: ({ started_ms, pipeline_name, run_id, commit_sha }) => [started_ms, pipeline_name, run_id, commit_sha],
};

const response = z.object({ ...common.pageFields, runs: z.array(runSchema) });
export type RunList = z.output<typeof response>;

const listAddress = '/v1/ci/:owner/repositories/:repository/runs';

export function mountRuns(app: AnyElysia, http: Http, deps: common.InsightsDeps & { runLists: RunLists }): void {
  mount(app, http, 'GET', listAddress, {
    operationId: 'listRuns',
    tag: common.TAG,
    summary: 'List runs',
    description: `What pipelines ran for commits, on any branch, by when it began, newest first. A run has all its CI jobs and attempts. The window is the last ${WINDOW_DAYS} days, or with \`commit_sha\` everything that is retained.`,
    access: 'read',
    params: common.shortPath,
    query: {
      branch: branchesParameter({ description: 'Only runs of these branches.', example: ['feature/rounding'] }),
      commit_sha: common.namesParameter('Only runs of these commits.', ['1111111111111111111111111111111111111111']),
      pipeline_name: common.namesParameter('Only runs of these pipelines.', ['CI']),
      axis: axisFilterParameter('Only runs with a leg of these values, and only what these legs did, as `name:value`.'),
      start: momentParameter({
        description: 'Runs that began at this time or later.',
        example: '2026-11-20T10:00:00Z',
      }),
      end: momentParameter({ description: 'Runs that began before this time; defaults to now.' }),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: {
      200: {
        description: 'A page of runs.',
        schema: response,
        headers: LINK,
      },
    },
    isCoalesced: true,
    handle: async ({ params: path, query, url, signal }) => {
      const { branch: branches, commit_sha: commits, pipeline_name: pipelines, axis: axes, start, end } = query;
      const filters = { branches, commits, pipelines, axes };
      const asked = {
        path,
        query,
        filters: { ...filters, start, end },
        window: (first = windowOf(query, deps.clock.now())) => first,
        url: publicUrlOf(http.publicUrl, url),
      };
      const repository = await deps.repositories.find(path.owner, path.repository);
      const page = await readPage(pagedRuns, asked, async (request) =>
        repository ? deps.runLists.page(repository, { ...request, filters }, signal) : [],
      );
      const failed = page.items.flatMap(failedJobsOf);
      const troubles = await RunTroubles.of(deps.db, repository?.id, failed);
      return pageReply(page, 'runs', (row) => runJson(row, troubles));
    },
  });
}

function windowOf(
  query: { start: number | undefined; end: number | undefined; commit_sha: readonly string[] },
  now: number,
): Window {
  // A run that began in the millisecond of the request is part of the list.
  const end = query.end ?? now + 1;
  const start = query.start ?? (query.commit_sha.length > 0 ? 0 : Math.max(0, end - WINDOW_DAYS * DAY_MS));
  if (start >= end)
    throw unprocessable([{ loc: ['query', 'start'], msg: 'must be before end', type: 'invalid_window' }]);
  return { start, end };
}
