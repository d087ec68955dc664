/** Saved views of a repository: those of everyone, and one's own. */
import { queryOptions } from '@tanstack/react-query';
import type { NewSavedView, SavedViewList } from '../../src/views/routes.ts';
import { ask, get, pathOf } from './client.ts';
import { insights, type RepositoryPath } from './queries.ts';

export type SavedView = SavedViewList['views'][number];

export const savedViewsQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: ['saved views', path],
    queryFn: ({ signal }) => get<SavedViewList>(`${insights(path)}/views`, {}, signal),
    staleTime: 60_000,
  });

export const saveView = async (path: RepositoryPath, body: NewSavedView): Promise<SavedView> =>
  (await ask<SavedView>('POST', `${insights(path)}/views`, { body })).body;

export const deleteView = (path: RepositoryPath, id: string) =>
  ask<undefined>('DELETE', `${insights(path)}${pathOf`/views/${id}`}`);
