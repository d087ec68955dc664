/** Explanations on real stores: as of any moment, they say what the evaluation had said by then. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { describeTest } from '../../src/cli/explain.ts';
import { repositoryIdOf, testIdOf } from '../../src/domain/identity.ts';
import { explainRecovery, explainTest } from '../../src/evaluation/explain.ts';
import { TEST_NOW } from '../support/clock.ts';
import { IngestDriver } from '../support/ingest.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';
import { healthOf, runOf } from '../support/verdicts.ts';

const HOUR = 3_600_000;
let stores: TestStores;
let driver: IngestDriver;
beforeAll(async () => {
  stores = await openTestStores();
  stores.clock.set(TEST_NOW);
  driver = new IngestDriver(stores);
});
afterAll(() => driver.stop());

type Repository = ReturnType<typeof uniqueRepository>;

async function explained(repository: Repository, asOf: number | undefined, name = 'sums') {
  const id = repositoryIdOf(repository.host, repository.owner, repository.name);
  const options = {
    repositoryId: id,
    testId: testIdOf(id, name),
    isFlakyDetectionEnabled: true,
    asOf: asOf ?? TEST_NOW + HOUR,
  };
  const identities = await explainTest(stores.clickhouse, options);
  const open = await stores.quarantines.ofTests(id, [testIdOf(id, name)]);
  const recoveries = await explainRecovery(stores.clickhouse, options, identities, open);
  return { identities, text: describeTest({ title: name, identities, recoveries, asOf }) };
}

describe('explain', () => {
  test('names the rule, its version and the executions that decided, and marks those stored later', async () => {
    const repository = uniqueRepository();
    const at = (hours: number): number => TEST_NOW - hours * HOUR;
    const given = { repository, runId: '7', run: { commit: 'c7' } };
    await driver.ingest(
      runOf({ ...given, at: at(5), receivedAt: at(4), attempt: 2, results: { sums: 'passed' } }),
      // Finished first, and came in three hours late.
      runOf({ ...given, at: at(6), receivedAt: at(3), results: { sums: 'failed' } }),
    );
    const { text } = await explained(repository, at(4.5));
    expect(text.split('\n')).toEqual([
      'sums',
      'health: flaky as of 2026-11-21T18:30:00Z (rules 1, fingerprint 2)',
      '',
      'CI / unit: flaky',
      '  2 executions, 1 flaky, 0 held back as infrastructure trouble',
      '  healthy → flaky: a flaky execution (the same commit passed in another attempt or run)',
      '    2026-11-21T18:00:00Z passed, run 7 attempt 2, commit c7, stored later (2026-11-21T19:00:00Z)',
      '    2026-11-21T17:00:00Z failed, run 7 attempt 1, commit c7, stored later (2026-11-21T20:00:00Z)',
      '  clean passes in a row: 1 of 10',
    ]);
    const before = await explained(repository, at(5.5));
    expect(before.text).toContain('healthy → broken: failed');
    await driver.verify();
  });

  test('says how far a quarantined test has recovered, and what is held back', async () => {
    const repository = uniqueRepository();
    const names = Array.from({ length: 12 }, (_, i) => `test ${i}`);
    const all = (status: 'passed' | 'failed') => Object.fromEntries(names.map((name) => [name, status]));
    const run = (runId: string, hours: number, status: 'passed' | 'failed') =>
      runOf({ repository, runId, at: TEST_NOW - hours * HOUR, receivedAt: TEST_NOW, results: all(status) });
    await driver.ingest(run('1', 9, 'passed'));
    stores.clock.set(TEST_NOW - 8 * HOUR);
    const id = repositoryIdOf(repository.host, repository.owner, repository.name);
    await stores.quarantines.create(id, {
      testName: 'test 3',
      reason: 'to see',
      branch: null,
      source: 'manual',
      actor: 'ann',
    });
    stores.clock.set(TEST_NOW);
    await driver.ingest(run('2', 7, 'passed'), run('3', 6, 'failed'), run('4', 5, 'passed'));
    const { text } = await explained(repository, undefined, 'test 3');
    expect(text).toContain('healthy from the start: no failure that counts');
    expect(text).toContain('2026-11-21T17:00:00Z failed, run 3 attempt 1');
    expect(text).toContain('quarantined 2026-11-21T15:00:00Z (manual, every branch): to see');
    expect(text).toContain('not recovered');
    expect(text).toContain('CI / unit: healthy, 2 of 10 clean passes');
    const before = await explained(repository, TEST_NOW - 6.5 * HOUR, 'test 3');
    expect(before.text).toContain('CI / unit: healthy, 1 of 10 clean passes');
    const unquarantined = await explained(repository, TEST_NOW - 8.5 * HOUR, 'test 3');
    expect(unquarantined.text).not.toContain('quarantined');
    await driver.verify();
  });

  test('as of every moment, the health is what the evaluation had written by then', async () => {
    const run = fc.record({
      attempt: fc.integer({ min: 1, max: 2 }),
      commit: fc.constantFrom('a', 'b', 'c', 'd'),
      failing: fc.constantFrom(0, 0, 0, 1, 5, 11, 12),
    });
    const names = Array.from({ length: 12 }, (_, i) => `test ${i}`);
    await fc.assert(
      fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 10 }), async (runs) => {
        const repository = uniqueRepository();
        const seen: { at: number; health: string[] }[] = [];
        for (const [i, { attempt, commit, failing }] of runs.entries()) {
          const at = TEST_NOW - (runs.length - i) * 5 * HOUR;
          const results = Object.fromEntries(
            names.map((name, k) => [name, k < failing ? ('failed' as const) : ('passed' as const)]),
          );
          await driver.ingest(
            runOf({ repository, runId: `${commit}${i}`, attempt, at, receivedAt: at, results, run: { commit } }),
          );
          seen.push({ at, health: await healthOf(stores, repository, 'test 0') });
        }
        for (const { at, health } of seen) {
          const { identities } = await explained(repository, at, 'test 0');
          expect(identities.map((one) => one.state.health as string)).toEqual(health);
        }
        await driver.verify();
      }),
      { numRuns: 8 },
    );
  });
});
