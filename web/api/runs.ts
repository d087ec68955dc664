/** Runs, the commits and pull requests that they are of, and what they cost. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { CommitFailures } from '../../src/insights/commit-failures.ts';
import type { Costs } from '../../src/insights/cost.ts';
import type { LaneList } from '../../src/insights/lanes.ts';
import type { PullRequestAnswer } from '../../src/insights/pull-request.ts';
import type { PullRequestList } from '../../src/insights/pulls.ts';
import type { RedRuns } from '../../src/insights/red-runs.ts';
import type { RedRunsByDay } from '../../src/insights/red-runs-by-day.ts';
import type { RunAnswer } from '../../src/insights/run.ts';
import type { RunList } from '../../src/insights/runs.ts';
import { ask, get, pathOf, type Query } from './client.ts';
import { keyOf } from './keys.ts';
import { insights, LINES, PAGE_ROWS, type RepositoryPath } from './paths.ts';

export const runsQuery = (path: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: keyOf('runs', path, query),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<RunList>('GET', `${insights(path)}/runs`, { query: { ...query, cursor, per_page: PAGE_ROWS }, signal }),
    getNextPageParam: ({ next }) => next,
  });

export const runQuery = (path: RepositoryPath, id: string) =>
  queryOptions({
    queryKey: keyOf('run', path, id),
    queryFn: ({ signal }) => get<RunAnswer>(`${insights(path)}${pathOf`/runs/${id}`}`, {}, signal),
  });

export const commitQuery = (path: RepositoryPath, commit: string, only: Query = {}) =>
  infiniteQueryOptions({
    queryKey: keyOf('commit', path, commit, only),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<CommitFailures>('GET', `${insights(path)}${pathOf`/commits/${commit}/failures`}`, {
        query: { ...only, cursor, per_page: PAGE_ROWS },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
  });

export const pullsQuery = (path: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: keyOf('pull requests', path, query),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<PullRequestList>('GET', `${insights(path)}/pulls`, {
        query: { ...query, cursor, per_page: LINES },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
  });

export const pullQuery = (path: RepositoryPath, number: string) =>
  queryOptions({
    queryKey: keyOf('pull request', path, number),
    queryFn: ({ signal }) => get<PullRequestAnswer>(`${insights(path)}${pathOf`/pulls/${number}`}`, {}, signal),
  });

export const redRunsQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: keyOf('red runs', path),
    queryFn: ({ signal }) => get<RedRuns>(`${insights(path)}/red-runs`, {}, signal),
    staleTime: 30_000,
  });

export const redRunsByDayQuery = (path: RepositoryPath, query: Query) =>
  queryOptions({
    queryKey: keyOf('red runs by day', path, query),
    queryFn: ({ signal }) => get<RedRunsByDay>(`${insights(path)}/red-runs/by-day`, query, signal),
    staleTime: 60_000,
    placeholderData: (before) => before,
  });

export const lanesQuery = (path: RepositoryPath, query: Query) =>
  queryOptions({
    queryKey: keyOf('lanes', path, query),
    queryFn: ({ signal }) => get<LaneList>(`${insights(path)}/lanes`, query, signal),
    staleTime: 60_000,
    placeholderData: (before) => before,
  });

export const costQuery = (path: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: keyOf('cost', path, query),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<Costs>('GET', `${insights(path)}/cost`, { query: { ...query, cursor, per_page: PAGE_ROWS }, signal }),
    getNextPageParam: ({ next }) => next,
    staleTime: 60_000,
    placeholderData: (before) => before,
  });
