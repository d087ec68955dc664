import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Redis } from 'ioredis';
import { v7 as uuid7 } from 'uuid';
import { StoreUnavailable } from '../../src/errors.ts';
import { gatewayOf } from '../../src/features.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import { ReceiptStore } from '../../src/ledger/receipts.ts';
import { limitOrdered, openPostgresQueues, openRedisQueues, type QueueBackend } from '../../src/queue/backend.ts';
import { backoffMs } from '../../src/queue/job-kind.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { Producers } from '../../src/queue/producer.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { uploadBundles } from '../../src/queue/upload-bundles.ts';
import { TEST_NOW } from '../support/clock.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { openTestApp } from '../support/http.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { until } from '../support/patience.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { startRedisCluster, startSentinels } from '../support/redis-topologies.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const quiet = (): void => {};

interface Server {
  url: string;
  stop(): Promise<void>;
}

/** The same guarantees wherever the queue is; without a separate server it is in PostgreSQL. */
const BACKENDS: readonly { kind: string; isHere: boolean; start?: () => Promise<Server> }[] = [
  { kind: 'postgres', isHere: true },
  { kind: 'redis', isHere: hasRedis, start: startRedis },
  { kind: 'a cluster of three masters', isHere: hasRedis, start: startRedisCluster },
  { kind: 'a master found by its sentinel', isHere: hasRedis, start: startSentinels },
];

for (const { kind, isHere, start } of BACKENDS)
  describe.skipIf(!isHere)(`the queue on ${kind}`, () => {
    let stores: TestStores;
    let redis: Server | undefined;
    let queues: QueueBackend;

    beforeAll(async () => {
      stores = await openTestStores();
      stores.clock.set(TEST_NOW);
      redis = await start?.();
      queues = redis ? await openRedisQueues(redis.url, quiet) : await openPostgresQueues(stores.databaseUrl, quiet);
      await limitOrdered(queues);
    });
    afterAll(async () => {
      await queues.close();
      await redis?.stop();
    });

    /** The test stores with this queue instead of theirs. */
    const withQueue = (producers: Producers): TestStores => ({
      ...stores,
      queues,
      producers,
      receipts: new ReceiptStore({
        db: stores.postgres.db,
        repositories: stores.repositories,
        producers,
      }),
    });
    const job = (count = 20) =>
      makeJob({
        repository: uniqueRepository(),
        receivedAt: TEST_NOW,
        executions: Array.from({ length: count }, (_, i) => ({ name: `t${i}` })),
      });

    test('events that are queued one after another are logged in that order, by two workers too', async () => {
      const producers = new Producers(queues);
      const own = withQueue(producers);
      const drivers = [new IngestDriver(own), new IngestDriver(own)];
      const repository = uniqueRepository();
      const keys = Array.from({ length: 60 }, (_, i) => `event ${i}`);
      // Each is acknowledged before the next is sent, as a host does with its deliveries.
      for (const key of keys) await producers.of(prEvents).add(makeEventsJob(repository, [labelled(key)]));
      for (const driver of drivers) await driver.settle();
      const { id = '' } = (await stores.repositories.find(repository.owner, repository.name)) ?? {};
      const logged = await stores.clickhouse.rows(
        "SELECT JSONExtractString(metadata, 'added', 1) AS key FROM ci.events WHERE repository_id = {id: UUID} ORDER BY received_at, id",
        { id },
      );
      expect(logged).toEqual(keys.map((key) => ({ key })));
      for (const driver of drivers) await driver.stop();
      await producers.close();
    });

    test('what a producer adds is stored, and its receipt says queued, then stored', async () => {
      const producers = new Producers(queues);
      const own = withQueue(producers);
      const upload = job();
      const { owner, name } = upload.repository;
      await producers.of(testRuns).add(upload);
      expect(await own.receipts.find(owner, name, upload.upload_id)).toMatchObject({
        status: 'queued',
        accepted: null,
      });
      const driver = new IngestDriver(own);
      driver.watch(upload.repository);
      await driver.settle();
      expect(await own.receipts.find(owner, name, upload.upload_id)).toMatchObject({ status: 'stored', accepted: 20 });
      expect(await own.receipts.find(owner, 'another', upload.upload_id)).toBeNull();
      expect(await own.receipts.find(owner, name, uuid7())).toBeNull();
      await driver.verify();
      await driver.stop();
      await producers.close();
    });

    test('the job of an upload is read once, however often its receipt is asked for', async () => {
      const producers = new Producers(queues);
      const { receipts } = withQueue(producers);
      const upload = job();
      const { owner, name } = upload.repository;
      await producers.of(testRuns).add(upload);
      const receipt = await receipts.find(owner, name, upload.upload_id);
      expect(receipt).toMatchObject({ status: 'queued' });
      const queue = queues.queue('test-runs');
      const queued = await queue.getJob(`${upload.upload_id}-0`);
      await queued?.updateData('nothing to be read');
      expect(await receipts.find(owner, name, upload.upload_id)).toEqual(receipt);
      expect(await receipts.find(owner, 'another', upload.upload_id)).toBeNull();
      await queued?.remove();
      expect(await receipts.find(owner, name, upload.upload_id)).toBeNull();
      await queue.close();
      await producers.close();
    });

    test('small uploads that arrive together share a job, each with its receipt', async () => {
      const producers = new Producers(queues);
      const own = withQueue(producers);
      const app = await openTestApp({ features: [(elysia, http) => mountIngest(elysia, http, gatewayOf(own))] });
      const repositories = Array.from({ length: 6 }, uniqueRepository);
      const depths = async () => [await producers.of(testRuns).depth(), await producers.of(uploadBundles).depth()];
      const send = () =>
        Promise.all(
          repositories.map(async ({ owner, name }, i) => {
            const path = `/v1/ci/${owner}/repositories/${name}/junit?pipeline_name=CI&job_name=unit&branch=main&run_id=${++run}`;
            const body = `<testsuite>${`<testcase name="t${i}"/>`.repeat(i + 1)}</testsuite>`;
            const response = await app.request(path, { method: 'POST', body });
            expect(response.status).toBe(202);
            return ((await response.json()) as { id: string }).id;
          }),
        );
      const receipts = (ids: readonly string[], { receipts } = own) =>
        Promise.all(repositories.map(({ owner, name }, i) => receipts.find(owner, name, ids[i] ?? '')));
      let run = 0;
      const together = await send();
      const [jobs = 0, bundles = 0] = await depths();
      expect(bundles).toBeGreaterThan(0);
      // On a busy machine, one that is parsed late may go alone.
      expect(jobs + bundles).toBeLessThan(6);
      // Another replica finds them, too.
      for (const asked of [own, withQueue(new Producers(queues))])
        expect(await receipts(together, asked)).toMatchObject(together.map((id) => ({ id, status: 'queued' })));
      const [first = '', second = ''] = together;
      const { owner = '', name = '' } = repositories[1] ?? {};
      expect(await own.receipts.find(owner, name, first)).toBeNull();
      expect(await own.receipts.find(owner, name, `${second.slice(0, -2)}ff`)).toBeNull();

      const driver = new IngestDriver(own);
      driver.watch(...repositories);
      await driver.settle();
      expect(await receipts(together)).toMatchObject(
        together.map((id, i) => ({ id, status: 'stored', accepted: i + 1, duplicate: 0 })),
      );
      await driver.verify();
      await driver.stop();
      await producers.close();
    });

    test('a chunk that is added twice while it is queued is one job', async () => {
      const producers = new Producers(queues);
      const upload = job();
      await producers.of(testRuns).addMany([upload, upload]);
      await producers.of(testRuns).add(upload);
      expect(await producers.of(testRuns).depth()).toBe(1);
      const driver = new IngestDriver(withQueue(producers));
      await driver.settle();
      await driver.stop();
      await producers.close();
    });

    test('while a store is down the job is retried, and nothing is lost', async () => {
      const producers = new Producers(queues);
      const own = withQueue(producers);
      let failures = 2;
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
      after.watch(upload.repository);
      await after.verify();
      await after.stop();
      await producers.close();
    });
  });

describe.skipIf(!hasRedis)('Redis', () => {
  test('a lost master is replaced by its replica: adding fails until then, and what is added afterwards is processed', async () => {
    const sentinels = await startSentinels();
    const queues = await openRedisQueues(sentinels.url, quiet);
    const queue = queues.queue('lost');
    const done = new Set<unknown>();
    const worker = queues.worker('lost', async (job) => done.add(job.data), { concurrency: 1, isOrdered: false });
    await queue.add('before', 'before');
    await until(() => done.has('before'));
    await sentinels.loseMaster();
    let refused = 0;
    const isAdded = () =>
      queue.add('after', 'after').then(
        () => true,
        () => false,
      );
    // The client gives up on a lost master after 3 s, and the sentinels elect within a few more.
    await until(async () => {
      const isThere = await isAdded();
      if (!isThere) refused++;
      return isThere;
    });
    expect(refused).toBeGreaterThan(0);
    await until(() => done.has('after'));
    await worker.close();
    await queue.close();
    await queues.close();
    await sentinels.stop();
  });

  test('a server that may evict waiting jobs is refused at the start', async () => {
    const redis = await startRedis();
    const settings = new Redis(redis.url);
    await settings.config('SET', 'maxmemory', '100mb');
    await (await openRedisQueues(redis.url, quiet)).close();
    await settings.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await expect(openRedisQueues(redis.url, quiet)).rejects.toThrow('set maxmemory-policy noeviction');
    await settings.quit();
    await redis.stop();
  });
});

test('an unreachable queue is reported as unavailable', async () => {
  await expect(openRedisQueues('redis://127.0.0.1:1', quiet)).rejects.toThrow(StoreUnavailable);
});

test('the pause between attempts doubles each time, up to half a minute', () => {
  expect([1, 2, 3, 20, 3_000].map(backoffMs)).toEqual([250, 500, 1_000, 30_000, 30_000]);
});
