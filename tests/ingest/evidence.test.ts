/** What counts as evidence, on real stores: failures that repeat, and runs in which much fails at once. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { TEST_NOW } from '../support/clock.ts';
import { IngestDriver } from '../support/ingest.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';
import { flakyOf, healthOf, heldBackOf, type RunOf, runOf } from '../support/verdicts.ts';

const HOUR = 3_600_000;
let stores: TestStores;
let driver: IngestDriver;
beforeAll(async () => {
  stores = await openTestStores();
  stores.clock.set(TEST_NOW);
  driver = new IngestDriver(stores);
});
afterAll(() => driver.stop());

type Given = Omit<RunOf, 'repository' | 'receivedAt'>;
const jobsOf = (repository: RunOf['repository'], runs: readonly Given[]) =>
  runs.map((run) => runOf({ repository, receivedAt: TEST_NOW, ...run }));

const NAMES = Array.from({ length: 12 }, (_, i) => `test ${String(i).padStart(2, '0')}`);
const all = (status: 'passed' | 'failed', names = NAMES) =>
  Object.fromEntries(names.map((name) => [name, status] as const));

describe('failures that repeat', () => {
  const single = (runId: string, hours: number, status: 'passed' | 'failed', message?: string): Given => ({
    runId,
    at: TEST_NOW - hours * HOUR,
    results: { sums: status },
    ...(message ? { message } : {}),
  });

  test('two isolated failures of one kind are flaky, whichever of the runs arrives last', async () => {
    const runs = [
      single('1', 90, 'passed'),
      single('2', 80, 'failed', 'timed out after 31 s'),
      single('3', 70, 'passed'),
      single('4', 60, 'failed', 'timed out after 77 s'),
      single('5', 50, 'passed'),
    ];
    for (const last of runs.keys()) {
      const repository = uniqueRepository();
      const jobs = jobsOf(repository, runs);
      await driver.ingest(...jobs.filter((_, i) => i !== last));
      const late = jobs[last];
      if (late) await driver.ingest(late);
      expect(await flakyOf(stores, repository)).toEqual(['sums 2#1', 'sums 4#1']);
      expect(await healthOf(stores, repository, 'sums')).toEqual(['flaky']);
    }
    await driver.verify();
  });

  test('failures of different kinds, or without a pass between them, are not', async () => {
    const [differing, consecutive] = [uniqueRepository(), uniqueRepository()];
    await driver.ingest(
      ...jobsOf(differing, [
        single('1', 90, 'passed'),
        single('2', 80, 'failed', 'one thing'),
        single('3', 70, 'passed'),
        single('4', 60, 'failed', 'quite another'),
        single('5', 50, 'passed'),
      ]),
      ...jobsOf(consecutive, [
        single('1', 90, 'passed'),
        single('2', 80, 'failed'),
        single('3', 70, 'failed'),
        single('4', 60, 'passed'),
      ]),
    );
    expect(await flakyOf(stores, differing)).toEqual([]);
    expect(await flakyOf(stores, consecutive)).toEqual([]);
    await driver.verify();
  });
});

describe('infrastructure trouble', () => {
  test('a day on which everything fails changes no verdict, at no moment, though a second attempt passes', async () => {
    const repository = uniqueRepository();
    const day = Date.parse('2026-11-19T00:00:00Z');
    await driver.ingest(...jobsOf(repository, [{ runId: '0', at: day - 4 * HOUR, results: all('passed') }]));
    for (const hour of [1, 9, 17, 23]) {
      await driver.ingest(
        ...jobsOf(repository, [{ runId: `at ${hour}`, at: day + hour * HOUR, results: all('failed') }]),
      );
      for (const name of NAMES) expect(await healthOf(stores, repository, name)).toEqual(['healthy']);
    }
    await driver.ingest(
      ...jobsOf(repository, [{ runId: 'at 23', attempt: 2, at: day + 25 * HOUR, results: all('passed') }]),
    );
    for (const name of NAMES) expect(await healthOf(stores, repository, name)).toEqual(['healthy']);
    expect(await flakyOf(stores, repository)).toEqual([]);
    expect(await heldBackOf(stores, repository)).toHaveLength(4 * NAMES.length);
    await driver.verify();
  });

  test('a failure in a troubled run counts once the next run fails for the same test, and for no other', async () => {
    const repository = uniqueRepository();
    const [broken, fine] = [NAMES.slice(0, 3), NAMES.slice(3)];
    // 12 of 26 tests: trouble, but not everything.
    const others = Array.from({ length: 14 }, (_, i) => `other ${i}`);
    await driver.ingest(
      ...jobsOf(repository, [
        { runId: '1', at: TEST_NOW - 5 * HOUR, results: all('passed', [...NAMES, ...others]) },
        { runId: '2', at: TEST_NOW - 4 * HOUR, results: { ...all('passed', others), ...all('failed') } },
      ]),
    );
    for (const name of NAMES) expect(await healthOf(stores, repository, name)).toEqual(['healthy']);
    await driver.ingest(
      ...jobsOf(repository, [
        { runId: '3', at: TEST_NOW - 3 * HOUR, results: { ...all('passed', fine), ...all('failed', broken) } },
      ]),
    );
    for (const name of broken) expect(await healthOf(stores, repository, name)).toEqual(['broken']);
    for (const name of fine) expect(await healthOf(stores, repository, name)).toEqual(['healthy']);
    expect(await heldBackOf(stores, repository)).toEqual(fine.map((name) => `${name} 2#1`));
    await driver.verify();
  });

  test('everything that still fails two days later is broken', async () => {
    const repository = uniqueRepository();
    const runs = [0, 12, 24, 36, 49].map(
      (hours): Given => ({
        runId: `after ${hours}`,
        at: TEST_NOW - (60 - hours) * HOUR,
        results: all(hours === 0 ? 'passed' : 'failed'),
      }),
    );
    await driver.ingest(...jobsOf(repository, runs.slice(0, 4)));
    expect(await healthOf(stores, repository, 'test 00')).toEqual(['healthy']);
    await driver.ingest(...jobsOf(repository, runs.slice(4)));
    expect(await healthOf(stores, repository, 'test 00')).toEqual(['broken']);
    expect(await heldBackOf(stores, repository)).toEqual([]);
    await driver.verify();
  });

  test('a run that turns out to be troubled only when its second half arrives takes its verdicts back', async () => {
    const repository = uniqueRepository();
    const failing = { runId: '2', at: TEST_NOW - 4 * HOUR };
    await driver.ingest(...jobsOf(repository, [{ runId: '1', at: TEST_NOW - 5 * HOUR, results: all('passed') }]));
    const [half, rest] = [NAMES.slice(0, 6), NAMES.slice(6)];
    await driver.ingest(...jobsOf(repository, [{ ...failing, results: all('failed', half) }]));
    expect(await healthOf(stores, repository, 'test 00')).toEqual(['broken']);
    const [second] = jobsOf(repository, [{ ...failing, results: all('failed', rest) }]);
    if (second) await driver.ingest({ ...second, sources: ['second half'] });
    for (const name of NAMES) expect(await healthOf(stores, repository, name)).toEqual(['healthy']);
    await driver.verify();
  });

  test('in any order and any split, verdicts agree with the executions; rebuild finds the same', async () => {
    const run = fc.record({
      runId: fc.integer({ min: 1, max: 9 }).map(String),
      attempt: fc.integer({ min: 1, max: 2 }),
      hours: fc.integer({ min: 0, max: 120 }),
      /** How many of the tests fail; more often none or all than some. */
      failing: fc.constantFrom(0, 0, 0, 1, 2, 6, 11, 12, 12),
      from: fc.nat(11),
      kind: fc.constantFrom('one', 'other'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(run, { minLength: 2, maxLength: 16 }), fc.nat(3), async (runs, batches) => {
        const repository = uniqueRepository();
        const jobs = runs.flatMap(({ runId, attempt, hours, failing, from, kind }, i) => {
          const failed = new Set(Array.from({ length: failing }, (_, k) => NAMES[(from + k) % NAMES.length]));
          const results = Object.fromEntries(
            NAMES.map((name) => [name, failed.has(name) ? ('failed' as const) : ('passed' as const)]),
          );
          return jobsOf(repository, [{ runId, attempt, at: TEST_NOW - hours * HOUR, results, message: kind }]).map(
            (job) => ({ ...job, sources: [`upload ${i}`] }),
          );
        });
        const size = Math.ceil(jobs.length / (batches + 1));
        for (let at = 0; at < jobs.length; at += size) await driver.ingest(...jobs.slice(at, at + size));
        await driver.verify();
      }),
      { numRuns: 15 },
    );
    await rebuild(stores);
    await driver.verify();
  });
});

describe('flaky detection turned off', () => {
  test('nothing is flaky, also what its source says is; turned on again, rebuild finds it', async () => {
    const repository = uniqueRepository();
    const recorded = await stores.repositories.record(repository);
    await stores.repositories.set(recorded, { flakyDetectionEnabled: false }, 'ann');
    const at = (hours: number): number => TEST_NOW - hours * HOUR;
    const [flagged] = jobsOf(repository, [{ runId: '2', at: at(3), results: { adds: 'passed' } }]);
    await driver.ingest(
      ...jobsOf(repository, [
        { runId: '1', at: at(3), results: { sums: 'failed' } },
        { runId: '1', attempt: 2, at: at(2), results: { sums: 'passed' } },
      ]),
    );
    if (flagged) await driver.ingest({ ...flagged, executions: { ...flagged.executions, is_flaky: [true] } });
    expect(await flakyOf(stores, repository)).toEqual([]);
    expect(await healthOf(stores, repository, 'adds')).toEqual(['healthy']);
    await driver.verify();

    await stores.repositories.set(recorded, { flakyDetectionEnabled: true }, 'ann');
    await rebuild(stores);
    expect(await flakyOf(stores, repository)).toEqual(['adds 2#1', 'sums 1#1']);
    expect(await healthOf(stores, repository, 'adds')).toEqual(['flaky']);
    await driver.verify();
  });
});

describe('failure groups', () => {
  test('another fingerprint version regroups history, and the old one brings the old groups back', async () => {
    const repository = uniqueRepository();
    await driver.ingest(
      ...jobsOf(repository, [
        { runId: '1', at: TEST_NOW - 3 * HOUR, results: { sums: 'failed' }, message: 'expected 3 got 4' },
        { runId: '2', at: TEST_NOW - 2 * HOUR, results: { sums: 'failed' }, message: 'expected 5 got 6' },
        { runId: '3', at: TEST_NOW - HOUR, results: { sums: 'failed' }, message: 'nothing there' },
      ]),
    );
    const groups = async () => {
      const id = (await stores.repositories.find(repository.owner, repository.name))?.id ?? '';
      return (await stores.clickhouse.rows(
        `SELECT toString(failure_id) AS id, count() AS failures FROM ci.failures WHERE repository_id = {id: UUID}
         GROUP BY failure_id ORDER BY failures DESC`,
        { id },
      )) as { id: string; failures: number }[];
    };
    const before = await groups();
    expect(before.map((group) => group.failures)).toEqual([2, 1]);
    await driver.verify();

    expect((await rebuild(stores, 9_999)).regrouped).toBeGreaterThanOrEqual(3);
    const after = await groups();
    expect(after.map((group) => group.failures)).toEqual([2, 1]);
    expect(after.map((group) => group.id)).not.toEqual(before.map((group) => group.id));
    await expect(driver.verify()).rejects.toThrow();

    await rebuild(stores);
    expect(await groups()).toEqual(before);
    expect((await rebuild(stores)).regrouped).toBe(0);
    await driver.verify();
  });
});
