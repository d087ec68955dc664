/** A ClickHouse that is slow, refuses one statement in five, and breaks off between an insert and its answer. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { type Deps, openDeps } from '../../src/deps.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { type RunningWorkers, startWorkers } from '../../workers/main.ts';
import { startClickHouseServer, type TestClickHouse } from '../support/clickhouse-http.ts';
import type { FaultInput } from '../support/clickhouse-server/faults.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { makeJob } from '../support/jobs.ts';
import { until } from '../support/patience.ts';
import { isEvaluated } from '../support/stored-exactly.ts';

const REPOSITORY = { host: 'github.com', owner: 'acme', name: 'trouble' };
const JOBS = 30;
const EXECUTIONS = 40;
const MEMORY_LIMIT = { code: 241, message: 'Memory limit (total) exceeded' };

let server: TestClickHouse;
let deps: Deps;
let workers: RunningWorkers;
let close: () => Promise<void>;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ci-insights-trouble-'));
  const [postgres, clickhouse] = await Promise.all([startEmbeddedPostgres(folder), startClickHouseServer()]);
  server = clickhouse;
  const environment = { DATABASE_URL: postgres.url, CLICKHOUSE_URL: clickhouse.url, DATA_DIR: folder };
  deps = await openDeps(readConfig(environment), { log: createLogger('fatal') });
  workers = startWorkers(deps);
  close = async () => {
    await server.seen();
    await workers.stop();
    await deps.close();
    await Promise.all([postgres.stop(), clickhouse.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
});
afterAll(() => close());

let uploads = 0;

const TROUBLES: [string, FaultInput[]][] = [
  ['answers one statement in two late', [{ kind: 'stall', ms: 400, every: 2, times: 1_000 }]],
  ['refuses one statement in five', [{ kind: 'error', ...MEMORY_LIMIT, every: 5, times: 1_000 }]],
  [
    'breaks off between one insert in two and its answer',
    [{ kind: 'drop-after', matching: 'INSERT', every: 2, times: 1_000 }],
  ],
  [
    'does all of it at once',
    [
      { kind: 'drop-after', matching: 'INSERT', every: 3, times: 1_000 },
      { kind: 'drop', every: 7, times: 1_000 },
      { kind: 'error', ...MEMORY_LIMIT, every: 5, times: 1_000 },
      { kind: 'stall', ms: 200, every: 4, times: 1_000 },
    ],
  ],
];

test.each(TROUBLES)('a ClickHouse that %s loses nothing and doubles nothing', async (_, faults) => {
  for (const fault of faults) await server.fault(fault);
  const first = uploads;
  const jobs = Array.from({ length: JOBS }, () => {
    const executions = Array.from({ length: EXECUTIONS }, (_, n) => ({
      name: `t${n}`,
      status: n % 9 === 0 ? ('failed' as const) : ('passed' as const),
    }));
    const run = { run_id: `${uploads}`, commit: `c${uploads++ % 7}` };
    return makeJob({ repository: REPOSITORY, executions, run, receivedAt: Date.now() });
  });
  for (const [i, job] of jobs.entries()) {
    await deps.producers.of(testRuns).add(job);
    await deps.producers.of(prEvents).add(makeEventsJob(REPOSITORY, [labelled(`event ${first + i}`)]));
    // So that there are many blocks.
    await Bun.sleep(20);
  }
  // Sent again while it is in trouble, split differently.
  await deps.producers.of(testRuns).addMany(jobs.slice(0, JOBS / 2));
  const depth = async () => (await deps.producers.of(testRuns).depth()) + (await deps.producers.of(prEvents).depth());
  const troubleEnds = performance.now() + 25_000;
  // Then it recovers, as no job may need that for longer than its retries.
  while (performance.now() < troubleEnds && (await depth()) > 0) await Bun.sleep(50);
  const { requests } = await server.seen();
  expect(requests).toBeGreaterThan(10);
  await until(depth, (jobs) => jobs === 0, 50);
  for (const { loop } of workers.evaluators) await loop.idle();
  await until(() => isEvaluated(deps));
  const report = await verify(deps);
  expect(report.checks.filter((check) => check.count > 0)).toEqual([]);
  expect(report.executions).toBe(uploads * EXECUTIONS);
  const countOfEvents = async () =>
    (
      await deps.clickhouse.rows('SELECT toUInt32(count()) AS rows, toUInt32(uniqExact(id)) AS ids FROM ci.events')
    )[0] as { rows: number; ids: number };
  const events = await until(countOfEvents, ({ ids }) => ids >= uploads);
  expect(events).toEqual({ rows: uploads, ids: uploads });
  expect(await deps.deadLetters.list()).toEqual([]);
});
