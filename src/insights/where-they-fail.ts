/** Where failed tests of a commit fail, each in a sentence. */
import type { ClickHouse } from '../clickhouse/client.ts';
import { windowUpTo } from '../domain/ratio-window.ts';
import type { FailsWith } from '../explain/fails-with-schema.ts';
import { whereTestsFail } from '../explain/where-it-fails.ts';
import type { Repository } from '../postgres/repositories.ts';
import { TtlCache } from '../ttl-cache.ts';
import type { InsightsDeps } from './common.ts';
import { type KnownTests, latest } from './known-tests.ts';

/** Tests of a page that are explained: a job in which more fail has one cause, which no axis of a test explains. */
export const EXPLAINED_MAX = 20;

/**
 * Until a test fails again. A month changes little in a minute, and the same tests fail on many commits: a page of the
 * benchmark takes 50 ms of processor time instead of 250.
 */
const KEPT_MS = 60_000;
const KEPT_MAX = 10_000;

/** What was read at a moment; null if the test did not run. */
interface Kept {
  readAt: number;
  failsWith: FailsWith | null;
}

/** A failed test of a commit, and when it failed there. */
interface Failed {
  testId: string;
  failedAt: number;
}

export class WhereTheyFail {
  readonly #clickhouse: ClickHouse;
  readonly #knownTests: KnownTests;
  readonly #clock: InsightsDeps['clock'];
  /** By test and its newest failure on the default branch. */
  readonly #kept = new TtlCache<Kept>(KEPT_MS, KEPT_MAX);

  constructor({ clickhouse, knownTests, clock }: Pick<InsightsDeps, 'clickhouse' | 'knownTests' | 'clock'>) {
    this.#clickhouse = clickhouse;
    this.#knownTests = knownTests;
    this.#clock = clock;
  }

  /**
   * By test id. Only tests that ran in several legs and failed on the default branch in the last month: others have nothing
   * to explain.
   */
  async of(repository: Repository, failed: readonly Failed[]): Promise<ReadonlyMap<string, FailsWith>> {
    const now = this.#clock.now();
    const window = windowUpTo(now);
    const failedAt = new Map<string, number>();
    for (const one of failed) failedAt.set(one.testId, Math.max(one.failedAt, failedAt.get(one.testId) ?? 0));
    // At the same time: these look-ups share a statement.
    const tests = await Promise.all(
      [...failedAt.keys()].map(async (testId) => ({ testId, test: await this.#knownTests.find(repository, testId) })),
    );
    const asked = tests
      .flatMap(({ testId, test }) => {
        const lastFailureAt = latest(test?.identities.map(({ summary }) => summary.lastFailureAt) ?? []);
        const legs = Math.max(test?.legs.length ?? 0, test?.identities.length ?? 0);
        const isAsked = legs > 1 && lastFailureAt !== null && lastFailureAt >= window.start;
        return isAsked ? [{ testId, key: `${testId} ${lastFailureAt}` }] : [];
      })
      .slice(0, EXPLAINED_MAX);
    const missing: string[] = [];
    for (const { testId, key } of asked) {
      const kept = this.#kept.recall(key);
      // What was read before the failure does not count it.
      if (kept && kept.readAt >= (failedAt.get(testId) ?? 0)) continue;
      this.#kept.forget(key);
      missing.push(testId);
    }
    const reading = whereTestsFail(
      this.#clickhouse,
      { repositoryId: repository.id, testIds: missing, window },
      { owner: repository.owner },
    );
    const read = async (testId: string): Promise<Kept> => ({
      readAt: now,
      failsWith: (await reading).get(testId) ?? null,
    });
    const found = await Promise.all(
      asked.map(async ({ testId, key }) => ({ testId, ...(await this.#kept.get(key, () => read(testId))) })),
    );
    return new Map(found.flatMap(({ testId, failsWith }) => (failsWith ? [[testId, failsWith]] : [])));
  }
}
