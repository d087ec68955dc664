/** Tests: the search, and what is known of one. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Explanation } from '../../src/explain/explanation-schema.ts';
import type { TestAxes } from '../../src/insights/axes.ts';
import type { TestDetails } from '../../src/insights/details.ts';
import type { DurationPage } from '../../src/insights/durations.ts';
import type { TestExecutions } from '../../src/insights/executions.ts';
import type { TestFailure, TestFailures } from '../../src/insights/failures.ts';
import type { TestExecution, TestHistory } from '../../src/insights/history.ts';
import type { OwnerList } from '../../src/insights/owners.ts';
import type { TestSearchAnswer } from '../../src/insights/search.ts';
import type { TestSegments } from '../../src/insights/segments.ts';
import type { TestStatistic } from '../../src/insights/stats.ts';
import { ask, get, pathOf, type Query } from './client.ts';
import { keyOf } from './keys.ts';
import { insights, LINES, PAGE_ROWS, type RepositoryPath, type TestPath, type TimeWindow, test } from './paths.ts';

export const searchQuery = (path: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: keyOf('search', path, query),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<TestSearchAnswer>('GET', `${insights(path)}/search/tests`, {
        query: { ...query, cursor, per_page: PAGE_ROWS },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
  });

export const ownersQuery = (path: RepositoryPath) =>
  infiniteQueryOptions({
    queryKey: keyOf('owners', path),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<OwnerList>('GET', `${insights(path)}/owners`, { query: { cursor, per_page: PAGE_ROWS }, signal }),
    getNextPageParam: ({ next }) => next,
  });

export const durationsQuery = (path: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: keyOf('durations', path, query),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<DurationPage>('GET', `${insights(path)}/durations`, {
        query: { ...query, cursor, per_page: PAGE_ROWS },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
    staleTime: 60_000,
    placeholderData: (before) => before,
  });

export const detailsQuery = (path: TestPath) =>
  queryOptions({
    queryKey: keyOf('test', path),
    queryFn: ({ signal }) => get<TestDetails>(test(path), {}, signal),
    staleTime: 30_000,
  });

/** @param asOf a moment; absent: as is known now */
export const explanationQuery = (path: TestPath, asOf?: string) =>
  queryOptions({
    queryKey: keyOf('explanation', path, asOf),
    queryFn: ({ signal }) => get<Explanation>(`${test(path)}/explanation`, { as_of: asOf }, signal),
    staleTime: 60_000,
  });

export const axesQuery = (path: TestPath) =>
  queryOptions({
    queryKey: keyOf('axes', path),
    queryFn: ({ signal }) => get<TestAxes>(`${test(path)}/axes`, {}, signal),
    staleTime: 60_000,
  });

export const segmentsQuery = (path: TestPath, { start, end }: TimeWindow) =>
  queryOptions({
    queryKey: keyOf('segments', path, start, end),
    queryFn: ({ signal }) => get<TestSegments>(`${test(path)}/segments`, { start, end }, signal),
    staleTime: 60_000,
    placeholderData: (before) => before,
  });

export type Stat = TestStatistic['stat'];

/** Those that the page of a test shows. */
export const TEST_STATS = [
  'success_count',
  'failure_count',
  'flaky_count',
  'mean_duration',
] as const satisfies readonly Stat[];

export const statQuery = (path: TestPath, stat: Stat, { start, end }: TimeWindow) =>
  queryOptions({
    queryKey: keyOf('stat', path, stat, start, end),
    queryFn: ({ signal }) => get<TestStatistic>(`${test(path)}${pathOf`/stats/${stat}`}`, { start, end }, signal),
    staleTime: 60_000,
    placeholderData: (before) => before,
  });

export const failuresQuery = (path: TestPath) =>
  queryOptions({
    queryKey: keyOf('failures', path),
    queryFn: ({ signal }) => get<TestFailures>(`${test(path)}/failures`, {}, signal),
  });

export const failureQuery = (path: TestPath, failureId: string) =>
  queryOptions({
    queryKey: keyOf('failure', path, failureId),
    queryFn: ({ signal }) => get<TestFailure>(`${test(path)}${pathOf`/failures/${failureId}`}`, {}, signal),
  });

export const executionsQuery = (path: TestPath, { start, end }: TimeWindow) =>
  queryOptions({
    queryKey: keyOf('executions', path, start, end),
    queryFn: ({ signal }) =>
      get<TestExecutions>(`${test(path)}/executions`, { start, end, per_page: PAGE_ROWS }, signal),
    placeholderData: (before) => before,
  });

/** Each execution of a test, on any branch. */
export const historyQuery = (path: TestPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: keyOf('history', path, query),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<TestHistory>('GET', `${test(path)}/history`, { query: { ...query, cursor, per_page: LINES }, signal }),
    getNextPageParam: ({ next }) => next,
    staleTime: 30_000,
  });

/** It never changes. */
export const executionQuery = (path: TestPath, executionId: string) =>
  queryOptions({
    queryKey: keyOf('execution', path, executionId),
    queryFn: ({ signal }) => get<TestExecution>(`${test(path)}${pathOf`/history/${executionId}`}`, {}, signal),
    staleTime: 600_000,
  });
