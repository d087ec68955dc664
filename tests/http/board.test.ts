/** The queues at `/admin/queues`, as browsers and scripts see them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createBoard } from '../../src/operate/board/board.ts';
import { type Monitoring, startMonitoring } from '../../src/operate/monitoring.ts';
import { openRedisQueues } from '../../src/queue/backend.ts';
import { compress } from '../../src/queue/encoding.ts';
import { jobKinds } from '../../src/queue/kinds.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { ORIGIN, openTestApp, type TestApp } from '../support/http.ts';
import { makeJob } from '../support/jobs.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const JOB = 'job-of-the-board';
let stores: TestStores;
let monitoring: Monitoring;
let app: TestApp;
let queue: ReturnType<TestStores['queues']['queue']>;

beforeAll(async () => {
  stores = await openTestStores();
  monitoring = startMonitoring(stores);
  app = await openTestApp({ features: monitoring.features });
  queue = stores.queues.queue(testRuns.name);
  const executions = Array.from({ length: 40 }, (_, i) => ({ name: `row ${i}` }));
  const job = makeJob({ repository: uniqueRepository(), executions, receivedAt: TEST_NOW });
  // Far in the future, so that no worker of another test takes it.
  await queue.add(testRuns.name, compress(job), { jobId: JOB, delay: 86_400_000 });
});
afterAll(async () => {
  await queue.remove(JOB);
  await queue.close();
  await monitoring.stop();
});

const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`any:${password}`).toString('base64')}` });
const bearer = () => ({ authorization: `Bearer ${app.adminToken}` });
/** A page for people, not part of the documented API. */
const open = async (path: string, headers: Record<string, string> = bearer(), method = 'GET'): Promise<Response> =>
  app.app.handle(new Request(`${ORIGIN}/admin/queues${path}`, { method, headers }));

describe('access', () => {
  test('without a key, with a wrong one or with a restricted one, a browser is asked for another', async () => {
    const ci = await app.makeKey({ scope: 'ci' });
    const owners = await app.makeKey({ scope: 'admin', owner: 'acme' });
    for (const headers of [
      {} as Record<string, string>,
      basic('nonsense'),
      basic(ci),
      basic(owners),
      { authorization: 'Basic !' },
    ])
      for (const path of ['', '/', '/api/queues', '/static/favicon.ico']) {
        const response = await open(path, headers);
        expect([path, response.status]).toEqual([path, 401]);
        expect(response.headers.get('www-authenticate')).toStartWith('Basic ');
      }
  });

  test('an admin key for every owner opens it, as a password or as a Bearer token', async () => {
    for (const headers of [basic(app.adminToken), bearer()]) {
      const response = await open('/api/queues', headers);
      expect(response.status).toBe(200);
      const { queues } = (await response.json()) as { queues: { name: string; readOnlyMode: boolean }[] };
      expect(queues.map(({ name }) => name).sort()).toEqual(jobKinds.map(({ name }) => name).sort());
      expect(queues.every(({ readOnlyMode }) => readOnlyMode)).toBe(true);
    }
  });
});

test('the page and everything it loads come from this server', async () => {
  const response = await open('/');
  expect(response.headers.get('content-type')).toStartWith('text/html');
  expect(response.headers.get('content-security-policy')).toContain("script-src 'self';");
  const page = await response.text();
  expect(page).not.toContain('<%');
  expect(page).toContain('<base href="/admin/queues/"');
  // It opens the page again without a key in the address, with which browsers would not let the page fetch anything.
  expect(page.indexOf('<script src="address.js">')).toBeLessThan(page.indexOf('<script defer'));
  const script = await open('/address.js');
  expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
  const loaded = [...page.matchAll(/(?:src|href)="(static\/[^"]+)"/g)].map((match) => match[1] ?? '');
  expect(loaded.length).toBeGreaterThan(3);
  expect([...page.matchAll(/(?:src|href)="https?:/g)]).toEqual([]);
  for (const path of loaded) expect([path, (await open(`/${path}`)).status]).toEqual([path, 200]);
});

test('a job is shown with its subject and the number of its rows, not with the rows', async () => {
  const response = await open(`/api/queues/${testRuns.name}/${JOB}`);
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text).toContain('40 values');
  expect(text).not.toContain('row 39');
});

test('nothing can be changed there: addresses that remove, retry or pause do not exist', async () => {
  const changes: [string, string][] = [
    ['PUT', `/api/queues/${testRuns.name}/${JOB}/clean`],
    ['PUT', `/api/queues/${testRuns.name}/${JOB}/promote`],
    ['PUT', `/api/queues/${testRuns.name}/obliterate`],
    ['PUT', '/api/queues/pause'],
    ['POST', `/api/queues/${testRuns.name}/add`],
  ];
  for (const [method, path] of changes) {
    const response = await open(path, bearer(), method);
    expect([path, response.status]).toEqual([path, 405]);
  }
  expect(await (await queue.getJob(JOB))?.getState()).toBe('delayed');
});

test('a path outside of the folder of the page finds no file', async () => {
  for (const path of ['/static/%2e%2e/index.ejs', '/static/..%2f..%2fpackage.json', '/static/', '/nowhere', '/api/%'])
    expect([path, (await open(path)).status]).toEqual([path, 404]);
});

test.skipIf(!hasRedis)('queues on Redis are shown like queues on PostgreSQL', async () => {
  const redis = await startRedis();
  const backend = await openRedisQueues(redis.url, () => {});
  const onRedis = backend.queue(testRuns.name);
  try {
    const job = makeJob({ repository: uniqueRepository(), executions: [{ name: 'a' }], receivedAt: TEST_NOW });
    await onRedis.add(testRuns.name, compress(job), { jobId: JOB });
    const board = createBoard([onRedis], '/admin/queues/');
    const answer = await board.answer('/api/queues', new URLSearchParams({ activeQueue: testRuns.name }));
    expect(await answer.json()).toMatchObject({
      queues: [{ name: testRuns.name, counts: { waiting: 1 }, jobs: [{ id: JOB }] }],
    });
  } finally {
    await onRedis.close();
    await backend.close();
    await redis.stop();
  }
});
