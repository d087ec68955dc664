/** Metrics for Prometheus: they count what happened, and reveal nothing they should not. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { StoreUnavailable } from '../../src/errors.ts';
import type { IngestDeps } from '../../src/ingest/gateway.ts';
import { mountIngest } from '../../src/ingest/routes.ts';
import { createLogger } from '../../src/observability/log.ts';
import { renderMetrics } from '../../src/observability/registry.ts';
import { Sampler } from '../../src/operate/gauges.ts';
import { readStoreSizes } from '../../src/operate/store-sizes.ts';
import { readBacklog } from '../../src/postgres/backlog.ts';
import type { QueueBacklog } from '../../src/queue/backlog.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { readMetrics, Samples } from '../support/metrics.ts';
import { until } from '../support/patience.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

let stores: TestStores;
let app: TestApp;
beforeAll(async () => {
  stores = await openTestStores();
  app = await openTestApp();
});

describe('metrics', () => {
  let driver: IngestDriver;
  beforeAll(() => {
    driver = new IngestDriver(stores);
  });
  afterAll(() => driver.stop());

  test('a job counts once as done, its executions once as stored; resent, they count as duplicates', async () => {
    const repository = uniqueRepository();
    const executions = Array.from({ length: 37 }, (_, i) => ({ name: `test ${i}` }));
    const before = await readMetrics(stores);
    await driver.ingest(makeJob({ repository, executions, source: 'report', receivedAt: TEST_NOW }));
    const once = await readMetrics(stores);
    await driver.ingest(makeJob({ repository, executions, source: 'report', receivedAt: TEST_NOW }));
    const twice = await readMetrics(stores);

    const grown = (from: Samples, to: Samples, name: string, labels = {}): number =>
      to.value(name, labels) - from.value(name, labels);
    expect(grown(before, once, 'ci_insights_executions_stored_total')).toBe(37);
    expect(grown(before, once, 'ci_insights_executions_duplicate_total')).toBe(0);
    expect(grown(before, once, 'ci_insights_jobs_total', { queue: 'test-runs', outcome: 'done' })).toBe(1);
    expect(grown(before, once, 'ci_insights_block_executions_count')).toBe(1);
    expect(grown(before, once, 'ci_insights_block_executions_sum')).toBe(37);
    expect(grown(before, once, 'ci_insights_block_bytes_sum')).toBeGreaterThan(37 * 10);
    expect(grown(before, once, 'ci_insights_evaluation_duration_seconds_count')).toBeGreaterThanOrEqual(1);
    expect(grown(once, twice, 'ci_insights_executions_stored_total')).toBe(0);
    expect(grown(once, twice, 'ci_insights_executions_duplicate_total')).toBe(37);
  });

  test('a relayed event is counted, and the outbox is empty afterwards', async () => {
    const before = await readMetrics(stores);
    const { owner, name } = uniqueRepository();
    const response = await app.request(`/v1/ci/${owner}/repositories/${name}/quarantines`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ test_name: 'a test', reason: 'it is flaky' }),
    });
    expect(response.status).toBeLessThan(300);
    await driver.settle();
    const after = await readMetrics(stores);
    expect(after.value('ci_insights_events_relayed_total') - before.value('ci_insights_events_relayed_total')).toBe(1);
    expect(after.find('ci_insights_events_waiting', { consumer: 'relay' })).toBe(0);
    expect(after.find('ci_insights_relay_lag_seconds')).toBe(0);
  });

  test('a malformed payload counts as a dead letter, and among the waiting ones', async () => {
    const before = await readMetrics(stores);
    const queue = stores.queues.queue(testRuns.name);
    await queue.add(testRuns.name, { v: 1, nonsense: true }, { jobId: 'no-job-of-metrics' });
    await queue.close();
    await driver.settle();
    const after = await readMetrics(stores);
    for (const [name, labels] of [
      ['ci_insights_dead_letters_total', { queue: 'test-runs' }],
      ['ci_insights_dead_letters_waiting', {}],
    ] as const)
      expect([name, after.value(name, labels) - before.value(name, labels)]).toEqual([name, 1]);
  });
});

test('the queue has its jobs by state, and the age of the job at its head', async () => {
  const queue = stores.queues.queue(prEvents.name);
  try {
    await queue.add(prEvents.name, {}, { jobId: 'waiting-of-metrics', timestamp: stores.clock.now() - 90_000 });
    const samples = await readMetrics(stores);
    expect(samples.value('ci_insights_queue_jobs', { queue: 'pr-events', state: 'waiting' })).toBe(1);
    expect(samples.value('ci_insights_queue_lag_seconds', { queue: 'pr-events' })).toBe(90);
  } finally {
    await queue.remove('waiting-of-metrics');
    await queue.close();
  }
  const emptied = await readMetrics(stores);
  expect(emptied.find('ci_insights_queue_jobs', { queue: 'pr-events', state: 'waiting' })).toBe(0);
  expect(emptied.find('ci_insights_queue_lag_seconds', { queue: 'pr-events' })).toBe(0);
  expect(emptied.find('ci_insights_queue_drain_seconds', { queue: 'pr-events' })).toBe(0);
});

test('every request counts by route, method and status class, whatever its path holds', async () => {
  const before = await readMetrics(stores);
  const { owner, name } = uniqueRepository();
  await app.request(`/v1/ci/${owner}/repositories/${name}/search/tests?test_name=a-secret-name`);
  await app.request(`/v1/ci/${owner}/repositories/${name}/search/tests`, { token: null });
  await app.request(`/nothing/${owner}`);
  const after = await readMetrics(stores);
  const route = '/v1/ci/:owner/repositories/:repository_name/search/tests';
  for (const status of ['2xx', '4xx']) {
    const labels = { route, method: 'GET', status };
    const count = (samples: Samples) => samples.value('ci_insights_http_request_duration_seconds_count', labels);
    expect([status, count(after) - count(before)]).toEqual([status, 1]);
  }
  const unmatched = 'ci_insights_http_requests_unmatched_total';
  expect(after.value(unmatched) - before.value(unmatched)).toBe(1);
  // Reading the metrics is a request too.
  expect(after.value('ci_insights_http_requests_in_flight')).toBe(1);
  expect(after.text).not.toContain(owner);
  expect(after.text).not.toContain(name);
  expect(after.text).not.toContain('a-secret-name');
});

test('an upload that the queue does not accept counts as possibly lost, and the store as unavailable', async () => {
  const log = createLogger('fatal');
  const refusing: IngestDeps = {
    clock: stores.clock,
    log,
    enqueue: () => Promise.reject(new StoreUnavailable('queue')),
    receipt: async () => null,
  };
  const down = await openTestApp({ log, features: [(elysia, http) => mountIngest(elysia, http, refusing)] });
  const before = new Samples(await renderMetrics());
  const response = await down.request('/v1/ci/acme/repositories/shop/junit?pipeline_name=CI&job_name=unit&run_id=1', {
    method: 'POST',
    body: '<testsuite><testcase name="a"/></testsuite>',
  });
  expect(response.status).toBe(503);
  const after = new Samples(await renderMetrics());
  for (const [name, labels] of [
    ['ci_insights_uploads_possibly_lost_total', { kind: 'upload' }],
    ['ci_insights_store_unavailable_total', { store: 'queue', needed_by: 'request' }],
  ] as const)
    expect([name, after.value(name, labels) - before.value(name, labels)]).toEqual([name, 1]);
});

test('a store that is down loses its gauges and is reported down; one that hangs delays nothing', async () => {
  const waiting: QueueBacklog = { jobs: { waiting: 3, active: 0, delayed: 0, failed: 0 }, lagSeconds: 7 };
  const backlog = {
    blocksUnstored: 0,
    unstoredSeconds: 0,
    refused: { count: 0, ids: [], seconds: 0, reason: null },
    blocksUnevaluated: 0,
    evaluationLagSeconds: 0,
    eventsWaiting: { relay: 4 },
    relayLagSeconds: 5,
    deadLettersWaiting: 6,
    pullsFailing: { count: 8, reason: 'GitHub cannot be reached' },
    renamesFailed: { count: 0, reason: null },
    groupsMoving: 7,
    lockWaits: 9,
  };
  const up = new Sampler({
    probes: { tried: async () => true },
    queues: { tried: async () => waiting },
    backlog: async () => backlog,
    sizes: async () => ({
      bytes: { tried: 10 },
      disks: [{ store: 'tried', disk: 'one', freeBytes: 11, totalBytes: 12 }],
    }),
  });
  await up.refresh();
  const shown = new Samples(await renderMetrics());
  expect(shown.find('ci_insights_store_up', { store: 'tried' })).toBe(1);
  expect(shown.find('ci_insights_queue_jobs', { queue: 'tried', state: 'waiting' })).toBe(3);
  expect(shown.find('ci_insights_events_waiting', { consumer: 'relay' })).toBe(4);
  expect(shown.find('ci_insights_dead_letters_waiting')).toBe(6);
  expect(shown.find('ci_insights_failure_groups_moving')).toBe(7);
  expect(shown.find('ci_insights_pull_comments_failing')).toBe(8);
  expect(shown.find('ci_insights_postgres_lock_waits')).toBe(9);
  expect(shown.find('ci_insights_store_bytes', { store: 'tried' })).toBe(10);
  expect(shown.find('ci_insights_disk_free_bytes', { store: 'tried', disk: 'one' })).toBe(11);
  expect(shown.find('ci_insights_disk_total_bytes', { disk: 'one' })).toBe(12);
  // One reading says nothing about how long the backlog will take.
  expect(shown.find('ci_insights_queue_drain_seconds', { queue: 'tried' })).toBeUndefined();

  const down = new Sampler({
    probes: { tried: () => new Promise(() => {}) },
    queues: { tried: () => Promise.reject(new StoreUnavailable('queue')) },
    backlog: () => Promise.reject(new StoreUnavailable('postgres')),
  });
  await down.refresh();
  const gone = new Samples(await renderMetrics());
  expect(gone.find('ci_insights_store_up', { store: 'tried' })).toBe(0);
  expect(gone.find('ci_insights_queue_jobs', { queue: 'tried' })).toBeUndefined();
  expect(gone.find('ci_insights_events_waiting', { consumer: 'relay' })).toBeUndefined();
  expect(gone.find('ci_insights_dead_letters_waiting')).toBeUndefined();
});

test('many scrapers, at once or one after another, read the stores once', async () => {
  let readings = 0;
  const sampler = new Sampler({
    probes: {},
    queues: {
      counted: async () => {
        readings++;
        await Bun.sleep(20);
        return { jobs: {}, lagSeconds: 0 };
      },
    },
    backlog: () => Promise.reject(new Error('not asked for')),
  });
  await Promise.all(Array.from({ length: 20 }, () => sampler.refresh()));
  await sampler.refresh();
  expect(readings).toBe(1);
});

test('the stores say how much they hold, how much room is left, and who waits for a lock', async () => {
  const { postgres, clickhouse, config } = stores;
  const sizes = await readStoreSizes(clickhouse, postgres.db, config.dataDir);
  expect(sizes.bytes.postgres).toBeGreaterThan(1_000_000);
  expect(sizes.bytes.clickhouse).toBeGreaterThan(0);
  expect(sizes.disks.map(({ store }) => store)).toEqual(expect.arrayContaining(['clickhouse', 'data']));
  for (const { freeBytes, totalBytes } of sizes.disks) expect(totalBytes).toBeGreaterThanOrEqual(freeBytes);

  const LOCK = 0x74657374;
  const holder = await postgres.pool.connect();
  await holder.query('begin');
  await holder.query('select pg_advisory_xact_lock($1)', [LOCK]);
  const waiting = postgres.pool.query('select pg_advisory_xact_lock($1)', [LOCK]);
  await until(async () => (await readBacklog(postgres.db, Date.now())).lockWaits > 0);
  await holder.query('commit');
  holder.release();
  await waiting;
});
