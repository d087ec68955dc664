/** Beliefs and the meanings of runs beside a month that is dropped. */
import { expect, test } from 'bun:test';
import { repositoryIdOf } from '../../src/domain/identity.ts';
import { readRuns } from '../../src/postgres/judged-runs.ts';
import { setUpIngest } from '../support/ingest.ts';
import { uniqueRepository } from '../support/stores.ts';
import { flakyOf, healthOf, PASSING, runOf } from '../support/verdicts.ts';

const ingest = setUpIngest({ isAlone: true });

test('what is believed stays when a month is dropped, its runs leave with it, and evaluation continues', async () => {
  const { stores, driver } = ingest;
  const repository = uniqueRepository();
  const run = (hour: string, sums: 'passed' | 'failed', rest: 'passed' | 'failed' = 'passed', attempt = 1) => {
    const at = Date.parse(`${hour}:00:00Z`);
    const results = Object.fromEntries(Object.keys(PASSING).map((name) => [name, rest]));
    return runOf({ repository, runId: hour.slice(0, 10), attempt, at, receivedAt: at, results: { ...results, sums } });
  };
  await driver.ingest(
    run('2026-09-02T12', 'passed'),
    run('2026-09-26T12', 'passed'),
    run('2026-09-27T12', 'failed'),
    run('2026-09-27T13', 'passed', 'passed', 2),
    run('2026-09-30T23', 'failed', 'failed'),
    run('2026-10-01T06', 'failed', 'failed'),
    run('2026-10-02T12', 'failed'),
    run('2026-10-02T13', 'passed', 'passed', 2),
    run('2026-10-03T12', 'passed'),
  );
  expect(await flakyOf(stores, repository)).toEqual(['sums 2026-09-27#1', 'sums 2026-10-02#1']);
  await driver.verify();

  stores.clock.set('2027-01-02T12:00:00Z');
  expect(await driver.retention.run()).toContain(202609);
  expect(await flakyOf(stores, repository)).toEqual(['sums 2026-10-02#1']);
  expect(await healthOf(stores, repository, 'sums')).toEqual(['flaky']);
  const { host, owner, name } = repository;
  const [oldest] = await readRuns(stores.postgres.db, repositoryIdOf(host, owner, name), 0);
  // Runs of the last days before a month say what is usual in it.
  expect(oldest?.runId).toBe('2026-09-26');
  await driver.verify();

  await driver.ingest(run('2026-12-31T12', 'passed'), run('2027-01-01T12', 'passed', 'failed'));
  await driver.ingest(run('2026-10-01T07', 'passed', 'passed', 2));
  expect(await healthOf(stores, repository, 'sums')).toEqual(['flaky']);
  await driver.verify();
});
