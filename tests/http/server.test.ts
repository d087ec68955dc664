/** What only shows on a socket: the server's own limits and its answer to HEAD. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Draining } from '../../src/http/draining.ts';
import { openTestApp, type TestApp } from '../support/http.ts';

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

const send = (path: string, init: RequestInit = {}) =>
  fetch(`${origin}${path}`, { ...init, headers: { authorization: `Bearer ${app.adminToken}` } });

test('a name of 10,000 emoji, 120,000 bytes in the address, is searched for', async () => {
  const response = await send(`${SEARCH}?test_name=${encodeURIComponent('😀'.repeat(10_000))}`);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ size: 0, per_page: 10, tests: [] });
});

test('HEAD says how long the answer to GET is', async () => {
  for (const path of [`${SEARCH}?test_name=*`, '/healthz/live', '/docs/json', '/docs', '/docs/assets/swagger-ui.css']) {
    const length = (await (await send(path)).arrayBuffer()).byteLength;
    const head = await send(path, { method: 'HEAD' });
    expect([path, head.status, head.headers.get('content-length')]).toEqual([path, 200, String(length)]);
  }
});

test('a doubled slash, an unknown address and another method are answered as problems', async () => {
  expect((await send(`/${SEARCH}?test_name=*`)).status).toBe(200);
  expect((await send('/v2')).headers.get('content-type')).toBe('application/problem+json');
  expect((await send('/v1/application', { method: 'POST', body: '{' })).status).toBe(405);
});

test('many equal reads at the same time all get the same answer', async () => {
  const answers = await Promise.all(
    Array.from({ length: 64 }, async () => (await send(`${SEARCH}?test_name=*`)).text()),
  );
  expect(new Set(answers).size).toBe(1);
});

test('from the start of draining on, every answer ends its connection, whatever it is', async () => {
  const connectionOf = async (path: string) => (await send(path)).headers.get('connection');
  const paths = [`${SEARCH}?test_name=*`, `/${SEARCH}?test_name=*`, '/v2', '/docs', '/healthz/live'];
  expect(await Promise.all(paths.map(connectionOf))).not.toContain('close');
  const draining = new Draining();
  draining.start(app.app);
  expect(await Promise.all(paths.map(connectionOf))).toEqual(paths.map(() => 'close'));
  expect(await draining.probes.service?.()).toBe(false);
});
