/** Quarantines, and backtests of their policies. */
import { queryOptions } from '@tanstack/react-query';
import type { QuarantineEffects } from '../../src/insights/quarantine-effects.ts';
import type { BacktestAnswer, BacktestList } from '../../src/quarantines/backtests.ts';
import type { QuarantineListAnswer } from '../../src/quarantines/schemas.ts';
import { ask, get, pathOf } from './client.ts';
import { keyOf } from './keys.ts';
import { insights, type RepositoryPath } from './paths.ts';

export type Quarantine = QuarantineListAnswer['quarantined_tests'][number];

export const quarantinesQuery = (path: RepositoryPath, testId?: string) =>
  queryOptions({
    queryKey: keyOf('quarantines', path, testId),
    queryFn: ({ signal }) =>
      get<QuarantineListAnswer>(`${insights(path)}/quarantines`, { test_id: testId, narrowed: 'include' }, signal),
  });

export const effectsQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: keyOf('quarantine effects', path),
    queryFn: ({ signal }) => get<QuarantineEffects>(`${insights(path)}/quarantine-effects`, {}, signal),
    staleTime: 60_000,
  });

/** Terms of a quarantine, which may be changed later. */
interface QuarantineTerms {
  expires_at?: string | null;
  owner?: string | null;
  ticket_url?: string | null;
  pipeline_name?: string | null;
  job_name?: string | null;
  axes?: Record<string, string[]> | null;
  failure_ids?: string[] | null;
}

export interface NewQuarantine extends QuarantineTerms {
  test_name: string;
  reason: string;
  branch: string | null;
}

export const quarantine = (path: RepositoryPath, body: NewQuarantine) =>
  ask<{ id: string }>('POST', `${insights(path)}/quarantines`, { body });

/** What it names; the rest stays. */
export interface QuarantineChanges extends QuarantineTerms {
  reason?: string;
  branch?: string | null;
}

export const changeQuarantine = (path: RepositoryPath, id: string, body: QuarantineChanges) =>
  ask<unknown>('PATCH', `${insights(path)}${pathOf`/quarantines/${id}`}`, { body });

export const release = (path: RepositoryPath, id: string) =>
  ask<undefined>('DELETE', `${insights(path)}${pathOf`/quarantines/${id}`}`);

/** Undoes a release. */
export const restoreQuarantine = (path: RepositoryPath, id: string) =>
  ask<unknown>('POST', `${insights(path)}${pathOf`/quarantines/${id}/restore`}`);

export interface NewBacktest {
  auto_quarantine: 'flaky' | 'flaky+broken';
  since: string;
  is_narrowed: boolean;
  constants: Record<string, number>;
}

export const requestBacktest = async (path: RepositoryPath, body: NewBacktest): Promise<BacktestAnswer> =>
  (await ask<BacktestAnswer>('POST', `${insights(path)}/backtests`, { body })).body;

export const backtestQuery = (path: RepositoryPath, id: string) =>
  queryOptions({
    queryKey: keyOf('backtest', path, id),
    queryFn: ({ signal }) => get<BacktestAnswer>(`${insights(path)}${pathOf`/backtests/${id}`}`, {}, signal),
  });

/** Those that were asked for, the newest first. */
export const backtestsQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: keyOf('backtests', path),
    queryFn: ({ signal }) => get<BacktestList>(`${insights(path)}/backtests`, {}, signal),
  });
