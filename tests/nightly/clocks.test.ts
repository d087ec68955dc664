/** One of two workers on a machine whose clock is set wrong, by an hour, a day and a year, in both directions. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/config.ts';
import { type Deps, openDeps } from '../../src/deps.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { startClickHouseServer } from '../support/clickhouse-http.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { makeJob } from '../support/jobs.ts';
import { until } from '../support/patience.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { isEvaluated } from '../support/stored-exactly.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const SHIFTS = [HOUR, -HOUR, DAY, -DAY, YEAR, -YEAR];
const SHIFTED_CLOCK = fileURLToPath(new URL('../support/shifted-clock.ts', import.meta.url));
const REPOSITORY = { host: 'github.com', owner: 'acme', name: 'clocks' };
const EXECUTIONS = 50;

let deps: Deps;
let right: ServiceProcess;
let wrong: ServiceProcess;
let shiftFile: string;
let close: () => Promise<void>;
const startedAt = Date.now();

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ci-insights-clocks-'));
  shiftFile = join(folder, 'shift');
  writeFileSync(shiftFile, '0');
  const [postgres, clickhouse] = await Promise.all([startEmbeddedPostgres(folder), startClickHouseServer()]);
  // The queue is in PostgreSQL, whose locks and delays are by the clocks of the workers.
  const environment = { DATABASE_URL: postgres.url, CLICKHOUSE_URL: clickhouse.url, DATA_DIR: folder };
  deps = await openDeps(readConfig(environment), { log: createLogger('error') });
  right = new ServiceProcess('worker', environment);
  wrong = new ServiceProcess(
    'worker',
    { ...environment, LOG_LEVEL: 'warn', CLOCK_SHIFT_FILE: shiftFile },
    { preload: SHIFTED_CLOCK },
  );
  close = async () => {
    await Promise.all([right.stop(), wrong.stop()]);
    await deps.close();
    await Promise.all([postgres.stop(), clickhouse.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
  await Promise.all([right.start(), wrong.start()]);
});
afterAll(() => close());

let uploads = 0;
const sent = { executions: 0, events: 0 };

/** Puts uploads and events into the queue; the first of them has executions of the oldest month that is kept. */
async function send(jobs: number): Promise<void> {
  for (let i = 0; i < jobs; i++, uploads++) {
    const now = Date.now();
    const at = uploads === 0 ? now - 85 * DAY : now;
    const executions = Array.from({ length: EXECUTIONS }, (_, n) => ({ name: `t${n}`, at }));
    const run = { run_id: `${uploads}`, commit: `c${uploads}` };
    await deps.producers.of(testRuns).add(makeJob({ repository: REPOSITORY, executions, run, receivedAt: now }));
    await deps.producers.of(prEvents).add(makeEventsJob(REPOSITORY, [labelled(`event ${uploads}`)]));
    sent.executions += EXECUTIONS;
    sent.events++;
  }
}

/** What the processes have written says why it does not come. */
async function untilTrue(holds: () => Promise<boolean> | boolean): Promise<void> {
  await until(holds).catch((cause: unknown) => {
    throw new Error(`${right.written} ${wrong.written}`, { cause });
  });
}

const stored = async (): Promise<{ executions: number; events: number }> => {
  const [row] = await deps.clickhouse.rows(
    'SELECT (SELECT count() FROM ci.executions) AS executions, (SELECT uniqExact(id) FROM ci.events) AS events',
  );
  const { executions, events } = row as Record<'executions' | 'events', number | string>;
  return { executions: Number(executions), events: Number(events) };
};

const isAllStored = async (): Promise<boolean> => {
  const now = await stored();
  return now.executions >= sent.executions && now.events >= sent.events;
};

/** Sets the wrong worker's clock, does something at once, and returns when the worker has noticed. */
async function shift(ms: number, meanwhile = async (): Promise<void> => {}): Promise<void> {
  wrong.written = '';
  writeFileSync(shiftFile, String(ms));
  await meanwhile();
  await untilTrue(() =>
    wrong.written.includes(ms === 0 ? 'agrees with that of PostgreSQL again' : 'differs from that of PostgreSQL'),
  );
}

/** Nothing lost, nothing twice, every time within the truth, every total in accordance. */
async function expectExact(): Promise<void> {
  await untilTrue(isAllStored);
  await untilTrue(() => isEvaluated(deps));
  expect(await stored()).toEqual(sent);
  const report = await verify(deps);
  expect(report.checks.filter((check) => check.count > 0)).toEqual([]);
  const [times] = await deps.clickhouse.rows(`
    SELECT toUnixTimestamp64Milli(min(received_at)) AS first, toUnixTimestamp64Milli(max(received_at)) AS last FROM ci.events`);
  const { first, last } = times as Record<'first' | 'last', number | string>;
  expect(Number(first)).toBeGreaterThanOrEqual(startedAt);
  expect(Number(last)).toBeLessThanOrEqual(Date.now() + 1_000);
  const { rows } = await deps.postgres.pool.query(
    'select sum(rejected)::int as rejected from ci_insights.upload_chunks',
  );
  expect(rows).toEqual([{ rejected: 0 }]);
}

test.each(SHIFTS)(
  'a clock that is set by %d ms while its worker runs loses nothing and doubles nothing',
  async (ms) => {
    await send(5);
    await shift(ms, () => send(10));
    await send(5);
    await expectExact();
    await send(5);
    await shift(0);
    await send(5);
    await expectExact();
  },
);

test.each([YEAR, -YEAR])(
  'a worker that starts with a clock wrong by %d ms drops no month and takes no job',
  async (ms) => {
    await wrong.stop();
    writeFileSync(shiftFile, String(ms));
    await wrong.start();
    expect(wrong.written).toContain('differs from that of PostgreSQL');
    await right.stop();
    await send(3);
    const before = await stored();
    await Bun.sleep(2_000);
    expect(await stored()).toEqual(before);
    await right.start();
    await expectExact();
    await shift(0);
  },
);

test('a worker that is killed with its clock a year ahead leaves no job behind', async () => {
  await shift(YEAR);
  await send(10);
  await wrong.kill();
  await send(5);
  await expectExact();
  writeFileSync(shiftFile, '0');
  await wrong.start();
});
