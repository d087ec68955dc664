/** Traces as a collector receives them: one from the upload to its storage, without names, texts or tokens. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { gatewayOf } from '../../src/features.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import type { TracingOptions } from '../../src/observability/span.ts';
import { inSpan, isTracing, startTracing } from '../../src/observability/tracing.ts';
import { openRedisQueues } from '../../src/queue/backend.ts';
import { Producer } from '../../src/queue/producer.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { openTestApp } from '../support/http.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const OPTIONS = { headers: {}, serviceName: 'ci-insights-test', version: '1', ratio: 1, onLost: () => {} };

let stores: TestStores;
let receiver: OtlpReceiver;
beforeAll(async () => {
  stores = await openTestStores();
  receiver = startOtlpReceiver();
});
afterAll(() => receiver.stop());

/** Runs with tracing on; what was sent is in the receiver when it returns. */
async function traced<T>(run: () => Promise<T>, options: Partial<TracingOptions> = {}): Promise<T> {
  receiver.spans.length = 0;
  const stop = await startTracing({ ...OPTIONS, endpoint: receiver.url, ...options });
  try {
    return await run();
  } finally {
    await stop();
  }
}

test("an upload is one trace below its caller's: request, queue, job, PostgreSQL, ClickHouse", async () => {
  const driver = new IngestDriver(stores);
  const app = await openTestApp({ features: [(elysia, http) => mountIngest(elysia, http, gatewayOf(stores))] });
  const { owner, name } = uniqueRepository();
  // Jobs that other tests have left would share its block, and the block one trace.
  await driver.settle();
  await traced(
    async () => {
      const response = await app.request(
        `/v1/ci/${owner}/repositories/${name}/junit?pipeline_name=CI&job_name=unit&run_id=1&branch=main&commit=c`,
        {
          method: 'POST',
          headers: { traceparent: `00-${TRACE}-${CALLER}-01` },
          body: '<testsuite><testcase classname="k" name="a-name-of-a-test" time="1"/></testsuite>',
        },
      );
      expect(response.status).toBe(202);
      await driver.settle();
      await app.get(`/v1/ci/${owner}/repositories/${name}/search/tests?test_name=*a-name-of-a-test`);
    },
    { headers: { 'x-tenant': 'acme' } },
  );
  await driver.stop();

  const { spans } = receiver;
  const upload = spans.filter(({ traceId }) => traceId === TRACE);
  const named = (pattern: RegExp) => upload.filter((span) => pattern.test(span.name));
  const [request] = named(/^POST .*\/junit$/);
  const [enqueue] = named(/^enqueue test-runs$/);
  const [job] = named(/^process test-runs$/);
  const [insert] = named(/^clickhouse insert$/);
  expect(request).toMatchObject({ kind: 'SERVER', parentId: CALLER, isError: false });
  expect(request?.attributes).toMatchObject({ 'http.response.status_code': 202, 'http.request.method': 'POST' });
  expect(enqueue).toMatchObject({ kind: 'PRODUCER', parentId: request?.spanId });
  expect(job).toMatchObject({ kind: 'CONSUMER', parentId: enqueue?.spanId });
  expect(insert?.attributes).toMatchObject({ 'db.system.name': 'clickhouse', 'db.collection.name': 'ci.ingest' });
  expect(named(/^postgresql$/).length).toBeGreaterThanOrEqual(2);
  const search = spans.find((span) => span.name === 'clickhouse insights/search');
  expect(search?.traceId).not.toBe(TRACE);
  expect(JSON.stringify(spans)).not.toContain('a-name-of-a-test');
  expect(JSON.stringify(spans)).not.toContain(app.adminToken);
  expect(receiver.resource).toMatchObject({ 'service.name': 'ci-insights-test' });
  expect(receiver.headers?.get('x-tenant')).toBe('acme');
});

test.skipIf(!hasRedis)('the trace continues through Redis as well', async () => {
  const redis = await startRedis();
  const backend = await openRedisQueues(redis.url, () => {});
  const producer = new Producer(backend, testRuns);
  const queue = backend.queue(testRuns.name);
  try {
    const job = makeJob({ repository: uniqueRepository(), executions: [{ name: 'a' }], receivedAt: TEST_NOW });
    await traced(() => inSpan('outer', { parent: `00-${TRACE}-${CALLER}-01` }, () => producer.add(job)));
    const [queued] = await queue.getJobs(['waiting']);
    expect(queued?.opts.telemetry?.metadata).toStartWith(`00-${TRACE}-`);
  } finally {
    await queue.close();
    await producer.close();
    await backend.close();
    await redis.stop();
  }
});

test("a caller's decision not to sample is respected: nothing is sent", async () => {
  const app = await openTestApp();
  await traced(() => app.request('/v1/application', { headers: { traceparent: `00-${TRACE}-${CALLER}-00` } }));
  expect(receiver.spans).toEqual([]);
  await traced(() => app.request('/v1/application', { headers: { traceparent: 'no traceparent' } }));
  expect(receiver.spans.length).toBeGreaterThan(0);
});

test('health probes are not traced', async () => {
  const app = await openTestApp();
  await traced(async () => {
    for (const path of ['/healthz/live', '/healthz/ready']) await app.request(path, { token: null });
  });
  expect(receiver.spans).toEqual([]);
});

test("a failure marks its span with its type, and not with the driver's message", async () => {
  await traced(() =>
    inSpan('fails', { parent: null }, () => Promise.reject(new TypeError('quotes a-secret'))).catch(() => {}),
  );
  expect(receiver.spans).toMatchObject([{ name: 'fails', isError: true, attributes: { 'error.type': 'TypeError' } }]);
  expect(JSON.stringify(receiver.spans)).not.toContain('a-secret');
});

test('while the endpoint is down requests are served, the loss is reported at most once, and stopping ends', async () => {
  const app = await openTestApp();
  let told = 0;
  const closed = startOtlpReceiver();
  await closed.stop();
  await traced(
    async () => {
      for (let i = 0; i < 5; i++) expect((await app.request('/v1/application')).status).toBe(200);
    },
    { endpoint: closed.url, onLost: () => void told++ },
  );
  expect(told).toBeLessThanOrEqual(1);
  expect(isTracing()).toBe(false);
});

test('without an endpoint the SDK is not loaded', async () => {
  const script = `
    await import('./src/main.ts');
    console.log(JSON.stringify(Object.keys(require.cache)));`;
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script], { cwd: resolve(import.meta.dir, '../..') });
  const modules = JSON.parse(stdout.toString()) as string[];
  expect(modules.some((path) => path.includes('/@prometheus-io/'))).toBe(true);
  expect(modules.filter((path) => /@opentelemetry.(?!api)/.test(path))).toEqual([]);
});
