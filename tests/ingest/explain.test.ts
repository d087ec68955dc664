/** Explanations on real stores: as of any moment, they say what the evaluation had said by then. */
import { describe, expect, test } from 'bun:test';
import { repositoryIdOf } from '../../src/domain/identity.ts';
import { HOUR_MS } from '../../src/domain/time.ts';
import { TEST_NOW } from '../support/clock.ts';
import { explained, explanationsAgree } from '../support/explanations.ts';
import { setUpIngest } from '../support/ingest.ts';
import { uniqueRepository } from '../support/stores.ts';
import { runOf } from '../support/verdicts.ts';

const ingest = setUpIngest();

describe('explain', () => {
  test('names the rule, its version and the executions that decided, and marks those stored later', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const at = (hours: number): number => TEST_NOW - hours * HOUR_MS;
    const given = { repository, runId: '7', run: { commit: 'c7' } };
    await driver.ingest(
      runOf({ ...given, at: at(5), receivedAt: at(4), attempt: 2, results: { sums: 'passed' } }),
      // Finished first, and came in three hours late.
      runOf({ ...given, at: at(6), receivedAt: at(3), results: { sums: 'failed' } }),
    );
    const { text } = await explained(stores, repository, 'sums', at(4.5));
    expect(text.split('\n')).toEqual([
      'sums',
      'health: flaky as of 2026-11-21T18:30:00Z (rules 1, fingerprint 3)',
      '',
      'CI / unit: flaky',
      '  2 executions, 1 flaky, 0 held back as infrastructure trouble',
      '  healthy → flaky: a flaky execution (the same commit passed in another attempt or run)',
      '    2026-11-21T18:00:00Z passed, run 7 attempt 2, commit c7, stored later (2026-11-21T19:00:00Z)',
      '    2026-11-21T17:00:00Z failed, run 7 attempt 1, commit c7, stored later (2026-11-21T20:00:00Z)',
      '  clean passes in a row: 1 of 10',
    ]);
    const before = await explained(stores, repository, 'sums', at(5.5));
    expect(before.text).toContain('healthy → broken: failed');
    await driver.verify();
  });

  test('says how far a quarantined test has recovered, and what is held back', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const names = Array.from({ length: 12 }, (_, i) => `test ${i}`);
    const all = (status: 'passed' | 'failed') => Object.fromEntries(names.map((name) => [name, status]));
    const run = (runId: string, hours: number, status: 'passed' | 'failed') =>
      runOf({ repository, runId, at: TEST_NOW - hours * HOUR_MS, receivedAt: TEST_NOW, results: all(status) });
    await driver.ingest(run('1', 9, 'passed'));
    stores.clock.set(TEST_NOW - 8 * HOUR_MS);
    const id = repositoryIdOf(repository.host, repository.owner, repository.name);
    const wanted = { testName: 'test 3', reason: 'to see', branch: null };
    await stores.quarantines.create(id, wanted, { name: 'ann', actor: null });
    stores.clock.set(TEST_NOW);
    await driver.ingest(run('2', 7, 'passed'), run('3', 6, 'failed'), run('4', 5, 'passed'));
    const { text } = await explained(stores, repository, 'test 3', undefined);
    expect(text).toContain('healthy from the start: no failure that counts');
    expect(text).toContain('2026-11-21T17:00:00Z failed, run 3 attempt 1');
    expect(text).toContain('quarantined 2026-11-21T15:00:00Z (manual, every branch): to see');
    expect(text).toContain('not recovered');
    expect(text).toContain('CI / unit: healthy, 2 of 10 clean passes');
    const before = await explained(stores, repository, 'test 3', TEST_NOW - 6.5 * HOUR_MS);
    expect(before.text).toContain('CI / unit: healthy, 1 of 10 clean passes');
    const unquarantined = await explained(stores, repository, 'test 3', TEST_NOW - 8.5 * HOUR_MS);
    expect(unquarantined.text).not.toContain('quarantined');
    await driver.verify();
  });

  test('as of every moment, the health is what the evaluation had written by then', () =>
    explanationsAgree(ingest, { numRuns: 2, runsMax: 6 }));
});
