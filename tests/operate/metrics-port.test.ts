/** Metrics and health on a separate port, which is all that a worker exposes. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { version } from '../../package.json' with { type: 'json' };
import { UserError } from '../../src/errors.ts';
import { type Monitoring, startMonitoring } from '../../src/operate/monitoring.ts';
import { openTestApp } from '../support/http.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

let stores: TestStores;
let apart: Monitoring;
beforeAll(async () => {
  const opened = await openTestStores();
  stores = { ...opened, config: { ...opened.config, metricsPort: 0 } };
  apart = startMonitoring(stores);
});
afterAll(() => apart.stop());

test('it serves metrics, liveness and readiness, and nothing else', async () => {
  const statuses = ['/metrics', '/healthz/live', '/healthz/ready', '/v1/application', '/docs', '/admin/queues'].map(
    async (path) => [path, (await fetch(`${apart.url}${path}`)).status],
  );
  expect(await Promise.all(statuses)).toEqual([
    ['/metrics', 200],
    ['/healthz/live', 200],
    ['/healthz/ready', 200],
    ['/v1/application', 404],
    ['/docs', 404],
    ['/admin/queues', 404],
  ]);
  expect(await (await fetch(`${apart.url}/healthz/ready`)).json()).toEqual({
    status: 'ready',
    stores: { clickhouse: true, postgres: true, queue: true },
    is_storing: true,
    reason: null,
  });
});

test('the version is that of the release, in liveness as in the metrics', async () => {
  expect(await (await fetch(`${apart.url}/healthz/live`)).json()).toEqual({ status: 'alive', version });
  expect(await (await fetch(`${apart.url}/metrics`)).text()).toContain(`ci_insights_build_info{version="${version}"`);
});

test('the port that clients reach then serves health as before, but no metrics', async () => {
  const app = await openTestApp({ features: apart.features });
  expect((await app.request('/metrics', { token: null })).status).toBe(404);
  expect((await app.request('/healthz/live', { token: null })).status).toBe(200);
});

test('a port that is in use is reported in a sentence', () => {
  const port = Number(new URL(apart.url ?? '').port);
  const again = { ...stores, config: { ...stores.config, metricsPort: port } };
  expect(() => startMonitoring(again)).toThrow(UserError);
  expect(() => startMonitoring(again)).toThrow(/METRICS_PORT/);
});
