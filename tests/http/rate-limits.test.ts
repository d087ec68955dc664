/** Limits of requests per key: which operations they hold for, and how replicas share the count. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { KeyRateLimit } from '../../src/access/key-rate-limit.ts';
import { gatewayOf, webhooksOf } from '../../src/features.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import { mountWebhooks } from '../../src/ingest/webhooks/routes.ts';
import { createLogger } from '../../src/observability/log.ts';
import { openRedisQueues, type QueueBackend } from '../../src/queue/backend.ts';
import { junitReport } from '../support/gateway.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { readMetrics } from '../support/metrics.ts';
import { until } from '../support/patience.ts';
import { hasRedis, startRedis, type TestRedis } from '../support/redis.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const { owner, name } = uniqueRepository();
const base = `/v1/ci/${owner}/repositories/${name}`;
const SEARCH = `${base}/search/tests?test_name=*`;
const silent = createLogger('silent');

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

const appWith = (requestsMax: number | undefined, redis?: object, log = silent): Promise<TestApp> =>
  openTestApp({
    rateLimit: requestsMax === undefined ? undefined : new KeyRateLimit({ requestsMax, redis, log }),
    features: [
      (elysia, http) => mountIngest(elysia, http, gatewayOf(stores)),
      (elysia, http) => mountWebhooks(elysia, http, webhooksOf(stores)),
    ],
  });

const refused = async (): Promise<number> =>
  (await readMetrics(stores)).value('ci_insights_requests_rate_limited_total', { operation: 'searchTests' });

describe('without RATE_LIMIT_PER_MINUTE', () => {
  test('nothing is counted: no header, and no 429', async () => {
    const app = await appWith(undefined);
    for (let i = 0; i < 20; i++) {
      const response = await app.request(SEARCH);
      expect(response.status).toBe(200);
      expect([...response.headers.keys()].filter((header) => header.startsWith('ratelimit'))).toEqual([]);
    }
  });
});

describe('with a limit', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await appWith(3);
  });

  test('sessions of a key share its count: signing in again gives no more requests', async () => {
    const token = await app.makeKey({ scope: 'view' });
    const own = { 'sec-fetch-site': 'same-origin' };
    const session = async (): Promise<string> => {
      const headers = { ...own, 'content-type': 'application/json' };
      const body = JSON.stringify({ key: token });
      const begun = await app.request('/v1/session', { method: 'POST', token: null, headers, body });
      return begun.headers.get('set-cookie')?.split(';')[0] ?? '';
    };
    const statuses = [(await app.request(SEARCH, { token })).status];
    for (let i = 0; i < 4; i++) {
      const headers = { ...own, cookie: await session() };
      statuses.push((await app.request(SEARCH, { token: null, headers })).status);
    }
    // Signing in counts as well, and gives no session beyond the limit.
    expect(statuses).toEqual([200, 200, 403, 403, 403]);
  });

  test('every answer says what is left, a request beyond it gets 429, and other keys are not affected', async () => {
    const token = await app.makeKey();
    const before = await refused();
    const asked = [
      await app.request(SEARCH, { token }),
      await app.request(`${SEARCH}&per_page=0`, { token }),
      await app.request(SEARCH, { token, method: 'HEAD' }),
      await app.request(SEARCH, { token }),
    ];
    expect(asked.map(({ status }) => status)).toEqual([200, 422, 200, 429]);
    const left = asked.map(({ headers }) => /^"key";r=(\d);t=\d+$/.exec(headers.get('ratelimit') ?? '')?.[1]);
    expect(left).toEqual(['2', '1', '0', '0']);
    for (const { headers } of asked) expect(headers.get('ratelimit-policy')).toBe('"key";q=3;w=60');

    const problem = asked.at(-1) as Response;
    const seconds = Number(problem.headers.get('retry-after'));
    expect(seconds).toBeWithin(1, 61);
    expect(await problem.json()).toEqual({
      type: 'about:blank',
      title: 'Too many requests',
      status: 429,
      detail: `This credential may send 3 requests in 60 seconds. Try again in ${seconds} seconds.`,
    });
    expect(await refused()).toBe(before + 1);
    expect((await app.request(SEARCH, { token: await app.makeKey() })).status).toBe(200);
  });

  test('changes count as well', async () => {
    const token = await app.makeKey();
    const change = () =>
      app.request(`${base}/quarantines`, {
        token,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ test_name: 'never seen', reason: 'flaky' }),
      });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await change()).status);
    expect(statuses).toEqual([201, 409, 409, 429]);
  });

  test('what CI jobs send is answered when the key has used up its requests, and does not count', async () => {
    const token = await app.makeKey();
    const get = (path: string) => app.request(path, { token });
    const post = (path: string, body: string, type: string) =>
      app.request(path, { token, method: 'POST', headers: { 'content-type': type }, body });
    const ofJobs = async () => {
      const report = await post(`${base}/junit?run_id=1`, junitReport([{ name: 'a' }]), 'application/xml');
      const { id } = (await report.clone().json()) as { id: string };
      const check = JSON.stringify({ tests_names: ['a'], branch: 'main' });
      return [
        report,
        await get(`${base}/uploads/${id}`),
        await post(`${base}/traces`, '{}', 'application/json'),
        await post(`/v1/repos/${owner}/${name}/ci/traces`, '{}', 'application/json'),
        await get(`${base}/quarantines`),
        await get(`${base}/quarantines?branch=main&per_page=100`),
        await post(`${base}/quarantines/check`, check, 'application/json'),
        await get(`${base}/flaky-detection-context`),
      ];
    };
    const expected = [202, 200, 200, 200, 200, 200, 200, 404];
    expect((await ofJobs()).map(({ status }) => status)).toEqual(expected);
    for (let i = 0; i < 4; i++) expect((await get(SEARCH)).status).toBe(i < 3 ? 200 : 429);
    const after = await ofJobs();
    expect(after.map(({ status }) => status)).toEqual(expected);
    for (const { headers } of after) expect(headers.has('ratelimit')).toBe(false);
  });

  test('a request without an accepted credential is 403, without a header', async () => {
    for (let i = 0; i < 5; i++) {
      const response = await app.request(SEARCH, { token: 'unknown' });
      expect([response.status, response.headers.has('ratelimit')]).toEqual([403, false]);
    }
  });

  test('the OpenAPI document has 429 and the headers at every operation that counts, and docs/api.md lists the others', async () => {
    interface Answer {
      headers?: Record<string, unknown>;
    }
    const document = await app.get<{
      paths: Record<string, Record<string, { security: unknown[]; responses: Record<string, Answer> }>>;
    }>('/docs/json');
    const exempt: string[] = [];
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, { security, responses }] of Object.entries(methods)) {
        // Signing in counts for the key that it is done with.
        if (security.length === 0) expect('429' in responses).toBe(`${method} ${path}` === 'post /v1/session');
        else if (!responses['429']) exempt.push(`${method.toUpperCase()} ${path}`);
        else {
          for (const status of ['200', '201', '304', '422', '429'])
            if (responses[status]) expect(Object.keys(responses[status].headers ?? {})).toContain('ratelimit');
          expect(responses['429'].headers).toHaveProperty('retry-after');
        }
      }
    const section = /\n### Limits of requests\n(.*?)\n##/s.exec(
      readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8'),
    )?.[1];
    const listed = [...(section ?? '').matchAll(/^\| `((?:GET|POST|PUT) [^`]+)` \|/gm)].map(([, row = '']) => row);
    expect(listed.sort()).toEqual(exempt.sort());
  });
});

describe.skipIf(!hasRedis)('two replicas on one Redis', () => {
  let redis: TestRedis;
  const queues: QueueBackend[] = [];
  const lines: string[] = [];
  let apps: TestApp[] = [];
  const LIMIT = 20;

  beforeAll(async () => {
    redis = await startRedis();
    for (let i = 0; i < 2; i++) queues.push(await openRedisQueues(redis.url, () => {}));
    const log = createLogger('info', { write: (line) => void lines.push(line) });
    apps = await Promise.all(queues.map((backend) => appWith(LIMIT, backend.redis, log)));
  });
  afterAll(async () => {
    redis?.thaw();
    await Promise.all(queues.map((backend) => backend.close().catch(() => {})));
    await redis?.stop();
  });

  /** Sends requests of one key to both replicas at once. */
  const ask = async (token: string, times: number): Promise<{ status: number; ms: number }[]> =>
    Promise.all(
      Array.from({ length: times }, async (_, i) => {
        const startedAt = performance.now();
        const { status } = (await apps[i % 2]?.request(`${base}/quarantines/${crypto.randomUUID()}`, { token })) ?? {};
        return { status: status ?? 0, ms: performance.now() - startedAt };
      }),
    );
  const key = () => apps[0]?.makeKey() as Promise<string>;
  const countedAlone = async () => (await readMetrics(stores)).value('ci_insights_rate_limit_counted_alone_total');
  const passed = (answers: { status: number }[]) => answers.filter(({ status }) => status === 404).length;

  /** Sends requests of a new key until both replicas count them together: on a busy machine, Redis may answer too late. */
  const askTogether = async (times: number) => {
    const { answers } = await until(
      async () => {
        const before = await countedAlone();
        lines.length = 0;
        const answers = await ask(await key(), times);
        return { answers, alone: (await countedAlone()) - before };
      },
      ({ alone }) => alone === 0,
      100,
    );
    return answers;
  };

  test('answer as many requests of a key together as the limit says', async () => {
    const answers = await askTogether(3 * LIMIT);
    expect(passed(answers)).toBe(LIMIT);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2 * LIMIT);
    expect(lines.filter((line) => line.includes('each replica counts alone'))).toEqual([]);
  });

  test.each([
    ['frozen', () => redis.freeze(), async () => redis.thaw()],
    ['down', () => redis.down(), () => redis.up()],
  ] as const)(
    'count alone while Redis is %s, without making anyone wait, and together again when it is back',
    async (_, takeAway, giveBack) => {
      const calm = Math.max(...(await askTogether(3 * LIMIT)).map(({ ms }) => ms));
      lines.length = 0;
      const before = await countedAlone();
      await takeAway();
      const token = await key();
      const answers = await ask(token, 3 * LIMIT);
      // Each of them allows as many.
      expect(passed(answers)).toBe(2 * LIMIT);
      for (const { ms } of answers) expect(ms).toBeLessThan(1_500 + 4 * calm);
      expect(await countedAlone()).toBe(before + 3 * LIMIT);
      // Each replica says it once.
      expect(lines.filter((line) => line.includes('each replica counts alone'))).toHaveLength(2);
      await ask(await key(), 10);
      expect(lines.filter((line) => line.includes('each replica counts alone'))).toHaveLength(2);

      await giveBack();
      await until(async () => {
        await ask(await key(), 2);
        return lines.filter((line) => line.includes('counts the requests of keys again')).length >= 2;
      });
      expect(passed(await askTogether(3 * LIMIT))).toBe(LIMIT);
    },
  );
});
