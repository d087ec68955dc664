/** The import of a repository's history. */
import { queryOptions } from '@tanstack/react-query';
import type { RepositoryImportState } from '../../src/imports/routes.ts';
import { ask, get } from './client.ts';
import { keyOf } from './keys.ts';
import { insights, type RepositoryPath } from './paths.ts';

const RUNNING_ASKED_MS = 1_000;
const addressOf = (path: RepositoryPath): string => `${insights(path)}/import`;

/** Asked again and again while one is running. */
export const importQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: keyOf('import', path),
    queryFn: ({ signal }) => get<RepositoryImportState>(addressOf(path), {}, signal),
    refetchInterval: ({ state }) => (state.data?.import?.status === 'running' ? RUNNING_ASKED_MS : false),
  });

export interface NewImport {
  host: string;
  /** The repository there; null: as the import that is continued. */
  source: string | null;
  token: string;
  since: string | null;
}

export const startImport = (path: RepositoryPath, body: NewImport) =>
  ask<RepositoryImportState>('POST', addressOf(path), { body });

export const cancelImport = (path: RepositoryPath) => ask<RepositoryImportState>('DELETE', addressOf(path));
