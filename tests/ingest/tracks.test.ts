/** Large uploads have a separate track: they slow their owner down, not the others. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { inArray } from 'drizzle-orm';
import { gatewayOf } from '../../src/features.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import { ReceiptStore } from '../../src/ledger/receipts.ts';
import { uploadChunks } from '../../src/postgres/schema.ts';
import { limitOrdered, openPostgresQueues, openRedisQueues, type QueueBackend } from '../../src/queue/backend.ts';
import { largeTestRuns } from '../../src/queue/large-test-runs.ts';
import { TestRunsProducer } from '../../src/queue/package.ts';
import { Producers } from '../../src/queue/producer.ts';
import { type TestRunsJob, testRuns } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { openTestApp } from '../support/http.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const BACKENDS: readonly { kind: string; isHere: boolean; start?: typeof startRedis }[] = [
  { kind: 'postgres', isHere: true },
  { kind: 'redis', isHere: hasRedis, start: startRedis },
];

/** About as long as a message is kept. */
const MESSAGE = 'again and '.repeat(6_000);
/** Jobs of 2 MB: four fill a block. */
const LARGE_JOBS = 16;
const LARGE_FAILURES = 36;
const LARGE_REPORT = `<testsuite>${`<testcase name="t"><failure message="${MESSAGE}"/></testcase>`.repeat(12)}</testsuite>`;

for (const { kind, isHere, start } of BACKENDS)
  describe.skipIf(!isHere)(`with the queue on ${kind}`, () => {
    let stores: TestStores;
    let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
    let queues: QueueBackend;
    let producers: Producers;
    let upload: (repository: { owner: string; name: string }, run: number, body: string) => Promise<string>;

    beforeAll(async () => {
      const opened = await openTestStores();
      opened.clock.set(TEST_NOW);
      redis = await start?.();
      queues = redis
        ? await openRedisQueues(redis.url, () => {})
        : await openPostgresQueues(opened.databaseUrl, () => {});
      await limitOrdered(queues);
      producers = new Producers(queues);
      const receipts = new ReceiptStore({ db: opened.postgres.db, repositories: opened.repositories, producers });
      stores = { ...opened, queues, producers, receipts };
      const app = await openTestApp({ features: [(elysia, http) => mountIngest(elysia, http, gatewayOf(stores))] });
      upload = async ({ owner, name }, run, body) => {
        const path = `/v1/ci/${owner}/repositories/${name}/junit?pipeline_name=CI&job_name=unit&branch=main&run_id=${run}`;
        const response = await app.request(path, { method: 'POST', body });
        expect(response.status).toBe(202);
        return ((await response.json()) as { id: string }).id;
      };
    });
    afterAll(async () => {
      await producers.close();
      await queues.close();
      await redis?.stop();
    });

    const blocksOf = async (jobs: readonly TestRunsJob[]): Promise<number[]> => {
      const uploadIds = jobs.map(({ upload_id }) => upload_id);
      const chunks = await stores.postgres.db
        .select({ block: uploadChunks.blockId })
        .from(uploadChunks)
        .where(inArray(uploadChunks.uploadId, uploadIds));
      return chunks.map(({ block }) => block ?? Number.NaN).sort((one, other) => one - other);
    };

    /** A job with so many failures; one without is small. */
    const job = (repository: { owner: string; name: string }, failures: number, run = 1) =>
      makeJob({
        repository,
        receivedAt: TEST_NOW,
        run: { run_id: String(run) },
        executions: Array.from({ length: Math.max(failures, 1) }, (_, i) =>
          failures === 0
            ? { name: 'a' }
            : { name: `t${i}`, status: 'failed' as const, failures: [{ message: MESSAGE }] },
        ),
      });

    test('a small upload is stored before large ones of another owner that came first, and each once', async () => {
      const [costly, modest] = [uniqueRepository(), uniqueRepository()];
      const large = Array.from({ length: LARGE_JOBS }, (_, run) => job(costly, LARGE_FAILURES, run));
      const small = job(modest, 0);
      const producer = new TestRunsProducer(queues);
      for (const one of [...large, small]) await producer.add([one]);
      const driver = new IngestDriver(stores);
      driver.watch(costly, modest);
      await driver.settle();
      const blocks = await blocksOf(large);
      const [own = Number.NaN] = await blocksOf([small]);
      expect(blocks.length).toBe(LARGE_JOBS);
      // A block or two of the large ones may have begun by then.
      expect(blocks.filter((block) => block < own).length).toBeLessThan(LARGE_JOBS / 2);
      for (const { upload_id } of large)
        expect(await stores.receipts.find(costly.owner, costly.name, upload_id)).toMatchObject({
          status: 'stored',
          accepted: LARGE_FAILURES,
          duplicate: 0,
        });
      await driver.verify();
      await driver.stop();
      await producer.close();
    }, 120_000);

    test('the receipt of a large upload says queued while it waits, and the other track holds nothing of it', async () => {
      const repository = uniqueRepository();
      const id = await upload(repository, 1, LARGE_REPORT);
      expect(await stores.receipts.find(repository.owner, repository.name, id)).toMatchObject({ status: 'queued' });
      expect(await producers.of(testRuns).depth()).toBe(0);
      expect(await producers.of(largeTestRuns).depth()).toBe(1);
      const driver = new IngestDriver(stores);
      driver.watch(repository);
      await driver.verify();
      await driver.stop();
    });

    test('the producer of the package puts each job into its track', async () => {
      const repository = uniqueRepository();
      const producer = new TestRunsProducer(queues);
      await producer.add([job(repository, 0), job(repository, 20, 2)]);
      expect(await producers.of(testRuns).depth()).toBe(1);
      expect(await producers.of(largeTestRuns).depth()).toBe(1);
      expect(await producer.depth()).toBe(2);
      const driver = new IngestDriver(stores);
      driver.watch(repository);
      await driver.verify();
      await driver.stop();
      await producer.close();
    });
  });
