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
  test('says how sure the health is, what decided and what caused each failure, and marks what was stored later', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const at = (hours: number): number => TEST_NOW - hours * HOUR_MS;
    const others = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`other ${i}`, 'passed' as const]));
    const run = (runId: string, hours: number, status: 'passed' | 'failed', { attempt = 1, late = 0 } = {}) =>
      runOf({
        ...{ repository, runId, attempt, at: at(hours), receivedAt: at(hours - late) },
        results: { ...others, sums: status },
      });
    await driver.ingest(
      run('1', 9, 'passed'),
      run('2', 8, 'failed'),
      run('2', 7.5, 'passed', { attempt: 2 }),
      // Finished first, and came in three hours late.
      run('3', 6, 'failed', { late: 3 }),
      run('3', 5, 'passed', { attempt: 2 }),
    );
    const { text, identities } = await explained(stores, repository, 'sums', at(4.5));
    const probability = identities[0]?.health_probability ?? 0;
    expect(probability).toBeGreaterThan(0.95);
    const lines = text
      .split('\n')
      .map((line) =>
        line.replace(/(?<=passes in a row: 1; )\d+(?= more)|(?<=flaky: flaky with a probability of )[\d.]+/, 'N'),
      );
    expect(lines).toEqual([
      'sums',
      'health: flaky as of 2026-11-21T18:30:00Z (rules 1, fingerprint 1)',
      '',
      'CI / unit: flaky',
      `  flaky with a probability of ${Math.round(1_000 * probability) / 10}%, since commit of 2`,
      '  5 executions, 2 flaky, 0 held back because their runs were troubled',
      expect.stringMatching(
        /^ {2}healthy → flaky: flaky with a probability of \S+%: its own failures on \S+ commits?$/,
      ),
      '    2026-11-21T15:00:00Z failed, run 2 attempt 1, commit commit of 2',
      '  what caused its failures:',
      '    2026-11-21T15:00:00Z failed, run 2 attempt 1, commit commit of 2',
      '      the test itself',
      '    2026-11-21T17:00:00Z failed, run 3 attempt 1, commit commit of 3, stored later (2026-11-21T20:00:00Z)',
      '      the test itself',
      '  clean passes in a row: 1; N more make it surely healthy',
    ]);
    expect(identities).toMatchObject([{ has_enough_runs: true, since_commit: 'commit of 2', failures_count: 2 }]);
    const before = await explained(stores, repository, 'sums', at(8.5));
    expect(before.text).toContain('; its results are not enough to be sure');
    await driver.verify();
  });

  test('says how far a quarantined test has recovered, and which failures their runs caused', async () => {
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
    const { text, identities } = await explained(stores, repository, 'test 3', undefined);
    expect(text).toContain('healthy from the start: no failure that counts');
    expect(text).toContain('2026-11-21T17:00:00Z failed, run 3 attempt 1');
    expect(text).toMatch(
      /its run: 12 of 12 executions failed unexpectedly: a healthy test fails in this run with a probability of \d\d%/,
    );
    expect(identities).toMatchObject([{ held_back_count: 1, failures: [{ cause: 'run', is_flaky: false }] }]);
    expect(text).toContain('quarantined 2026-11-21T15:00:00Z (manual, every branch): to see');
    expect(text).toContain('not recovered');
    expect(text).toMatch(/CI \/ unit: healthy, clean passes since then: 2; \d+ more make it surely healthy/);
    const before = await explained(stores, repository, 'test 3', TEST_NOW - 6.5 * HOUR_MS);
    expect(before.text).toMatch(/CI \/ unit: healthy, clean passes since then: 1; \d+ more make it surely healthy/);
    const unquarantined = await explained(stores, repository, 'test 3', TEST_NOW - 8.5 * HOUR_MS);
    expect(unquarantined.text).not.toContain('quarantined');
    await driver.verify();
  });

  test('names the commit that probably fixed a broken test', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const run = (runId: string, hours: number, status: 'passed' | 'failed') => {
      const others = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`other ${i}`, 'passed' as const]));
      const at = TEST_NOW - hours * HOUR_MS;
      return runOf({ repository, runId, at, receivedAt: TEST_NOW, results: { ...others, sums: status } });
    };
    const runs = ['passed', 'passed', 'passed', 'failed', 'failed', 'failed', 'passed', 'passed'] as const;
    await driver.ingest(...runs.map((status, i) => run(String(i), 40 - 2 * i, status)));
    const { text } = await explained(stores, repository, 'sums', undefined);
    expect(text).toMatch(/fixed by commit of 6 \(it failed on commit of 5 before\) with a probability of \d\d(\.\d)?%/);
    expect((await explained(stores, repository, 'sums', TEST_NOW - 29 * HOUR_MS)).text).not.toContain('fixed by');
    await driver.verify();
  });

  test('as of every moment, the health is what the evaluation had written by then', () =>
    explanationsAgree(ingest, { numRuns: 2, runsMax: 6 }));
});
