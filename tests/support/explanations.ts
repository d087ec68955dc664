/** Explanations of a test on real stores, and whether they agree with what the evaluation wrote. */
import { expect } from 'bun:test';
import fc from 'fast-check';
import { describeTest } from '../../src/cli/explain.ts';
import { repositoryIdOf, testIdOf } from '../../src/domain/identity.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import { explain } from '../../src/explain/explanation.ts';
import { inBudget } from './budget.ts';
import { TEST_NOW } from './clock.ts';
import type { IngestSetUp } from './ingest.ts';
import { TESTS } from './random-histories.ts';
import { type TestStores, uniqueRepository } from './stores.ts';
import { healthOf, runOf } from './verdicts.ts';

type Repository = ReturnType<typeof uniqueRepository>;

/** The explanation of a test, as of a moment or of now. */
export async function explained(
  { clickhouse, postgres, quarantines }: TestStores,
  repository: Repository,
  name: string,
  asOf: number | undefined,
) {
  const id = repositoryIdOf(repository.host, repository.owner, repository.name);
  const explanation = await explain(
    { clickhouse, db: postgres.db, quarantines },
    { repository: { id, flakyDetectionEnabled: true }, test: { id: testIdOf(id, name), name }, asOf, now: TEST_NOW },
  );
  return { ...explanation, text: describeTest(explanation, name) };
}

/** Runs of twelve tests, some of them of one commit: what is flaky, broken or held back changes often. */
const run = fc.record({
  attempt: fc.integer({ min: 1, max: 2 }),
  commit: fc.constantFrom('a', 'b', 'c', 'd'),
  failing: fc.constantFrom(0, 0, 0, 1, 5, 11, 12),
  branch: fc.constantFrom('main', 'main', 'change'),
});

/** At every moment, the health that is explained is the one that the evaluation had written by then. */
export async function explanationsAgree(
  { stores, driver }: IngestSetUp,
  { numRuns, runsMax }: { numRuns: number; runsMax: number },
): Promise<void> {
  const [name = ''] = TESTS;
  await fc.assert(
    fc.asyncProperty(
      fc.array(run, { minLength: 1, maxLength: runsMax }),
      inBudget(async (history) => {
        const repository = uniqueRepository();
        const seen: { at: number; health: string[] }[] = [];
        for (const [i, { attempt, commit, failing, branch }] of history.entries()) {
          const at = TEST_NOW - (history.length - i) * 5 * HOUR_MS;
          const results = Object.fromEntries(
            TESTS.map((test, k) => [test, k < failing ? ('failed' as const) : ('passed' as const)]),
          );
          const named = {
            repository,
            runId: `${commit}${i}`,
            attempt,
            run: { commit, branch, default_branch: 'main' },
          };
          await driver.ingest(runOf({ ...named, at, receivedAt: at, results }));
          seen.push({ at, health: await healthOf(stores, repository, name) });
        }
        for (const { at, health } of seen) {
          const { identities } = await explained(stores, repository, name, at);
          expect(identities.map((one) => one.health_status as string)).toEqual(health);
        }
        await driver.verify();
      }),
    ),
    { numRuns },
  );
}
