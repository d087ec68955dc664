/** Between the service and ClickHouse stands a balancer: what it says itself is no answer of ClickHouse. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sentenceOf } from '../../src/cli/sentence.ts';
import { type ClickHouse, openClickHouse } from '../../src/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/clickhouse/migrate.ts';
import { StoreUnavailable } from '../../src/errors.ts';
import { startClickHouseServer, type TestClickHouse } from '../support/clickhouse-http.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { openTestStores, uniqueRepository } from '../support/stores.ts';

const PAGE = '<html><head><title>Bad gateway</title></head><body><h1>Error: 502</h1></body></html>';
const ANSWERS = [404, 429, 502, 503, 504].flatMap((status) => [
  { status, body: PAGE, type: 'text/html' },
  { status, body: '', type: 'text/plain' },
]);

let server: TestClickHouse;
let balancer: ReturnType<typeof Bun.serve>;
let clickhouse: ClickHouse;
let app: TestApp;
let path: string;
/** Undefined: requests are passed on. */
let own: { status: number; body: string; type: string } | undefined;

beforeAll(async () => {
  server = await startClickHouseServer();
  const target = new URL(server.url);
  balancer = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      if (own) return new Response(own.body, { status: own.status, headers: { 'content-type': own.type } });
      const url = new URL(request.url);
      const headers = new Headers(request.headers);
      for (const name of ['host', 'content-length']) headers.delete(name);
      const body = new Uint8Array(await request.arrayBuffer());
      return fetch(`http://${target.host}${url.pathname}${url.search}`, {
        method: request.method,
        headers,
        body,
        decompress: false,
      });
    },
  });
  clickhouse = await openClickHouse({
    url: `http://${target.username}:${target.password}@127.0.0.1:${balancer.port}`,
    path: '',
  });
  await migrateClickHouse(clickhouse);
  app = await openTestApp({ clickhouse });
  const repository = uniqueRepository();
  await (await openTestStores()).repositories.record(repository);
  path = `/v1/repos/${repository.owner}/${repository.name}/logs`;
});
afterAll(async () => {
  own = undefined;
  await clickhouse.close();
  await balancer.stop(true);
  await server.stop();
});

async function answering<T>(answer: typeof own, run: () => Promise<T>): Promise<T> {
  own = answer;
  try {
    return await run();
  } finally {
    own = undefined;
  }
}

describe.each(ANSWERS)('an answer $status of a balancer ($type)', (answer) => {
  test('is 503 with Retry-After for reads', async () => {
    const response = await answering(answer, () => app.request(path));
    expect([response.status, response.headers.has('retry-after')]).toEqual([503, true]);
    expect((await app.request(path)).status).toBe(200);
  });

  test('is trouble that passes for an insert, a command and the ping', async () => {
    await answering(answer, async () => {
      const failed = [
        clickhouse.insert('ci.probes', '{"repository_id":"5beeaeba-a982-5c8b-8869-7caf1b9175bf"}', 'balancer'),
        clickhouse.command('CREATE DATABASE IF NOT EXISTS ci ENGINE = Atomic'),
        clickhouse.fill('ci.probes (repository_id)', { sql: 'SELECT generateUUIDv4()', params: {} }),
      ].map((sent) => sent.catch((error) => error));
      for (const error of await Promise.all(failed)) expect(error).toBeInstanceOf(StoreUnavailable);
      expect(await clickhouse.ping()).toBe(false);
    });
  });
});

test('a page under status 200 acknowledges nothing, and is not read as rows', async () => {
  await answering({ status: 200, body: PAGE, type: 'text/html' }, async () => {
    const line = '{"repository_id":"5beeaeba-a982-5c8b-8869-7caf1b9175bf"}';
    const failed = [
      clickhouse.insert('ci.probes', line, 'page'),
      clickhouse.command('CREATE DATABASE IF NOT EXISTS ci ENGINE = Atomic'),
      clickhouse.rows('SELECT 1'),
    ].map((sent) => sent.catch((error) => error));
    for (const error of await Promise.all(failed)) expect(error).toBeInstanceOf(StoreUnavailable);
    expect((await app.request(path)).status).toBe(503);
  });
});

test('an empty answer under status 200 acknowledges nothing', async () => {
  await answering({ status: 200, body: '', type: 'text/plain' }, async () => {
    expect(await clickhouse.rows('SELECT 1').catch((error) => error)).toBeInstanceOf(StoreUnavailable);
  });
});

test('at start it is named, without markup', async () => {
  const failed = await answering(ANSWERS[4], () =>
    openClickHouse({ url: `http://user:password@127.0.0.1:${balancer.port}`, path: '' }).catch((error) => error),
  );
  expect(sentenceOf(failed)).toMatch(
    /^Something else than ClickHouse responds at CLICKHOUSE_URL.* Bad gateway Error: 502\.$/,
  );
});

test.each([32, 95, 198, 243, 394])('error %i of ClickHouse is trouble that passes', async (code) => {
  await server.fault({ kind: 'error', code, message: 'a shard ended', matching: '/* events/' });
  const response = await app.request(path);
  expect([response.status, response.headers.has('retry-after')]).toEqual([503, true]);
});
