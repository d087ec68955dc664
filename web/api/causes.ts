/** Causes of failures. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { CausePage } from '../../src/insights/cause.ts';
import type { CauseList } from '../../src/insights/causes.ts';
import { ask, get, pathOf, type Query } from './client.ts';
import { keyOf } from './keys.ts';
import { insights, type RepositoryPath } from './paths.ts';

/** Each row has a chart. */
const CAUSES_ROWS = 25;

export const causesQuery = (path: RepositoryPath, query: Query) =>
  infiniteQueryOptions({
    queryKey: keyOf('causes', path, query),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) =>
      ask<CauseList>('GET', `${insights(path)}/causes`, { query: { ...query, cursor, per_page: CAUSES_ROWS }, signal }),
    getNextPageParam: ({ next }) => next,
  });

export const causeQuery = (path: RepositoryPath, id: string) =>
  queryOptions({
    queryKey: keyOf('cause', path, id),
    queryFn: ({ signal }) => get<CausePage>(`${insights(path)}${pathOf`/causes/${id}`}`, {}, signal),
    staleTime: 30_000,
  });

export const changeCause = (
  path: RepositoryPath,
  id: string,
  body: { owner: string | null; ticket_url: string | null },
) => ask<unknown>('PATCH', `${insights(path)}${pathOf`/causes/${id}`}`, { body });

export const quarantineCause = (
  path: RepositoryPath,
  id: string,
  body: { reason: string; branch: string | null; expires_at: string | null },
) => ask<unknown>('POST', `${insights(path)}${pathOf`/causes/${id}`}/quarantine`, { body });

export const releaseCause = (path: RepositoryPath, id: string) =>
  ask<undefined>('DELETE', `${insights(path)}${pathOf`/causes/${id}`}/quarantine`);
