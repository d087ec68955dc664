/** How the service is doing, as operators read it. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { version } from '../../package.json' with { type: 'json' };
import type { ServiceReading } from '../../src/operate/gauges.ts';
import { type ServiceState, stateOf } from '../../src/operate/service-state.ts';
import { readStoredRate } from '../../src/postgres/stored-rate.ts';
import { setUpInsights } from '../support/insights.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';

const insights = setUpInsights(async (fixture) => {
  await fixture.ingest(fixture.run(Array.from({ length: 30 }, (_, i) => ({ name: `test ${i}` }))));
});

describe('the state of the service', () => {
  let service: ServiceApp;
  let state: ServiceState;
  beforeAll(async () => {
    service = await openServiceApp();
    state = await service.get<ServiceState>('/v1/service');
    await service.stop();
  });

  test('counts what was stored in the last minutes, the newest last', () => {
    const { executions_over_time: series, executions_per_second: rate, lag_seconds: lag } = state.ingest;
    expect(series).toHaveLength(30);
    const newest = series.at(-1);
    // A slow machine may have needed more than a minute since.
    const stored = series.slice(-3).reduce((sum, { executions }) => sum + executions, 0);
    expect(stored).toBeGreaterThanOrEqual(30);
    expect(rate).toBe((newest?.executions ?? 0) / 60);
    expect(Date.parse(newest?.end ?? '') - Date.parse(series[0]?.start ?? '')).toBe(30 * 60_000);
    expect(lag).toBeGreaterThanOrEqual(0);
  });

  test('names the version, every queue and every store', () => {
    expect(state.version).toBe(version);
    expect(state.stores).toEqual({ clickhouse: true, postgres: true, queue: true });
    expect(state.queues.map(({ name }) => name).toSorted()).toEqual([
      'imported-test-runs',
      'large-test-runs',
      'pr-events',
      'test-runs',
      'upload-bundles',
    ]);
    expect(state.backlog?.blocks_unstored).toBe(0);
  });
});

const QUIET = { jobs: { waiting: 0, active: 0, delayed: 0, failed: 0 }, lagSeconds: 0, drainSeconds: 0 };
const reading = (changes: Partial<ServiceReading>): ServiceReading => ({
  stores: {},
  queues: { 'test-runs': QUIET, 'pr-events': QUIET },
  backlog: {
    blocksUnstored: 0,
    unstoredSeconds: 0,
    refused: { count: 0, ids: [], seconds: 0, reason: null },
    blocksUnevaluated: 0,
    evaluationLagSeconds: 2,
    eventsWaiting: {},
    relayLagSeconds: 0,
    deadLettersWaiting: 0,
    pullsFailing: { count: 0, reason: null },
    renamesFailed: { count: 0, reason: null },
    groupsMoving: 0,
    lockWaits: 0,
  },
  ...changes,
});
const lagOf = (changes: Partial<ServiceReading>) => stateOf(reading(changes), undefined).ingest.lag_seconds;

test('the lag is that of the oldest result, whether it waits in a queue or to be evaluated; events are none', () => {
  expect(lagOf({})).toBe(2);
  expect(lagOf({ queues: { 'test-runs': { ...QUIET, lagSeconds: 7 }, 'pr-events': QUIET } })).toBe(7);
  expect(lagOf({ queues: { 'test-runs': QUIET, 'pr-events': { ...QUIET, lagSeconds: 7 } } })).toBe(2);
});

test('what a store does not say is null, and never 0', () => {
  expect(lagOf({ queues: { 'test-runs': undefined, 'pr-events': QUIET } })).toBeNull();
  expect(lagOf({ backlog: undefined })).toBeNull();
  expect(stateOf(reading({ queues: { 'test-runs': undefined } }), undefined)).toMatchObject({
    ingest: { executions_per_second: null, executions_over_time: [], stored_after_seconds: null },
    queues: [],
  });
});

test.each([
  [undefined, null, false],
  [Number.POSITIVE_INFINITY, null, true],
  [12.5, 12.5, false],
])('a queue that is empty in %p seconds says so', (drainSeconds, shown, isStalled) => {
  const [queue] = stateOf(reading({ queues: { 'test-runs': { ...QUIET, drainSeconds } } }), undefined).queues;
  expect([queue?.drain_seconds, queue?.is_stalled]).toEqual([shown, isStalled]);
});

test('minutes without a block are 0, and uploads are timed from their arrival', async () => {
  const { postgres } = insights.fixture.stores;
  const { minutes } = await readStoredRate(postgres.db);
  expect(minutes).toHaveLength(30);
  expect(minutes.every((executions) => Number.isInteger(executions))).toBe(true);
});
