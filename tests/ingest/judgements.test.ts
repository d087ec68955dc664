import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { testIdOf } from '../../src/domain/identity.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { TEST_NOW } from '../support/clock.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob, type TestExecution } from '../support/jobs.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

let stores: TestStores;
let driver: IngestDriver;
beforeAll(async () => {
  stores = await openTestStores();
  stores.clock.set(TEST_NOW);
  driver = new IngestDriver(stores);
});
afterAll(() => driver.stop());

const HOUR = 3_600_000;
type Repository = ReturnType<typeof uniqueRepository>;

async function healthOf(repository: Repository, name: string): Promise<string[]> {
  const found = await stores.repositories.find(repository.owner, repository.name);
  const rows = await stores.clickhouse.rows(
    'SELECT health FROM ci.health FINAL WHERE repository_id = {id: UUID} AND test_id = {test: UUID} ORDER BY job_name',
    { id: found?.id ?? '', test: testIdOf(found?.id ?? '', name) },
  );
  return (rows as { health: string }[]).map((row) => row.health);
}

async function flakyOf(repository: Repository): Promise<string[]> {
  const found = await stores.repositories.find(repository.owner, repository.name);
  const rows = await stores.clickhouse.rows(
    `SELECT e.test_name AS name, e.run_attempt AS attempt FROM ci.flaky_verdicts AS v FINAL
     INNER JOIN ci.executions AS e ON e.repository_id = v.repository_id AND e.execution_id = v.execution_id
     WHERE v.repository_id = {id: UUID} AND v.is_flaky ORDER BY name, attempt`,
    { id: found?.id ?? '' },
  );
  return (rows as { name: string; attempt: number }[]).map((row) => `${row.name} #${row.attempt}`);
}

/** One run of the tests named, as a job of its own. */
const run = (
  repository: Repository,
  runId: string,
  attempt: number,
  at: number,
  results: Record<string, TestExecution['status']>,
  more = {},
) =>
  makeJob({
    repository,
    receivedAt: TEST_NOW,
    source: `${runId}/${attempt}`,
    run: { run_id: runId, run_attempt: attempt, commit: `commit of ${runId}`, ...more },
    executions: Object.entries(results).map(([name, status]) => ({ name, key: name, status: status ?? 'passed', at })),
  });

describe('verdicts and health as results come in', () => {
  test('a failure is flaky once another attempt of its commit passes, whichever arrives first', async () => {
    for (const isPassFirst of [false, true]) {
      const repository = uniqueRepository();
      const failed = run(repository, '1', 1, TEST_NOW - 2 * HOUR, { sums: 'failed', adds: 'passed' });
      const passed = run(repository, '1', 2, TEST_NOW - HOUR, { sums: 'passed', adds: 'passed' });
      await driver.ingest(isPassFirst ? passed : failed);
      expect(await healthOf(repository, 'sums')).toEqual([isPassFirst ? 'healthy' : 'broken']);
      await driver.ingest(isPassFirst ? failed : passed);
      expect(await flakyOf(repository)).toEqual(['sums #1']);
      expect(await healthOf(repository, 'sums')).toEqual(['flaky']);
      expect(await healthOf(repository, 'adds')).toEqual(['healthy']);
    }
    await driver.verify();
  });

  test('a verdict is taken back when the name turns out to be ambiguous on its commit', async () => {
    const repository = uniqueRepository();
    await driver.ingest(run(repository, '1', 1, TEST_NOW - 3 * HOUR, { sums: 'failed' }));
    await driver.ingest(run(repository, '1', 2, TEST_NOW - 2 * HOUR, { sums: 'passed' }));
    expect(await flakyOf(repository)).toEqual(['sums #1']);
    const namesake = {
      ...run(repository, '1', 1, TEST_NOW - 3 * HOUR, { sums: 'passed' }),
      sources: ['another shard'],
    };
    await driver.ingest(namesake);
    expect(await flakyOf(repository)).toEqual([]);
    await driver.verify();
  });

  test('in any order and any split, what is derived agrees with the executions', async () => {
    const result = fc.constantFrom('passed', 'passed', 'passed', 'failed', 'skipped') as fc.Arbitrary<
      'passed' | 'failed' | 'skipped'
    >;
    const history = fc.array(
      fc.record({
        runId: fc.integer({ min: 1, max: 6 }).map(String),
        attempt: fc.integer({ min: 1, max: 2 }),
        hours: fc.integer({ min: 0, max: 500 }),
        job_name: fc.constantFrom('unit', 'e2e'),
        branch: fc.constantFrom('main', 'main', 'main', 'feature'),
        results: fc.record({ a: result, b: result }),
      }),
      { minLength: 1, maxLength: 14 },
    );
    await fc.assert(
      fc.asyncProperty(history, fc.boolean(), async (runs, isOneByOne) => {
        const repository = uniqueRepository();
        const jobs = runs.map(({ runId, attempt, hours, results, job_name, branch }, i) => ({
          ...run(repository, runId, attempt, TEST_NOW - hours * HOUR, results, {
            job_name,
            branch,
            default_branch: 'main',
          }),
          sources: [`upload ${i}`],
        }));
        if (isOneByOne) for (const one of jobs) await driver.ingest(one);
        else await driver.ingest(...jobs);
        await driver.verify();
      }),
      { numRuns: 12 },
    );
  });
});

describe('rebuild', () => {
  test('a changed default branch moves executions, totals, verdicts and health over', async () => {
    const repository = uniqueRepository();
    await driver.ingest(run(repository, '1', 1, TEST_NOW - 5 * HOUR, { a: 'passed' }, { branch: 'main' }));
    await driver.ingest(
      run(repository, '2', 1, TEST_NOW - 4 * HOUR, { a: 'failed', b: 'passed' }, { branch: 'develop' }),
    );
    await driver.ingest(run(repository, '2', 2, TEST_NOW - 3 * HOUR, { a: 'passed' }, { branch: 'develop' }));
    expect(await healthOf(repository, 'a')).toEqual(['healthy']);
    expect(await healthOf(repository, 'b')).toEqual([]);

    // Other tests write blocks beside the settings; only this change is to be counted.
    await rebuild(stores);
    const recorded = await stores.repositories.record(repository);
    await stores.repositories.set(recorded, { defaultBranch: 'develop' }, 'test');
    expect(await rebuild(stores)).toMatchObject({ moved: 4 });
    expect(await healthOf(repository, 'a')).toEqual(['flaky']);
    expect(await healthOf(repository, 'b')).toEqual(['healthy']);
    expect(await flakyOf(repository)).toEqual(['a #1']);
    await driver.verify();

    expect(await rebuild(stores)).toMatchObject({ moved: 0 });
    await driver.verify();
  });

  test('what somebody has damaged is whole again', async () => {
    const repository = uniqueRepository();
    await driver.ingest(run(repository, '1', 1, TEST_NOW - HOUR, { a: 'failed', b: 'passed' }));
    await stores.clickhouse.command('TRUNCATE TABLE ci.catalog');
    await stores.clickhouse.command('TRUNCATE TABLE ci.health');
    await expect(driver.verify()).rejects.toThrow();
    await rebuild(stores);
    await driver.verify();
  });
});
