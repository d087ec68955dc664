import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { v7 as uuid7 } from 'uuid';
import { StoreUnavailable } from '../../src/errors.ts';
import { ReceiptStore } from '../../src/ledger/receipts.ts';
import { openPostgresQueues, openRedisQueues, type QueueBackend } from '../../src/queue/backend.ts';
import { backoffMs } from '../../src/queue/catalogue.ts';
import { TestRunsProducer } from '../../src/queue/producer.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { hasRedis, startRedis, type TestRedis } from '../support/redis.ts';
import { openTestStores, TEST_NOW, type TestStores, uniqueRepository } from '../support/stores.ts';

const quiet = (): void => {};

/** The same guarantees on both backends. */
const BACKENDS = [
  {
    kind: 'postgres',
    isHere: true,
    open: (stores: TestStores, _: TestRedis | undefined) => openPostgresQueues(stores.databaseUrl, quiet),
  },
  {
    kind: 'redis',
    isHere: hasRedis,
    open: (_: TestStores, redis: TestRedis | undefined) => openRedisQueues(redis?.url ?? '', quiet),
  },
];

for (const { kind, isHere, open } of BACKENDS)
  describe.skipIf(!isHere)(`the queue on ${kind}`, () => {
    let stores: TestStores;
    let redis: TestRedis | undefined;
    let queues: QueueBackend;

    beforeAll(async () => {
      stores = await openTestStores();
      stores.clock.set(TEST_NOW);
      redis = kind === 'redis' ? await startRedis() : undefined;
      queues = await open(stores, redis);
    });
    afterAll(async () => {
      await queues.close();
      await redis?.stop();
    });

    /** The test stores with this queue instead of theirs. */
    const withQueue = (producer: TestRunsProducer): TestStores => ({
      ...stores,
      queues,
      producer,
      receipts: new ReceiptStore(stores.postgres.db, stores.repositories, producer),
    });
    const job = (count = 20) =>
      makeJob({
        repository: uniqueRepository(),
        receivedAt: TEST_NOW,
        executions: Array.from({ length: count }, (_, i) => ({ name: `t${i}` })),
      });

    test('what a producer adds is stored, and its receipt says queued before and stored after', async () => {
      const producer = new TestRunsProducer(queues);
      const own = withQueue(producer);
      const upload = job();
      const { owner, name } = upload.repository;
      await producer.add([upload]);
      expect(await own.receipts.find(owner, name, upload.upload_id)).toMatchObject({
        status: 'queued',
        accepted: null,
      });
      const driver = new IngestDriver(own);
      await driver.settle();
      expect(await own.receipts.find(owner, name, upload.upload_id)).toMatchObject({ status: 'stored', accepted: 20 });
      expect(await own.receipts.find(owner, 'another', upload.upload_id)).toBeNull();
      expect(await own.receipts.find(owner, name, uuid7())).toBeNull();
      await driver.verify();
      await driver.stop();
      await producer.close();
    });

    test('a chunk that is added twice while it is queued is one job', async () => {
      const producer = new TestRunsProducer(queues);
      const upload = job();
      await producer.add([upload, upload]);
      await producer.add([upload]);
      expect(await producer.depth()).toBe(1);
      const driver = new IngestDriver(withQueue(producer));
      await driver.settle();
      await driver.stop();
      await producer.close();
    });

    test('a store that is down is waited for: the job is tried again and nothing is lost', async () => {
      const producer = new TestRunsProducer(queues);
      const own = withQueue(producer);
      let failures = 3;
      const clickhouse = Object.create(stores.clickhouse) as TestStores['clickhouse'];
      clickhouse.insert = (...args) => {
        if (failures-- > 0) return Promise.reject(new StoreUnavailable('clickhouse'));
        return stores.clickhouse.insert(...args);
      };
      for (const method of ['select', 'rows', 'command'] as const)
        Object.assign(clickhouse, { [method]: stores.clickhouse[method].bind(stores.clickhouse) });
      const driver = new IngestDriver({ ...own, clickhouse });
      const upload = job();
      await driver.ingest(upload);
      expect(failures).toBeLessThan(0);
      const { owner, name } = upload.repository;
      expect(await own.receipts.find(owner, name, upload.upload_id)).toMatchObject({ status: 'stored', accepted: 20 });
      await driver.stop();
      const after = new IngestDriver(own);
      await after.verify();
      await after.stop();
      await producer.close();
    });
  });

test('a queue that cannot be reached is said to be unavailable', async () => {
  await expect(openRedisQueues('redis://127.0.0.1:1', quiet)).rejects.toThrow(StoreUnavailable);
});

test('tries come apart by twice as long each time, up to half a minute', () => {
  expect([1, 2, 3, 20, 3_000].map(backoffMs)).toEqual([250, 500, 1_000, 30_000, 30_000]);
});
