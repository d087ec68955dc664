/** Renames of tests: what the service proposes, and what people decide. */
import { queryOptions } from '@tanstack/react-query';
import type { RenameList } from '../../src/insights/renames.ts';
import { ask, get, pathOf } from './client.ts';
import { keyOf } from './keys.ts';
import { insights, type RepositoryPath } from './paths.ts';

export type Rename = RenameList['renames'][number];
export type RenameState = Rename['state'];

const SHOWN_MAX = 100;
const MOVING_MS = 1_000;

/** Asked for again while what was decided is being applied. */
export const renamesQuery = (
  path: RepositoryPath,
  { testId, states }: { testId?: string; states?: RenameState[] } = {},
) =>
  queryOptions({
    queryKey: keyOf('renames', path, testId, states),
    queryFn: ({ signal }) =>
      get<RenameList>(`${insights(path)}/renames`, { test_id: testId, state: states, per_page: SHOWN_MAX }, signal),
    refetchInterval: ({ state: { data } }) => (data?.renames.some((one) => !one.is_applied) ? MOVING_MS : false),
  });

/** Renames that wait for a decision, and accepted ones. */
export const renamesOfTodayQuery = (path: RepositoryPath) => renamesQuery(path, { states: ['proposed', 'accepted'] });

export const decideRename = (path: RepositoryPath, id: string, state: 'accepted' | 'rejected' | 'undone') =>
  ask<Rename>('PATCH', `${insights(path)}${pathOf`/renames/${id}`}`, { body: { state } });
