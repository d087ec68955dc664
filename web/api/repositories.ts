/** Repositories: the list, what a repository is doing, its host and its settings. */
import { queryOptions } from '@tanstack/react-query';
import type { OwnerRule } from '../../src/domain/owner-rules.ts';
import type { RepositoryHost } from '../../src/insights/host.ts';
import type { OwnersPreviewAnswer } from '../../src/insights/owner-preview.ts';
import type { RepositoryList } from '../../src/insights/repositories.ts';
import type { RepositoryChangeList } from '../../src/insights/repository-changes.ts';
import type { RepositoryStatistics } from '../../src/insights/repository-stats.ts';
import type { RepositoryTransitions } from '../../src/insights/repository-transitions.ts';
import type { Setup } from '../../src/insights/setup.ts';
import type { UnhealthyByDay } from '../../src/insights/unhealthy-by-day.ts';
import type { DeletionPreview, RepositoryDeletion } from '../../src/operate/repository-deletion.ts';
import type {
  ChangedSettings,
  RepositorySettingsAnswer,
  SettingsChange,
} from '../../src/operate/repository-settings.ts';
import { ask, get, pathOf } from './client.ts';
import { keyOf } from './keys.ts';
import { insights, PAGE_ROWS, type RepositoryPath } from './paths.ts';

export const repositoriesQuery = queryOptions({
  queryKey: keyOf('repositories'),
  queryFn: ({ signal }) => get<RepositoryList>('/repositories', {}, signal),
});

/** Repositories with the most trouble, and how many there are: at once, also where the whole list takes a second. */
export const firstRepositoriesQuery = queryOptions({
  queryKey: keyOf('repositories', 'first'),
  queryFn: ({ signal }) => get<RepositoryList>('/repositories', { per_page: PAGE_ROWS }, signal),
});

/** What changed this week in those with the most trouble. */
export const repositoryChangesQuery = queryOptions({
  queryKey: keyOf('repositories', 'changes'),
  queryFn: ({ signal }) => get<RepositoryChangeList>('/repositories/changes', {}, signal),
  staleTime: 30_000,
});

/** Those that the home of a repository shows, in its order. */
export const TODAY_STATS = [
  'total_tests',
  'failed_executions',
  'flaky_tests',
  'broken_tests',
] as const satisfies readonly RepositoryStatistics['stat'][];

export const repositoryStatQuery = (path: RepositoryPath, stat: RepositoryStatistics['stat']) =>
  queryOptions({
    queryKey: keyOf('repository stat', path, stat),
    queryFn: ({ signal }) => get<RepositoryStatistics>(`${insights(path)}${pathOf`/tests/stats/${stat}`}`, {}, signal),
    staleTime: 30_000,
  });

/** Tests whose health changed in the last seven days. */
export const turnsQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: keyOf('turns', path),
    queryFn: ({ signal }) =>
      get<RepositoryTransitions>(`${insights(path)}/health-transitions`, { per_page: PAGE_ROWS }, signal),
    staleTime: 30_000,
  });

/** Unhealthy tests by day, of the last 90 days. */
export const unhealthyByDayQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: keyOf('unhealthy by day', path),
    queryFn: ({ signal }) => get<UnhealthyByDay>(`${insights(path)}/health-transitions/by-day`, {}, signal),
    staleTime: 60_000,
  });

/** Where the repository is hosted. It hardly ever changes. */
export const hostQuery = ({ owner, repository }: RepositoryPath) =>
  queryOptions({
    queryKey: keyOf('host', owner, repository),
    queryFn: ({ signal }) => get<RepositoryHost>(`${insights({ owner, repository })}/host`, {}, signal),
    staleTime: 600_000,
  });

const SETUP_ASKED_MS = 3_000;

/** Asked again and again: its steps turn green by themselves. */
export const setupQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: keyOf('setup', path),
    queryFn: ({ signal }) => get<Setup>(`${insights(path)}/setup`, {}, signal),
    refetchInterval: SETUP_ASKED_MS,
  });

export const settingsQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: keyOf('settings', path),
    queryFn: ({ signal }) => get<RepositorySettingsAnswer>(`${insights(path)}/settings`, {}, signal),
  });

export const changeSettings = (path: RepositoryPath, body: SettingsChange) =>
  ask<ChangedSettings>('PATCH', `${insights(path)}/settings`, { body });

/** How many rows would go with the repository. */
export const deletionPreviewQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: keyOf('deletion preview', path),
    queryFn: async ({ signal }) =>
      (await ask<DeletionPreview>('DELETE', insights(path), { query: { dry_run: 'true' }, signal })).body,
    staleTime: 0,
  });

/** @param confirm owner and name, as a person typed them */
export const deleteRepository = (path: RepositoryPath, confirm: string) =>
  ask<RepositoryDeletion>('DELETE', insights(path), { query: { confirm } });

/** What rules of owners would do; nothing is saved. */
export const ownersPreviewQuery = (path: RepositoryPath, rules: readonly OwnerRule[]) =>
  queryOptions({
    queryKey: keyOf('owners preview', path, rules),
    queryFn: async ({ signal }) =>
      (
        await ask<OwnersPreviewAnswer>('POST', `${insights(path)}/owners/preview`, {
          body: { test_owners: rules },
          signal,
        })
      ).body,
  });
