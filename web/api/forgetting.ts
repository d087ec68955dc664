/** Forgetting tests: what would go, what was asked for, and how far it is. */
import { queryOptions } from '@tanstack/react-query';
import type {
  BegunForgetting,
  ForgettingPreview,
  TestForgetting,
  TestForgettingList,
  TestsToForget,
} from '../../src/operate/tests-forgetting.ts';
import { ask, get } from './client.ts';
import { keyOf } from './keys.ts';
import { insights, type RepositoryPath } from './paths.ts';

export type { TestForgetting, TestsToForget };

const POLL_MS = 1_000;
const ASKED_MAX = 60;

/** Asks what would go with some tests. */
export const forgettingPreviewQuery = (path: RepositoryPath, wanted: TestsToForget) =>
  queryOptions({
    queryKey: keyOf('forgetting preview', path, wanted),
    queryFn: async ({ signal }) =>
      (
        await ask<ForgettingPreview>('POST', `${insights(path)}/tests/forget`, {
          query: { dry_run: 'true' },
          body: wanted,
          signal,
        })
      ).body,
    staleTime: 0,
  });

export const forgetTests = async (path: RepositoryPath, wanted: TestsToForget): Promise<BegunForgetting> =>
  (await ask<BegunForgetting>('POST', `${insights(path)}/tests/forget`, { body: wanted })).body;

/** Returns once a worker is done, or after a minute. */
export async function untilForgotten(path: RepositoryPath, id: string): Promise<void> {
  for (let asked = 0; asked < ASKED_MAX; asked++) {
    const { forgettings } = await get<TestForgettingList>(`${insights(path)}/forgotten-tests`);
    if (forgettings.find((one) => one.id === id)?.finished_at) return;
    await new Promise((later) => setTimeout(later, POLL_MS));
  }
}

/** The receipts, newest first. Read again while a worker is at one. */
export const forgettingsQuery = (path: RepositoryPath) =>
  queryOptions({
    queryKey: keyOf('forgettings', path),
    queryFn: ({ signal }) => get<TestForgettingList>(`${insights(path)}/forgotten-tests`, {}, signal),
    refetchInterval: ({ state }) =>
      state.data?.forgettings.some(({ finished_at: at }) => at === null) ? POLL_MS : false,
  });
