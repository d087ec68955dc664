/** Results that differ under the same names: both are stored, as legs by their order if they contradict each other, and it is said. A resend stays a resend. */
import { afterEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { v7 as uuid7 } from 'uuid';
import { Ledger } from '../../src/ledger/ledger.ts';
import { eventOutbox } from '../../src/postgres/schema.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob, type TestExecution, type TestJob } from '../support/jobs.ts';
import { prepareChunk } from '../support/prepare.ts';
import { uniqueRepository } from '../support/stores.ts';

const ingest = setUpIngest();
afterEach(() => ingest.driver.verify());

type Repository = ReturnType<typeof uniqueRepository>;

function newRepository(): Repository {
  const repository = uniqueRepository();
  ingest.driver.watch(repository);
  return repository;
}

const report = (repository: Repository, executions: TestExecution[], more: Partial<TestJob> = {}): TestRunsJob =>
  makeJob({
    repository,
    executions: executions.map((execution) => ({ key: execution.name, ...execution })),
    source: 'report',
    receivedAt: TEST_NOW,
    ...more,
  });

const failed = (name: string, message: string): TestExecution => ({
  name,
  status: 'failed',
  failures: [{ type: 'Error', message }],
});

async function receiptOf(repository: Repository, { upload_id }: TestRunsJob) {
  const receipt = await ingest.stores.receipts.find(repository.owner, repository.name, upload_id);
  if (!receipt) throw new Error('there is no receipt');
  return receipt;
}

async function storedIn(repository: Repository): Promise<string[]> {
  const found = await ingest.stores.repositories.find(repository.owner, repository.name);
  const rows = (await ingest.stores.clickhouse.rows(
    `SELECT test_name, toString(status) AS status, on_default FROM ci.executions
     WHERE repository_id = {id: UUID} ORDER BY test_name, status, on_default`,
    { id: found?.id ?? '' },
  )) as { test_name: string; status: string; on_default: boolean }[];
  return rows.map((row) => `${row.test_name} ${row.status}${row.on_default ? '' : ' elsewhere'}`);
}

async function legsIn(repository: Repository): Promise<string[]> {
  const found = await ingest.stores.repositories.find(repository.owner, repository.name);
  const rows = (await ingest.stores.clickhouse.rows(
    `SELECT axes, place, toString(count()) AS executions FROM ci.executions
     WHERE repository_id = {id: UUID} GROUP BY axes, place ORDER BY axes`,
    { id: found?.id ?? '' },
  )) as { axes: string; place: string; executions: string }[];
  return rows.map(({ axes, place, executions }) => `${axes} ${place} ${executions}`);
}

async function conflictsOf(repository: Repository) {
  const found = await ingest.stores.repositories.find(repository.owner, repository.name);
  const rows = (await ingest.stores.clickhouse.rows(
    `SELECT metadata, outcome, trigger FROM ci.events
     WHERE repository_id = {id: UUID} AND type = 'ci_insights.results.conflict'`,
    { id: found?.id ?? '' },
  )) as { metadata: string; outcome: string; trigger: string }[];
  return rows.map(({ metadata, ...row }) => ({ ...row, metadata: JSON.parse(metadata) }));
}

describe('results that differ from what is stored under the same names', () => {
  test('a second leg of a matrix: its failure is stored beside the pass, and the receipt and an event say conflict', async () => {
    const repository = newRepository();
    const linux = report(repository, [{ name: 'adds' }, { name: 'pays' }]);
    const windows = report(repository, [{ name: 'adds' }, failed('pays', 'no TLS 1.3')]);
    await ingest.driver.ingest(linux);
    await ingest.driver.ingest(windows);
    expect(await storedIn(repository)).toEqual(['adds passed', 'adds passed', 'pays failed', 'pays passed']);
    expect(await receiptOf(repository, linux)).toMatchObject({ accepted: 2, conflicting: 0, warnings: [] });
    const receipt = await receiptOf(repository, windows);
    expect(receipt).toMatchObject({ accepted: 2, duplicate: 0, conflicting: 1, unnamedLeg: 2 });
    expect(receipt.warnings.join()).toContain('Conflict: 1 result differs');
    expect(receipt.nameLegsWith).toContain('"axes"');
    expect(await conflictsOf(repository)).toMatchObject([
      {
        outcome: 'failure',
        metadata: { pipeline_name: 'CI', job_name: 'unit', run_id: '1', upload_id: windows.upload_id },
      },
    ]);
  });

  test('legs that are named are two, whatever they have in common, and each is a resend of itself', async () => {
    const repository = newRepository();
    const leg = (axes: Record<string, string>) =>
      report(repository, [{ name: 'adds' }, { name: 'pays' }], { run: { axes, place: { runner: 'r7' } } });
    const linux = leg({ os: 'linux', python: '3.13' });
    const windows = leg({ os: 'windows', python: '3.13' });
    const again = leg({ python: '3.13', os: 'windows' });
    for (const job of [linux, windows, again]) await ingest.driver.ingest(job);
    expect(await receiptOf(repository, windows)).toMatchObject({ accepted: 2, duplicate: 0, conflicting: 0 });
    expect(await receiptOf(repository, again)).toMatchObject({ accepted: 0, duplicate: 2, conflicting: 0 });
    expect(await legsIn(repository)).toEqual([
      '{"os":"linux","python":"3.13"} {"runner":"r7"} 2',
      '{"os":"windows","python":"3.13"} {"runner":"r7"} 2',
    ]);
    expect(await conflictsOf(repository)).toEqual([]);
  });

  test('each leg sent again counts nothing, and there is one event for the run', async () => {
    const repository = newRepository();
    const legs = [
      [{ name: 'a' }, failed('b', 'one')],
      [failed('a', 'two'), failed('b', 'three')],
    ];
    for (const leg of [...legs, ...legs]) await ingest.driver.ingest(report(repository, leg));
    const again = report(repository, legs[1] ?? []);
    await ingest.driver.ingest(again);
    expect(await storedIn(repository)).toEqual(['a failed', 'a passed', 'b failed', 'b failed']);
    expect(await receiptOf(repository, again)).toMatchObject({ accepted: 0, duplicate: 2 });
    expect(await conflictsOf(repository)).toHaveLength(1);
  });

  test('a report that was made twice of one run differs in its times only: it is a resend', async () => {
    const repository = newRepository();
    await ingest.driver.ingest(report(repository, [{ name: 'a', durationSeconds: 1, at: TEST_NOW - 5_000 }]));
    const again = report(repository, [{ name: 'a', durationSeconds: 2, at: TEST_NOW }]);
    await ingest.driver.ingest(again);
    expect(await receiptOf(repository, again)).toMatchObject({
      accepted: 0,
      duplicate: 1,
      conflicting: 0,
      warnings: [],
    });
  });

  test('keys that are mere places in the report never make one test stand for another', async () => {
    const repository = newRepository();
    await ingest.driver.ingest(report(repository, [{ name: 'a', key: '0' }]));
    await ingest.driver.ingest(report(repository, [{ name: 'b', key: '0' }]));
    expect(await storedIn(repository)).toEqual(['a passed', 'b passed']);
  });
});

describe('what belongs to something else', () => {
  test.each<[string, Partial<TestRunsJob['run']>]>([
    ['a pull request', { pull_request: 7 }],
    ['another branch', { branch: 'fix' }],
    ['another commit', { commit: 'c2' }],
    ['a base branch', { base_ref: 'main' }],
  ])(
    'a passing report of %s under the run of main takes no result from main, and conflicts with nothing',
    async (_, run) => {
      const repository = newRepository();
      await ingest.driver.ingest(report(repository, [{ name: 'a' }], { source: 'before' }));
      const forged = report(repository, [{ name: 'login' }], { run });
      await ingest.driver.ingest(forged);
      const main = report(repository, [failed('login', 'no'), failed('logout', 'no')]);
      await ingest.driver.ingest(main);
      expect(await receiptOf(repository, main)).toMatchObject({ accepted: 2, duplicate: 0, conflicting: 0 });
      expect(await storedIn(repository)).toContain('login failed');
      expect(await conflictsOf(repository)).toEqual([]);
    },
  );

  test('a branch is the same with refs/heads/ and without', async () => {
    const repository = newRepository();
    await ingest.driver.ingest(report(repository, [{ name: 'a' }]));
    const again = report(repository, [{ name: 'a' }], { run: { branch: 'refs/heads/main' } });
    await ingest.driver.ingest(again);
    expect(await receiptOf(repository, again)).toMatchObject({ accepted: 0, duplicate: 1 });
  });
});

test('a crash between claim and insert, and the retry, change neither what conflicts nor the event', async () => {
  const repository = newRepository();
  const { stores, driver } = ingest;
  await driver.ingest(report(repository, [{ name: 'a' }]));
  const recorded = await stores.repositories.record(repository);
  const options = { repositoryId: recorded.id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
  const other = report(repository, [failed('a', 'no')]);
  const dying = { ...stores.clickhouse, insert: () => Promise.reject(new Error('killed')) };
  const ledger = (clickhouse: typeof stores.clickhouse) =>
    new Ledger({ db: stores.postgres.db, clickhouse, clock: stores.clock });
  await expect(ledger(dying).write([prepareChunk(other, options)])).rejects.toThrow('killed');
  await ledger(stores.clickhouse).write([prepareChunk(other, options)]);
  await driver.settle();
  expect(await receiptOf(repository, other)).toMatchObject({ accepted: 1, duplicate: 0, conflicting: 1 });
  expect(await storedIn(repository)).toEqual(['a failed', 'a passed']);
  expect(await conflictsOf(repository)).toHaveLength(1);
  expect(await stores.postgres.db.$count(eventOutbox)).toBe(0);
});

const LEGS = fc.array(
  fc.array(fc.tuple(fc.nat(3), fc.constantFrom('passed', 'failed', 'other failure')), { minLength: 1, maxLength: 4 }),
  { minLength: 1, maxLength: 5 },
);
const executionsOf = (leg: [number, string][]): TestExecution[] =>
  [...new Map(leg)].map(([test, result]) => (result === 'passed' ? { name: `t${test}` } : failed(`t${test}`, result)));

test('uploads, resends and differing uploads at once: no result is lost, what is sent again counts nothing, and conflict is said if and only if some differ', async () => {
  await fc.assert(
    fc.asyncProperty(LEGS, fc.array(fc.nat(4), { maxLength: 4 }), async (legs, resent) => {
      const repository = newRepository();
      const all = [...legs, ...resent.flatMap((i) => (legs[i] ? [legs[i]] : []))];
      const jobsOf = () => all.map((leg) => ({ ...report(repository, executionsOf(leg)), upload_id: uuid7() }));
      const jobs = jobsOf();
      await ingest.driver.ingest(...jobs);
      const distinct = new Set(all.flatMap((leg) => [...new Map(leg)].map(([test, result]) => `${test} ${result}`)));
      const tests = new Set([...distinct].map((one) => one.split(' ')[0]));
      const stored = await storedIn(repository);
      expect(new Set(stored).size).toBe(
        new Set([...distinct].map((one) => one.replace('other failure', 'failed'))).size,
      );
      const receipts = await Promise.all(jobs.map((job) => receiptOf(repository, job)));
      expect(receipts.reduce((sum, { accepted }) => sum + (accepted ?? 0), 0)).toBe(stored.length);
      expect(receipts.some(({ conflicting }) => (conflicting ?? 0) > 0)).toBe(distinct.size > tests.size);
      await ingest.driver.ingest(...jobsOf().toReversed());
      expect(await storedIn(repository)).toEqual(stored);
      expect(await conflictsOf(repository)).toHaveLength(distinct.size > tests.size ? 1 : 0);
    }),
    { numRuns: 4 },
  );
});
