/** More deliveries of the host than can be handled: refused before they are read, without taking the room of uploads. */
import { beforeAll, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { gatewayOf } from '../../src/features.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import { mountWebhooks } from '../../src/ingest/webhooks/routes.ts';
import { createLogger } from '../../src/observability/log.ts';
import { junitReport } from '../support/gateway.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { readMetrics } from '../support/metrics.ts';
import { until } from '../support/patience.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';
import { delivery, type Example, githubSite, payloadOf, WEBHOOK_SECRET } from '../support/webhooks.ts';

const MEBIBYTE = 1024 * 1024;
const { owner, name } = uniqueRepository();

let stores: TestStores;
let app: TestApp;
const queued: string[] = [];
/** While it waits, the queue takes nothing. */
let queue = Promise.resolve();
const lines: string[] = [];

beforeAll(async () => {
  stores = await openTestStores();
  const log = createLogger('warn', { write: (line) => void lines.push(line) });
  app = await openTestApp({
    log,
    features: [
      (elysia, http) => mountIngest(elysia, http, { ...gatewayOf(stores), enqueue: async () => {} }),
      (elysia, http) =>
        mountWebhooks(elysia, http, {
          log,
          hosts: [githubSite([WEBHOOK_SECRET])],
          enqueueEvents: async (id) => {
            await queue;
            queued.push(id);
          },
        }),
    ],
  });
});

const send = ({ body, headers }: Example, more: Record<string, string> = {}) =>
  app.request('/webhooks/github', {
    method: 'POST',
    body,
    token: null,
    headers: { ...headers(), 'content-length': String(body.length), ...more },
  });
const labeled = (i: number) =>
  delivery('pull_request', { ...payloadOf('pull_request', 'labeled'), padding: 'x'.repeat(MEBIBYTE) }, `labeled ${i}`);

test('deliveries beyond what can be handled get 503 and Retry-After, and are taken when they are sent again', async () => {
  const shed = async () => (await readMetrics(stores)).value('ci_insights_uploads_shed_total', { kind: 'webhook' });
  const before = await shed();
  let release = (): void => {};
  queue = new Promise((resolve) => {
    release = resolve;
  });
  const deliveries = Array.from({ length: 60 }, (_, i) => labeled(i));
  const first = deliveries.map((one) => send(one));
  const refused: Example[] = [];
  const answered = Promise.all(
    first.map(async (answer, i) => {
      const response = await answer;
      if (response.status === 202) return;
      expect(response.status).toBe(503);
      expect(Number(response.headers.get('retry-after'))).toBeWithin(1, 10);
      expect(((await response.json()) as { detail: string }).detail).toContain('More webhooks arrive');
      refused.push(deliveries[i] as Example);
    }),
  );
  // Those that found room are answered when the queue takes them.
  await Promise.race([answered, until(() => refused.length >= 10)]);
  expect(refused.length).toBeGreaterThanOrEqual(10);
  expect(queued).toEqual([]);

  // A delivery that is too large or not signed is told so at once, not that there is no room.
  const large = { 'content-length': String(26 * MEBIBYTE) };
  expect((await send(delivery('ping', {}), large)).status).toBe(413);
  expect((await app.request('/webhooks/github', { method: 'POST', body: '{}', token: null })).status).toBe(403);
  // They do not take the room of uploads.
  const upload = await app.request(`/v1/ci/${owner}/repositories/${name}/junit?run_id=1`, {
    method: 'POST',
    body: junitReport([{ name: 'a' }]),
  });
  expect(upload.status).toBe(202);

  release();
  await answered;
  expect(refused.length).toBeWithin(10, 57);
  expect(lines.filter((line) => line.includes('a webhook delivery found no room'))).toHaveLength(refused.length);
  expect(await shed()).toBe(before + refused.length);
  for (const one of refused) expect((await send(one)).status).toBe(202);
  expect(queued.sort()).toEqual(
    deliveries.map(({ body }) => `github-${createHash('sha256').update(body).digest('hex')}`).sort(),
  );
});

test('the metric of the wait of uploads rises with what is admitted, and falls back to nothing', async () => {
  const wait = async () => (await readMetrics(stores)).value('ci_insights_upload_wait_seconds');
  const body = (async function* () {
    yield Buffer.from('<testsuite>');
    await Bun.sleep(300);
    expect(await wait()).toBeGreaterThan(0.5);
    yield Buffer.from('</testsuite>');
  })();
  expect(await wait()).toBe(0);
  const response = await app.request(`/v1/ci/${owner}/repositories/${name}/junit?run_id=2`, {
    method: 'POST',
    headers: { 'content-length': String(20 * MEBIBYTE) },
    body: body as unknown as ReadableStream,
  });
  expect(response.status).toBe(202);
  expect(await wait()).toBe(0);
});
