/** Shows only on a socket: the limits of the server and its answer to HEAD. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openClickHouse } from '../../src/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/clickhouse/migrate.ts';
import { createLogger } from '../../src/observability/log.ts';
import { Draining } from '../../src/operate/draining.ts';
import { startClickHouseServer } from '../support/clickhouse-http.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { until } from '../support/patience.ts';
import { uniqueRepository } from '../support/stores.ts';

const SEARCH = '/v1/ci/acme/repositories/shop/search/tests';
let app: TestApp;
let origin: string;

beforeAll(async () => {
  app = await openTestApp();
  app.app.listen({ hostname: '127.0.0.1', port: 0 });
  origin = `http://127.0.0.1:${app.app.server?.port}`;
});
afterAll(async () => {
  await app.app.stop(true);
});

const send = (path: string, { headers = {}, ...init }: RequestInit & { headers?: Record<string, string> } = {}) =>
  fetch(`${origin}${path}`, { ...init, headers: { authorization: `Bearer ${app.adminToken}`, ...headers } });

test('a name of 10,000 emoji, 120,000 bytes in the address, can be searched for', async () => {
  const response = await send(`${SEARCH}?test_name=${encodeURIComponent('😀'.repeat(10_000))}`);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ size: 0, per_page: 10, total: 0, tests: [] });
});

test('HEAD gives the length of the answer to GET', async () => {
  for (const path of [`${SEARCH}?test_name=*`, '/healthz/live', '/docs/json', '/docs', '/docs/assets/swagger-ui.css']) {
    const headers = { 'accept-encoding': 'identity' };
    const length = (await (await send(path, { headers })).arrayBuffer()).byteLength;
    const head = await send(path, { method: 'HEAD', headers });
    expect([path, head.status, head.headers.get('content-length')]).toEqual([path, 200, String(length)]);
  }
});

test('a doubled slash, an unknown address and another method are answered as problems', async () => {
  expect((await send(`/${SEARCH}?test_name=*`)).status).toBe(200);
  expect((await send('/v2')).headers.get('content-type')).toBe('application/problem+json');
  expect((await send('/v1/application', { method: 'POST', body: '{' })).status).toBe(405);
});

test('many identical reads at the same time all get the same answer', async () => {
  const answers = await Promise.all(
    Array.from({ length: 64 }, async () => (await send(`${SEARCH}?test_name=*`)).text()),
  );
  expect(new Set(answers).size).toBe(1);
});

test('once draining starts, every answer closes its connection', async () => {
  const connectionOf = async (path: string) => (await send(path)).headers.get('connection');
  const paths = [`${SEARCH}?test_name=*`, `/${SEARCH}?test_name=*`, '/v2', '/docs', '/healthz/live'];
  expect(await Promise.all(paths.map(connectionOf))).not.toContain('close');
  const draining = new Draining();
  draining.start(app.app);
  expect(await Promise.all(paths.map(connectionOf))).toEqual(paths.map(() => 'close'));
  expect(await draining.probes.service?.()).toBe(false);
});

test('a draining process reports not ready at once, without asking stores that may be slow', async () => {
  let isServing = true;
  let asked = 0;
  const clickhouse = async (): Promise<boolean> => {
    asked++;
    return true;
  };
  const stopping = await openTestApp({ probes: { service: async () => isServing, clickhouse } });
  expect((await stopping.request('/healthz/ready')).status).toBe(200);
  expect(asked).toBe(1);
  isServing = false;
  const refused = await stopping.request('/healthz/ready');
  expect([refused.status, await refused.json(), asked]).toEqual([
    503,
    {
      ...{ status: 'unavailable', stores: { service: false }, is_storing: true },
      reason: 'The process is about to end.',
    },
    1,
  ]);
});

test('a read whose client has gone is aborted, in ClickHouse too, and logged as 499', async () => {
  const server = await startClickHouseServer();
  const clickhouse = await openClickHouse({ url: server.url, path: '' });
  await migrateClickHouse(clickhouse);
  const lines: string[] = [];
  const log = createLogger('info', { write: (line) => void lines.push(line) });
  const lonely = await openTestApp({ clickhouse, log });
  const { owner, name } = uniqueRepository();
  await lonely.stores.repositories.record({ host: 'github.com', owner, name });
  lonely.app.listen({ hostname: '127.0.0.1', port: 0 });
  try {
    await server.fault({ kind: 'stall', matching: 'events/log', ms: 60_000 });
    const client = new AbortController();
    const path = `/v1/repos/${owner}/${name}/logs`;
    const read = fetch(`http://127.0.0.1:${lonely.app.server?.port}${path}`, {
      headers: { authorization: `Bearer ${lonely.adminToken}` },
      signal: client.signal,
    });
    await server.untilSeen('events/log');
    client.abort();
    await expect(read).rejects.toThrow();
    await until(() => lines.length > 0);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { operation: 'listEvents', status: 499, msg: 'request' },
    ]);
  } finally {
    await lonely.app.stop(true);
    await clickhouse.close();
    await server.stop();
  }
});
