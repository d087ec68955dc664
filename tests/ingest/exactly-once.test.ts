import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { v7 as uuid7 } from 'uuid';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob, type TestExecution } from '../support/jobs.ts';
import { prepareChunk } from '../support/prepare.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

let stores: TestStores;
let driver: IngestDriver;
beforeAll(async () => {
  stores = await openTestStores();
  driver = new IngestDriver(stores);
});
afterEach(() => driver.verify());
afterAll(() => driver.stop());

type Repository = ReturnType<typeof uniqueRepository>;

/** Verified when the test ends, however something is stored in it. */
function newRepository(): Repository {
  const repository = uniqueRepository();
  driver.watch(repository);
  return repository;
}

async function countOf(repository: Repository): Promise<number> {
  const found = await stores.repositories.find(repository.owner, repository.name);
  const [row] = await stores.clickhouse.rows(
    'SELECT count() AS executions FROM ci.executions WHERE repository_id = {id: UUID}',
    { id: found?.id ?? '' },
  );
  return (row as { executions: number }).executions;
}

const executions = (count: number): TestExecution[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `test ${i}`,
    key: `k${i}`,
    status: i % 7 === 0 ? ('failed' as const) : ('passed' as const),
    failures: i % 14 === 0 ? [{ type: 'Error', message: `expected ${i}` }] : [],
  }));

const job = (repository: Repository, rows: TestExecution[], source = 'report'): TestRunsJob =>
  makeJob({ repository, executions: rows, source, receivedAt: TEST_NOW });

describe('exactly once in effect', () => {
  test('the same upload sent again counts nothing, and its receipt says so', async () => {
    const repository = newRepository();
    const first = job(repository, executions(50));
    const second = { ...first, upload_id: uuid7() };
    await driver.ingest(first);
    await driver.ingest(second);
    expect(await countOf(repository)).toBe(50);
    const receipt = await stores.receipts.find(repository.owner, repository.name, second.upload_id);
    expect(receipt).toMatchObject({ status: 'stored', accepted: 0, duplicate: 50 });
  });

  test('the same job redelivered by the queue keeps its first receipt', async () => {
    const repository = newRepository();
    const once = job(repository, executions(20));
    await driver.ingest(once);
    await driver.ingest(once);
    expect(await countOf(repository)).toBe(20);
    const receipt = await stores.receipts.find(repository.owner, repository.name, once.upload_id);
    expect(receipt).toMatchObject({ status: 'stored', accepted: 20, duplicate: 0 });
  });

  test('split differently, overlapping and all at once, each execution counts once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(59), fc.nat(59)), { minLength: 1, maxLength: 12 }), async (cuts) => {
        const repository = newRepository();
        const rows = executions(60);
        const parts = cuts.map(([a, b]) => rows.slice(Math.min(a, b), Math.max(a, b) + 1));
        await driver.ingest(...parts.map((part) => job(repository, part)));
        const expected = new Set(parts.flat().map((row) => row.key));
        expect(await countOf(repository)).toBe(expected.size);
      }),
      { numRuns: 3 },
    );
  });

  test('the same test in two reports and twice in one counts every execution', async () => {
    const repository = newRepository();
    const twice = [
      { name: 'same', key: '1' },
      { name: 'same', key: '2' },
    ];
    await driver.ingest(job(repository, twice, 'shard 1'), job(repository, twice, 'shard 2'));
    expect(await countOf(repository)).toBe(4);
  });

  test('two workers that write the same executions at the same moment store them once', async () => {
    const repository = newRepository();
    const recorded = await stores.repositories.record(repository);
    const options = { repositoryId: recorded.id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
    const ledgers = [1, 2, 3].map(
      () => new Ledger({ db: stores.postgres.db, clickhouse: stores.clickhouse, clock: stores.clock }),
    );
    await Promise.all(
      ledgers.map((ledger) =>
        ledger.write([prepareChunk({ ...job(repository, executions(40)), upload_id: uuid7() }, options)]),
      ),
    );
    expect(await countOf(repository)).toBe(40);
    while ((await driver.sweeper.sweep(0)) > 0);
    await driver.settle();
  });
});

test('a block of thousands of uploads is stored, each with its receipt', async () => {
  const repository = newRepository();
  const recorded = await stores.repositories.record(repository);
  const options = { repositoryId: recorded.id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
  const uploads = Array.from({ length: 5_000 }, (_, i) => ({
    ...job(repository, executions(1), `source ${i}`),
    upload_id: uuid7(),
  }));
  const ledger = new Ledger({ db: stores.postgres.db, clickhouse: stores.clickhouse, clock: stores.clock });
  await ledger.write(uploads.map((upload) => prepareChunk(upload, options)));
  expect(await countOf(repository)).toBe(5_000);
  while ((await driver.sweeper.sweep(0)) > 0);
  await driver.settle();
  for (const { upload_id } of [uploads[0], uploads[4_999]].flatMap((upload) => upload ?? []))
    expect(await stores.receipts.find(repository.owner, repository.name, upload_id)).toMatchObject({
      status: 'stored',
      accepted: 1,
    });
});

describe('what a crash leaves behind', () => {
  /** A ClickHouse that does what a process that dies would: nothing, or the insert without its acknowledgement. */
  const dying = (when: 'before the insert' | 'after the insert') => ({
    ...stores.clickhouse,
    insert: async (...args: Parameters<typeof stores.clickhouse.insert>) => {
      if (when === 'after the insert') await stores.clickhouse.insert(...args);
      throw new Error('killed');
    },
  });

  test.each(['before the insert', 'after the insert'] as const)(
    '%s: the retry of its job finishes the block',
    async (when) => {
      const repository = newRepository();
      const recorded = await stores.repositories.record(repository);
      const chunk = prepareChunk(job(repository, executions(30)), {
        repositoryId: recorded.id,
        defaultBranch: 'main',
        now: TEST_NOW,
        retentionDays: 90,
      });
      await expect(
        new Ledger({ db: stores.postgres.db, clickhouse: dying(when), clock: stores.clock }).write([chunk]),
      ).rejects.toThrow('killed');
      await new Ledger({ db: stores.postgres.db, clickhouse: stores.clickhouse, clock: stores.clock }).write([chunk]);
      expect(await countOf(repository)).toBe(30);
      while ((await driver.sweeper.sweep(0)) > 0);
      await driver.settle();
    },
  );

  test.each(['before the insert', 'after the insert'] as const)('%s: the sweeper finishes the block', async (when) => {
    const repository = newRepository();
    const recorded = await stores.repositories.record(repository);
    const chunk = prepareChunk(job(repository, executions(30)), {
      repositoryId: recorded.id,
      defaultBranch: 'main',
      now: TEST_NOW,
      retentionDays: 90,
    });
    await expect(
      new Ledger({ db: stores.postgres.db, clickhouse: dying(when), clock: stores.clock }).write([chunk]),
    ).rejects.toThrow('killed');
    while ((await driver.sweeper.sweep(0)) > 0);
    await driver.settle();
    expect(await countOf(repository)).toBe(30);
  });
});

describe('what cannot be stored', () => {
  test('a chunk that ClickHouse refuses does not fail the rest of its block', async () => {
    const repository = newRepository();
    const recorded = await stores.repositories.record(repository);
    const options = { repositoryId: recorded.id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
    const good = prepareChunk(job(repository, executions(10), 'good'), options);
    const bad = prepareChunk(job(repository, executions(10), 'bad'), options);
    (bad.executions[3] as { isTimeReplaced: unknown }).isTimeReplaced = 'no boolean';
    const outcomes = await new Ledger({
      db: stores.postgres.db,
      clickhouse: stores.clickhouse,
      clock: stores.clock,
    }).write([good, bad]);
    expect(outcomes.map((outcome) => outcome.error === undefined)).toEqual([true, false]);
    expect(await countOf(repository)).toBe(10);
    while ((await driver.sweeper.sweep(0)) > 0);
    await driver.settle();
  });

  test('a name of 10,001 characters is rejected and counted, and the others are stored', async () => {
    const repository = newRepository();
    const upload = job(repository, [
      { name: 'x'.repeat(10_001) },
      { name: 'x'.repeat(10_000) },
      { name: '🙂'.repeat(10_000) },
    ]);
    await driver.ingest(upload);
    const receipt = await stores.receipts.find(repository.owner, repository.name, upload.upload_id);
    expect(receipt).toMatchObject({ status: 'stored', accepted: 2, rejected: 1 });
    expect(receipt?.rejections[0]?.reason).toBe('the test name is longer than 10000 characters');
  });

  test('an execution older than the retention is refused with the reason', async () => {
    const repository = newRepository();
    const upload = job(repository, [
      { name: 'old', at: Date.parse('2026-07-31T23:59:59Z') },
      { name: 'kept', at: Date.parse('2026-08-01T00:00:00Z') },
    ]);
    await driver.ingest(upload);
    const receipt = await stores.receipts.find(repository.owner, repository.name, upload.upload_id);
    expect(receipt).toMatchObject({ accepted: 1, rejected: 1 });
    expect(receipt?.rejections[0]?.reason).toBe('older than the retention of 90 days');
  });
});
