/** Workers that are killed behind a pooler, and a Redis that loses its master under load: every execution counts once. */
import { describe, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { type Deps, openDeps } from '../../src/deps.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { type TestRunsJob, testRuns } from '../../src/queue/test-runs.ts';
import { startClickHouseServer } from '../support/clickhouse-http.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { makeJob } from '../support/jobs.ts';
import { PATIENCE_MS, until } from '../support/patience.ts';
import { hasPooler, startPooler } from '../support/pooler.ts';
import { describeQueues } from '../support/queue-state.ts';
import { hasRedis } from '../support/redis.ts';
import { startSentinels } from '../support/redis-topologies.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { expectStoredExactly } from '../support/stored-exactly.ts';

const REPOSITORY = { host: 'github.com', owner: 'acme', name: 'failover' };
const EXECUTIONS = 40;
const KILLS = 5;

const jobOf = (run: number): TestRunsJob =>
  makeJob({
    repository: REPOSITORY,
    executions: Array.from({ length: EXECUTIONS }, (_, n) => ({ name: `t${n}` })),
    run: { run_id: `${run}`, commit: `c${run}` },
    receivedAt: Date.now(),
  });

/** Sends as a client does that tries again until it is answered. Returns the job. */
async function send(deps: Deps, run: number): Promise<TestRunsJob> {
  const job = jobOf(run);
  const attempt = async (): Promise<boolean> => {
    try {
      await deps.producers.of(testRuns).add(job);
      await deps.producers.of(prEvents).add(makeEventsJob(REPOSITORY, [labelled(`event ${run}`)]));
      return true;
    } catch {
      return false;
    }
  };
  await until(attempt, Boolean, 200);
  return job;
}

const expectExact = (deps: Deps, runs: number): Promise<void> =>
  expectStoredExactly(deps, { executions: runs * EXECUTIONS, events: runs }, PATIENCE_MS);

test.skipIf(!hasPooler)(
  'workers behind PgBouncer that are killed again and again lose nothing and double nothing',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ci-insights-pooled-'));
    const [postgres, clickhouse] = await Promise.all([startEmbeddedPostgres(folder), startClickHouseServer()]);
    const pooler = await startPooler(postgres.url);
    const environment = {
      DATABASE_URL: pooler.url,
      DATABASE_DIRECT_URL: postgres.url,
      CLICKHOUSE_URL: clickhouse.url,
      DATA_DIR: folder,
    };
    const deps = await openDeps(readConfig(environment), { log: createLogger('fatal') });
    const worker = new ServiceProcess('worker', environment);
    try {
      let runs = 0;
      await worker.start();
      for (let kill = 0; kill < KILLS; kill++) {
        for (let i = 0; i < 8; i++) await send(deps, runs++);
        await Bun.sleep(30 * kill);
        await worker.kill();
        await worker.start();
      }
      await expectExact(deps, runs);
    } finally {
      await worker.stop();
      await deps.close();
      await pooler.stop();
      await Promise.all([postgres.stop(), clickhouse.stop()]);
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

describe.skipIf(!hasRedis)('a Redis whose replica takes over', () => {
  test('under load loses nothing that is sent again, and doubles nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ci-insights-failover-'));
    const [postgres, clickhouse, redis] = await Promise.all([
      startEmbeddedPostgres(folder),
      startClickHouseServer(),
      startSentinels(),
    ]);
    const environment = {
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      CLICKHOUSE_URL: clickhouse.url,
      DATA_DIR: folder,
      LOG_LEVEL: 'info',
    };
    const deps = await openDeps(readConfig(environment), { log: createLogger('fatal') });
    const worker = new ServiceProcess('worker', environment);
    try {
      await worker.start();
      const sent: TestRunsJob[] = [];
      for (let run = 0; run < 60; run++) {
        if (run === 30) await redis.loseMaster();
        sent.push(await send(deps, run));
      }
      // Replication is asynchronous: what the lost master had acknowledged last may be gone, so all is sent again.
      for (const [run, job] of sent.entries()) {
        await deps.producers.of(testRuns).add(job);
        await deps.producers.of(prEvents).add(makeEventsJob(REPOSITORY, [labelled(`event ${run}`)]));
      }
      await expectExact(deps, sent.length);
    } catch (error) {
      console.error(worker.written.slice(-20_000));
      console.error(await describeQueues(redis.url, [prEvents.name, testRuns.name]));
      throw error;
    } finally {
      await worker.stop();
      await deps.close();
      await redis.stop();
      await Promise.all([postgres.stop(), clickhouse.stop()]);
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
