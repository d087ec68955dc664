/** How much nearness to a changed file says in a repository: learned from its history once an hour, where a claim asks. */
import type { Clock } from '../clock.ts';
import { FACTORS_BEFORE, type NearnessFactors } from '../domain/nearness.ts';
import { factorsFrom } from '../domain/nearness-history.ts';
import { DAY_MS, HOUR_MS } from '../domain/time.ts';
import { readBrokenTests, readTestFiles } from '../postgres/breaks.ts';
import type { Database } from '../postgres/client.ts';
import { TtlCache } from '../ttl-cache.ts';

const REPOSITORIES_MAX = 1_000;
/** Older breaks say little about how the repository is laid out now. */
const DAYS = 180;
/** Bounds of what is compared: some hundred thousand pairs of a test and a file at most for each hundred breaks. */
const PATHS_MAX = 50;
const BROKEN_TESTS_MAX = 300;
const BREAKS_MAX = 50;
const TESTS_MAX = 200;

export class NearnessOfRepositories {
  readonly #factors = new TtlCache<NearnessFactors>(HOUR_MS, REPOSITORIES_MAX);

  constructor(private readonly deps: { db: Database; clock: Clock }) {}

  /** Throws a StoreUnavailable. */
  factorsOf(repositoryId: string): Promise<NearnessFactors> {
    return this.#factors.get(repositoryId, () => this.#learn(repositoryId));
  }

  async #learn(repositoryId: string): Promise<NearnessFactors> {
    const { db, clock } = this.deps;
    const since = clock.now() - DAYS * DAY_MS;
    const broken = await readBrokenTests(db, repositoryId, { since, pathsMax: PATHS_MAX, max: BROKEN_TESTS_MAX });
    if (broken.length === 0) return FACTORS_BEFORE;
    const breaks = [...Map.groupBy(broken, ({ commit }) => commit).values()].slice(0, BREAKS_MAX);
    return factorsFrom(
      breaks.map((tests) => ({
        victims: [...new Set(tests.map(({ file }) => file))],
        changed: tests[0]?.changed ?? [],
      })),
      await readTestFiles(db, repositoryId, TESTS_MAX),
    );
  }
}
