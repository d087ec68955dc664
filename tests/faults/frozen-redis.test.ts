/** A Redis that stops answering without closing its connections, as on a machine that swaps or is suspended. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { gatewayOf } from '../../src/features.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import { createLogger } from '../../src/observability/log.ts';
import { openRedisQueues, type QueueBackend } from '../../src/queue/backend.ts';
import { Producers } from '../../src/queue/producer.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { junitReport } from '../support/gateway.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { IngestDriver } from '../support/ingest.ts';
import { until } from '../support/patience.ts';
import { hasRedis, startRedis, type TestRedis } from '../support/redis.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const POLL_MS = 50;

describe.skipIf(!hasRedis)('while Redis is frozen', () => {
  let redis: TestRedis;
  let queues: QueueBackend;
  let stores: TestStores;
  let app: TestApp;
  let driver: IngestDriver;
  const { owner, name } = uniqueRepository();
  const base = `/v1/ci/${owner}/repositories/${name}`;

  beforeAll(async () => {
    redis = await startRedis();
    queues = await openRedisQueues(redis.url, () => {});
    stores = { ...(await openTestStores()), queues, producers: new Producers(queues), log: createLogger('fatal') };
    app = await openTestApp({
      log: stores.log,
      features: [(elysia, http) => mountIngest(elysia, http, gatewayOf(stores))],
    });
    driver = new IngestDriver(stores);
    driver.watch({ owner, name });
  });
  afterAll(async () => {
    redis?.thaw();
    await driver?.stop();
    await stores?.producers.close();
    await queues?.close();
    await redis?.stop();
  });

  const upload = async (test: string) => {
    const startedAt = performance.now();
    const response = await app.request(`${base}/junit?pipeline_name=CI&job_name=unit&branch=main&run_id=${test}`, {
      method: 'POST',
      body: junitReport([{ name: test }]),
    });
    return { test, response, seconds: (performance.now() - startedAt) / 1_000 };
  };

  test('uploads are refused with 503 and Retry-After within seconds, later ones at once, and all are stored when sent again', async () => {
    const before = await upload('before');
    expect(before.response.status).toBe(202);
    // On a busy machine, an upload takes that long anyway.
    const anyway = 4 * before.seconds;
    redis.freeze();
    const refused = [...(await Promise.all(['a', 'b', 'c'].map(upload))), await upload('d')];
    for (const { response, seconds } of refused) {
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(seconds).toBeLessThan(6 + anyway);
    }
    expect(refused.at(-1)?.seconds).toBeLessThan(1 + anyway);

    redis.thaw();
    for (const { test } of refused)
      await until(async () => (await upload(test)).response.status === 202, Boolean, POLL_MS);
    await driver.settle();
    const { tests } = await app.get<{ tests: { test_name: string; executions: number }[] }>(
      `${base}/search/tests?test_name=*`,
    );
    expect(tests.map(({ test_name }) => test_name).sort()).toEqual(['a', 'b', 'before', 'c', 'd']);
    // A job that Redis took although its upload was refused counts once.
    expect(await stores.producers.of(testRuns).depth()).toBe(0);
    await driver.verify();
  });
});
