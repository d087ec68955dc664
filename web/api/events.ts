/** The event log. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { EventCounts } from '../../src/events/aggregate.ts';
import type { EventLog } from '../../src/events/event.ts';
import { ask, get, pathOf, type Query } from './client.ts';
import { keyOf } from './keys.ts';
import { PAGE_ROWS, type RepositoryPath } from './paths.ts';

export const logQuery = ({ owner, repository }: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: keyOf('log', owner, repository, query),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<EventLog>('GET', pathOf`/repos/${owner}/${repository}/logs`, {
        query: { ...query, cursor, per_page: PAGE_ROWS },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
  });

export const eventCountsQuery = ({ owner, repository }: RepositoryPath, query: Query) =>
  queryOptions({
    queryKey: keyOf('log counts', owner, repository, query),
    queryFn: ({ signal }) => get<EventCounts>(pathOf`/repos/${owner}/${repository}/logs/aggregate`, query, signal),
    placeholderData: (before) => before,
  });
