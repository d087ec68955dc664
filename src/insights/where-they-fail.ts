/** Where some failed tests of a commit fail, each in a sentence. A read of a test costs a few milliseconds, so not for all. */
import { windowUpTo } from '../domain/ratio-window.ts';
import type { FailsWith } from '../explain/fails-with-schema.ts';
import { whereTestsFail } from '../explain/where-it-fails.ts';
import type { Repository } from '../postgres/repositories.ts';
import type { InsightsDeps } from './common.ts';
import { latest } from './known-tests.ts';

/** Tests of a page that are explained: a job in which more fail has one cause, which no axis of a test explains. */
export const EXPLAINED_MAX = 20;

/** Only tests that ran in several legs and failed on the default branch in the last month: others have nothing to explain. */
export async function whereTheyFail(
  deps: InsightsDeps,
  repository: Repository,
  testIds: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, FailsWith>> {
  const window = windowUpTo(deps.clock.now());
  // At the same time: these look-ups share a statement.
  const tests = await Promise.all(
    [...new Set(testIds)].map(async (testId) => ({ testId, test: await deps.knownTests.find(repository, testId) })),
  );
  const asked = tests.filter(({ test }) => {
    const lastFailureAt = latest(test?.identities.map(({ summary }) => summary.lastFailureAt) ?? []);
    const legs = Math.max(test?.legs.length ?? 0, test?.identities.length ?? 0);
    return legs > 1 && lastFailureAt !== null && lastFailureAt >= window.start;
  });
  return whereTestsFail(
    deps.clickhouse,
    { repositoryId: repository.id, testIds: asked.slice(0, EXPLAINED_MAX).map(({ testId }) => testId), window },
    { owner: repository.owner, signal },
  );
}
