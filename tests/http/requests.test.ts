import { beforeAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { ADDRESS_LENGTH_MAX, ARRAY_LENGTH_MAX } from '../../src/domain/limits.ts';
import { StoreUnavailable } from '../../src/errors.ts';
import { mount } from '../../src/http/operation.ts';
import { createLogger } from '../../src/observability/log.ts';
import { ORIGIN, openTestApp, type TestApp } from '../support/http.ts';
import { until } from '../support/patience.ts';

const SEARCH = '/v1/ci/acme/repositories/shop/search/tests';
const TEST = '/v1/ci/acme/repositories/shop/tests/8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
const schema = z.object({ value: z.number() });
const describeTrouble = { tag: 'Trouble', summary: 'For tests', description: 'For tests.', access: 'public' } as const;

let app: TestApp;
let logged: string[];
let runs = 0;
let firstRun = Promise.withResolvers<void>();

beforeAll(async () => {
  logged = [];
  const log = createLogger('warn', { write: (line) => void logged.push(line) });
  app = await openTestApp({
    log,
    features: [
      (elysia, http) => {
        const responses = { 200: { description: 'A value.', schema } };
        mount(elysia, http, 'GET', '/trouble/schema', {
          ...describeTrouble,
          operationId: 'a',
          responses,
          handle: () => ({ body: { value: 'text' } }),
        });
        mount(elysia, http, 'GET', '/trouble/crash', {
          ...describeTrouble,
          operationId: 'b',
          responses,
          handle: () => {
            throw new Error('the secret of the house');
          },
        });
        mount(elysia, http, 'GET', '/trouble/store', {
          ...describeTrouble,
          operationId: 'c',
          access: 'credential',
          responses,
          handle: () => Promise.reject(new StoreUnavailable('clickhouse', new Error('connect to 10.0.0.1'))),
        });
        mount(elysia, http, 'GET', '/trouble/slow', {
          ...describeTrouble,
          operationId: 'd',
          access: 'credential',
          responses,
          isCoalesced: true,
          handle: async () => {
            const run = ++runs;
            if (run === 1) await firstRun.promise;
            return { body: { value: run } };
          },
        });
        mount(elysia, http, 'POST', '/trouble/body', {
          ...describeTrouble,
          operationId: 'e',
          responses,
          body: z.object({ value: z.number(), name: z.string() }),
          handle: ({ body }) => ({ body }),
        });
      },
    ],
  });
});

interface Problem {
  detail: string;
  errors: { loc: (string | number)[]; msg: string; type: string }[];
}

async function refusal(path: string): Promise<Problem> {
  const response = await app.request(path);
  expect([path, response.status]).toEqual([path, 422]);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  return (await response.json()) as Problem;
}
const locations = async (path: string) => (await refusal(path)).errors.map(({ loc }) => loc.join('.'));

describe('addresses', () => {
  test('an unknown address is 404, a known one with another method 405 with Allow', async () => {
    expect((await app.request('/v1/nothing')).status).toBe(404);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const response = await app.request(`${SEARCH}?test_name=*`, { method });
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD']);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
    }
  });

  test('HEAD answers what GET answers, without the body', async () => {
    for (const path of [`${SEARCH}?test_name=*`, TEST, '/healthz/live', '/v1/nothing']) {
      const get = await app.request(path);
      const head = await app.request(path, { method: 'HEAD' });
      expect(head.status).toBe(get.status);
      expect(head.headers.get('etag')).toBe(get.headers.get('etag'));
      expect(head.headers.get('link')).toBe(get.headers.get('link'));
      if (get.status === 200) expect(await head.text()).toBe('');
    }
  });

  test('a doubled leading slash and a two-letter host name are tolerated, and links use the host that the client asked', async () => {
    expect((await app.request(`/${SEARCH}?test_name=*`)).status).toBe(200);
    const response = await app.request(`http://ci${SEARCH}?test_name=*`);
    expect(response.status).toBe(200);
    expect(response.headers.get('link')).toStartWith(`<http://ci${SEARCH}?test_name=*&cursor=`);
  });

  test('every answer carries a request id: the one that was sent if it is safe', async () => {
    for (const path of [`${SEARCH}?test_name=*`, '/v1/nothing', `${SEARCH}`]) {
      const response = await app.request(path, { headers: { 'x-request-id': 'from-client.1' } });
      expect(response.headers.get('x-request-id')).toBe('from-client.1');
    }
    const forged = await app.request('/healthz/live', { headers: { 'x-request-id': 'a b"c' } });
    expect(forged.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
  });
});

describe('faults', () => {
  test('an answer that does not match its schema is 500, never sent and never 422', async () => {
    const response = await app.request('/trouble/schema');
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('text');
  });

  test('a crash is 500 without details, and logged with its request id', async () => {
    const response = await app.request('/trouble/crash', { headers: { 'x-request-id': 'crash-1' } });
    expect(response.status).toBe(500);
    const body = await response.text();
    expect(body).toContain('crash-1');
    expect(body).not.toContain('secret');
    expect(logged.some((line) => line.includes('crash-1') && line.includes('secret of the house'))).toBe(true);
  });

  test('an unavailable store is 503 with Retry-After, and its address is not revealed', async () => {
    const response = await app.request('/trouble/store');
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await response.text()).not.toContain('10.0.0.1');
  });

  test('a body that is not JSON, or not declared as JSON, is 422; all problems with a JSON body are listed', async () => {
    const post = (body: string, type: string) =>
      app.request('/trouble/body', { method: 'POST', body, headers: { 'content-type': type } });
    for (const [body, type] of [
      ['{"value":', 'application/json'],
      ['{"value":1,"name":""}', 'text/plain'],
      ['', 'application/json'],
    ] as const)
      expect((await post(body, type)).status).toBe(422);
    const wrong = (await (await post('{"value":"1"}', 'application/json')).json()) as Problem;
    expect(wrong.errors.map(({ loc }) => loc)).toEqual([
      ['body', 'value'],
      ['body', 'name'],
    ]);
    expect((await post('{"value":1,"name":"","more":true}', 'application/json; charset=utf-8')).status).toBe(200);
  });
});

describe('query parameters', () => {
  test('every problem is listed with its location', async () => {
    const path = `${SEARCH}?test_name=a&test_name=&sort=best&direction=up&per_page=101&pipeline_name=${'x'.repeat(256)}`;
    expect(await locations(path)).toEqual([
      'query.test_name.1',
      'query.pipeline_name.0',
      'query.sort',
      'query.direction',
      'query.per_page',
    ]);
  });

  test('lengths count code points', async () => {
    expect((await app.request(SEARCH)).status).toBe(200);
    const emoji = encodeURIComponent('😀'.repeat(10_000));
    expect((await app.request(`${SEARCH}?test_name=${emoji}`)).status).toBe(200);
    expect(await locations(`${SEARCH}?test_name=${emoji}${emoji.slice(0, 12)}`)).toEqual(['query.test_name.0']);
    expect((await app.request(`${SEARCH}?test_name=a&job_name=${encodeURIComponent('😀'.repeat(255))}`)).status).toBe(
      200,
    );
  });

  test('an address of more than 256 KiB is 414 with a sentence, whatever it asks for', async () => {
    const path = `${SEARCH}?test_name=a&unknown=`;
    const room = ADDRESS_LENGTH_MAX - ORIGIN.length - path.length;
    expect((await app.request(path + 'x'.repeat(room))).status).toBe(200);
    for (const beyond of [path + 'x'.repeat(room + 1), `/nothing/${'x'.repeat(ADDRESS_LENGTH_MAX)}`]) {
      const response = await app.requestUnchecked(beyond);
      expect(response.status).toBe(414);
      expect(((await response.json()) as Problem).detail).toBe(
        'The address of the request has more than 262144 characters. Ask for fewer names at once.',
      );
    }
  });

  test('a parameter has at most 255 values', async () => {
    const values = (count: number) => Array.from({ length: count }, (_, i) => `test_name=t${i}`).join('&');
    expect((await app.request(`${SEARCH}?${values(ARRAY_LENGTH_MAX)}`)).status).toBe(200);
    expect(await locations(`${SEARCH}?${values(ARRAY_LENGTH_MAX + 1)}`)).toEqual(['query.test_name']);
  });

  test('NUL, half surrogates and broken percent-encoding are 422', async () => {
    for (const value of ['a%00b', '%ED%A0%80', '100%', '%ZZ', '%C3'])
      expect(await locations(`${SEARCH}?test_name=${value}`)).toHaveLength(1);
    expect((await app.request('/v1/ci/acme/repositories/%00/search/tests?test_name=*')).status).toBe(422);
  });

  test('unknown parameters are ignored, whatever they hold', async () => {
    expect((await app.request(`${SEARCH}?test_name=*&utm=%ZZ&__proto__=1&constructor=2`)).status).toBe(200);
  });

  test('a single-valued parameter is refused when repeated', async () => {
    expect(await locations(`${SEARCH}?test_name=*&per_page=1&per_page=2`)).toEqual(['query.per_page']);
  });

  test('per_page is a whole number from 1 to 100', async () => {
    for (const value of ['0', '101', '-1', '1.0', '1e1', '', 'ten', '%2B5', '9999999999999999999'])
      expect([value, ...(await locations(`${SEARCH}?test_name=*&per_page=${value}`))]).toEqual([
        value,
        'query.per_page',
      ]);
  });

  test('an invalid path is 422 with every problem', async () => {
    expect(await locations(`/v1/ci/${'o'.repeat(41)}/repositories/a%2Fb/tests/x`)).toEqual([
      'path.owner',
      'path.repository_name',
      'path.test_id',
    ]);
    // A UUID of another version.
    expect(await locations(TEST.replace('5a3e', '4a3e'))).toEqual(['path.test_id']);
    expect(await locations(`${TEST}/stats/median`)).toEqual(['path.stat']);
    expect(await locations(`${TEST}/failures/8c0f1a52-4dd6-7a3e-9a75-0b2f1d9d3c11`)).toEqual(['path.failure_id']);
  });

  test('a window must start before it ends, and a date needs a time and a zone', async () => {
    for (const path of [`${TEST}/stats/success_count`, `${TEST}/executions`]) {
      const same = 'start=2026-11-21T00:00:00Z&end=2026-11-21T00:00:00Z';
      expect(await locations(`${path}?${same}`)).toEqual(['query.start']);
      for (const value of ['2026-11-21', '2026-11-21T00:00:00', '2026-02-30T00:00:00Z', 'now', '', '1795251600'])
        expect(await locations(`${path}?start=${value}`)).toEqual(['query.start']);
    }
  });

  test('a series of more than 1,000 buckets is 422', async () => {
    const path = (days: number) =>
      `${TEST}/stats/success_count?start=2020-01-01T00:00:00Z&end=${new Date(Date.UTC(2020, 0, 1 + days)).toISOString()}`;
    expect(await locations(path(2_100))).toEqual(['query.start']);
    expect(await locations(`${TEST}/stats/success_count?start=0001-01-01T00:00:00Z&end=9999-12-31T23:59:59Z`)).toEqual([
      'query.start',
    ]);
    expect((await app.request(path(1_900))).status).toBe(404);
  });
});

describe('repeated reads', () => {
  test('an unchanged answer is 304 for a client that has it', async () => {
    const first = await app.request(`${SEARCH}?test_name=*`);
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    for (const sent of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await app.request(`${SEARCH}?test_name=*`, { headers: { 'if-none-match': sent } });
      expect([sent, again.status, await again.text()]).toEqual([sent, 304, '']);
    }
    expect((await app.request(`${SEARCH}?test_name=*`, { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
  });

  test('identical reads at the same time share a run, but none that began before they asked', async () => {
    runs = 0;
    firstRun = Promise.withResolvers();
    const value = async () => ((await (await app.request('/trouble/slow')).json()) as { value: number }).value;
    const first = value();
    await until(() => runs > 0);
    const later = Promise.all(Array.from({ length: 20 }, value));
    // Long enough for all of them to ask while the first run continues.
    await Bun.sleep(500);
    firstRun.resolve();
    expect(await first).toBe(1);
    expect(new Set(await later)).toEqual(new Set([2]));
    expect(await value()).toBe(3);
  });
});
