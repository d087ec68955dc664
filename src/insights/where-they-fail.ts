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

/** Until a test fails again. A month changes little in a minute, and the same tests fail on many commits. */
const KEPT_MS = 60_000;
const KEPT_MAX = 10_000;

export class WhereTheyFail {
  readonly #clickhouse: ClickHouse;
  readonly #knownTests: KnownTests;
  readonly #clock: InsightsDeps['clock'];
  /** By test and its newest failure; null if the test did not run. */
  readonly #kept = new TtlCache<FailsWith | null>(KEPT_MS, KEPT_MAX);

  constructor({ clickhouse, knownTests, clock }: Pick<InsightsDeps, 'clickhouse' | 'knownTests' | 'clock'>) {
    this.#clickhouse = clickhouse;
    this.#knownTests = knownTests;
    this.#clock = clock;
  }

  /**
   * By test id. Only tests that ran in several legs and failed on the default branch in the last month: others have nothing
   * to explain.
   */
  async of(repository: Repository, testIds: readonly string[]): Promise<ReadonlyMap<string, FailsWith>> {
    const window = windowUpTo(this.#clock.now());
    // At the same time: these look-ups share a statement.
    const tests = await Promise.all(
      [...new Set(testIds)].map(async (testId) => ({ testId, test: await this.#knownTests.find(repository, testId) })),
    );
    const asked = tests
      .flatMap(({ testId, test }) => {
        const lastFailureAt = latest(test?.identities.map(({ summary }) => summary.lastFailureAt) ?? []);
        const legs = Math.max(test?.legs.length ?? 0, test?.identities.length ?? 0);
        const isAsked = legs > 1 && lastFailureAt !== null && lastFailureAt >= window.start;
        return isAsked ? [{ testId, key: `${testId} ${lastFailureAt}` }] : [];
      })
      .slice(0, EXPLAINED_MAX);
    const missing = asked.filter(({ key }) => this.#kept.recall(key) === undefined).map(({ testId }) => testId);
    let reading: Promise<ReadonlyMap<string, FailsWith>> | undefined;
    const read = async (testId: string): Promise<FailsWith | null> => {
      reading ??= whereTestsFail(
        this.#clickhouse,
        { repositoryId: repository.id, testIds: missing, window },
        { owner: repository.owner },
      );
      return (await reading).get(testId) ?? null;
    };
    const found = await Promise.all(
      asked.map(async ({ testId, key }) => ({ testId, failsWith: await this.#kept.get(key, () => read(testId)) })),
    );
    return new Map(found.flatMap(({ testId, failsWith }) => (failsWith ? [[testId, failsWith]] : [])));
  }
}
