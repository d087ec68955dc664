/** Troubled runs and repetitions beside a month that is dropped. */
import { expect, test } from 'bun:test';
import { setUpIngest } from '../support/ingest.ts';
import { uniqueRepository } from '../support/stores.ts';
import { flakyOf, healthOf, heldBackOf, runOf } from '../support/verdicts.ts';

const ingest = setUpIngest({ isAlone: true });

const NAMES = Array.from({ length: 12 }, (_, i) => `test ${i}`);
const all = (status: 'passed' | 'failed') => Object.fromEntries(NAMES.map((name) => [name, status]));

test('verdicts next to a dropped month stay, its runs leave with it, and evaluation continues', async () => {
  const { stores, driver } = ingest;
  const repository = uniqueRepository();
  const run = (hour: string, status: 'passed' | 'failed', more: Record<string, 'passed' | 'failed'> = {}) => {
    const at = Date.parse(`${hour}:00:00Z`);
    return runOf({ repository, runId: hour, at, receivedAt: at, results: { ...all(status), ...more } });
  };
  await driver.ingest(
    run('2026-09-26T12', 'passed', { repeats: 'passed' }),
    run('2026-09-27T12', 'passed', { repeats: 'failed' }),
    run('2026-09-30T12', 'passed', { repeats: 'passed' }),
    run('2026-09-30T23', 'failed'),
    run('2026-10-01T06', 'failed'),
    run('2026-10-02T12', 'passed', { repeats: 'failed' }),
    run('2026-10-03T12', 'passed', { repeats: 'passed' }),
  );
  const [flaky, held] = [await flakyOf(stores, repository), await heldBackOf(stores, repository)];
  expect(flaky).toEqual(['repeats 2026-09-27T12#1', 'repeats 2026-10-02T12#1']);
  expect(held).toContain('test 3 2026-10-01T06#1');
  await driver.verify();

  stores.clock.set('2027-01-02T12:00:00Z');
  expect(await driver.retention.run()).toContain(202609);
  expect(await flakyOf(stores, repository)).toEqual(['repeats 2026-10-02T12#1']);
  expect(await heldBackOf(stores, repository)).toEqual(held.filter((one) => one.includes('2026-10')));
  expect(await healthOf(stores, repository, 'test 3')).toEqual(['healthy']);
  const left = await stores.clickhouse.rows(
    `SELECT 1 FROM ci.runs WHERE day < '2026-10-01' UNION ALL SELECT 1 FROM ci.troubled_runs WHERE day < '2026-10-01'`,
  );
  expect(left).toEqual([]);

  await driver.ingest(run('2026-12-31T12', 'passed'), run('2027-01-01T12', 'failed'), run('2027-01-02T11', 'passed'));
  expect(await healthOf(stores, repository, 'test 3')).toEqual(['healthy']);
  await driver.verify();
});
