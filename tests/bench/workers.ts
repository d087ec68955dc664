/**
 * The gain of more workers: executions evaluated a second, and processor seconds per million, of 1, 2 and 4 worker processes on
 * one PostgreSQL, one ClickHouse and one Redis, whose queue is full before they start.
 *
 * `bun tests/bench/workers.ts [--workers 1,2,4] [--executions N] [--repositories N] [--tests N] [--chunk N] [--skew N]
 * [--unreliable N] [--pause N]`. It imports little, so a copy of this file measures another checkout as well.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { closeAll } from '../support/at-end.ts';
import { startClickHouseServer } from '../support/clickhouse-http.ts';
import { makeFolder } from '../support/folder.ts';
import { processTree } from '../support/process-tree.ts';
import { startRedis } from '../support/redis.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { startFeed } from './feed.ts';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2,4' },
    executions: { type: 'string', default: '600000' },
    repositories: { type: 'string', default: '20' },
    tests: { type: 'string', default: '20000' },
    /** Executions of a job. */
    chunk: { type: 'string', default: '1000' },
    /** How often a test is drawn: 0 for all alike. */
    skew: { type: 'string', default: '1' },
    /** Seconds for which the evaluation is held up, while all is stored. */
    pause: { type: 'string', default: '0' },
    /** The share of tests that fail now and then. */
    unreliable: { type: 'string', default: '0.02' },
  },
});
const executions = Number(values.executions);
const chunk = Number(values.chunk);
const POLL_MS = 50;
const WAIT_MS_MAX = 900_000;

/** Processor seconds until now, by what they were spent on. */
function spent(): Record<'workers' | 'postgres' | 'clickhouse', number> {
  const seconds = { workers: 0, postgres: 0, clickhouse: 0 };
  for (const { command, cpuSeconds } of processTree(process.pid))
    if (command.includes('postgres')) seconds.postgres += cpuSeconds;
    else if (command.includes('clickhouse-server')) seconds.clickhouse += cpuSeconds;
    else if (command.includes('cli.ts') || command.includes('worker')) seconds.workers += cpuSeconds;
  return seconds;
}

/** The moments at which all were stored and all were evaluated, by `performance.now()`. */
async function untilEvaluated(pool: pg.Pool): Promise<{ stored: number; evaluated: number }> {
  const { rows: columns } = await pool.query(
    `select from information_schema.columns where table_schema = 'ci_insights' and table_name = 'block_parts'`,
  );
  const isWaiting =
    columns.length > 0
      ? 'exists (select from ci_insights.block_parts)'
      : 'exists (select from ci_insights.ingest_blocks where evaluated_at is null)';
  const until = performance.now() + WAIT_MS_MAX;
  let stored: number | undefined;
  while (performance.now() < until) {
    const { rows } = await pool.query<{ stored: number; is_waiting: boolean }>(
      `select coalesce(sum(executions) filter (where stored_at is not null), 0)::float8 as stored, ${isWaiting} as is_waiting
      from ci_insights.ingest_blocks`,
    );
    const now = performance.now();
    const [found] = rows;
    if (found && found.stored >= executions) stored ??= now;
    if (stored !== undefined && found && !found.is_waiting) return { stored, evaluated: now };
    await Bun.sleep(POLL_MS);
  }
  throw new Error('not evaluated in fifteen minutes');
}

/** Locks all partitions, as a pass does, until the pause is over. */
async function holdEvaluation(pool: pg.Pool): Promise<() => Promise<void>> {
  if (values.pause === '0') return async () => {};
  const holder = await pool.connect();
  await holder.query('begin');
  await holder.query('select from ci_insights.partitions for update');
  return async () => {
    await Bun.sleep(Number(values.pause) * 1_000);
    await holder.query('rollback');
    holder.release();
  };
}

async function measure(workers: number): Promise<object> {
  const postgres = await startEmbeddedPostgres(makeFolder('workers'));
  const clickhouse = await startClickHouseServer();
  const redis = await startRedis();
  const environment = { DATABASE_URL: postgres.url, CLICKHOUSE_URL: clickhouse.url, REDIS_URL: redis.url };
  const pool = new pg.Pool({ connectionString: postgres.url });
  const running = Array.from(
    { length: workers },
    () => new ServiceProcess('worker', { ...environment, DATA_DIR: makeFolder('worker') }),
  );
  try {
    // The first start makes the tables.
    const first = new ServiceProcess('worker', { ...environment, DATA_DIR: makeFolder('worker') });
    await first.start();
    await first.stop();
    const source = {
      ...{ seed: 1, executions, tests: Number(values.tests), repositories: Number(values.repositories), chunk },
      ...{ now: Date.now(), days: 89, isEachTest: false, skew: Number(values.skew) },
      ...{ unreliable: Number(values.unreliable) },
    };
    const jobs = Math.ceil(executions / chunk);
    const feed = startFeed({
      ...{ databaseUrl: postgres.url, redisUrl: redis.url, source },
      ...{ from: 0, to: jobs, isPackedFirst: true },
    });
    while ((await feed.next()) !== undefined);
    await feed.ended;
    const before = spent();
    const startedAt = performance.now();
    const held = await holdEvaluation(pool);
    await Promise.all(running.map((one) => one.start()));
    await held();
    const { stored, evaluated } = await untilEvaluated(pool);
    const after = spent();
    const cpu = {
      workers: after.workers - before.workers,
      postgres: after.postgres - before.postgres,
      clickhouse: after.clickhouse - before.clickhouse,
    };
    const rateUntil = (at: number): number => Math.round((executions * 1_000) / (at - startedAt));
    return {
      workers,
      evaluated_per_second: rateUntil(evaluated),
      stored_per_second: rateUntil(stored),
      processor_seconds_per_million: Object.fromEntries(
        Object.entries({ ...cpu, all: cpu.workers + cpu.postgres + cpu.clickhouse }).map(([part, seconds]) => [
          part,
          Math.round((seconds * 10_000_000) / executions) / 10,
        ]),
      ),
    };
  } finally {
    await Promise.all(running.map((one) => one.stop()));
    await pool.end();
    await redis.stop();
    await clickhouse.stop();
    await postgres.stop();
  }
}

for (const workers of values.workers.split(',').map(Number))
  process.stdout.write(`${JSON.stringify(await measure(workers))}\n`);
await closeAll();
process.exit(0);
