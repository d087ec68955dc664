/** A start that migrates for long, or waits for another that does, is alive and not ready, and ends as soon as they are done. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { z } from 'zod';
import { openPostgres, type Postgres } from '../../src/postgres/client.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { MIGRATION_LOCK } from '../../src/postgres/locks.ts';
import { startClickHouseServer, type TestClickHouse } from '../support/clickhouse-http.ts';
import { makeFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/patience.ts';
import { ServiceProcess } from '../support/service-process.ts';

const folder = makeFolder('long-migration');
let server: EmbeddedPostgres;
let postgres: Postgres;
let clickhouse: TestClickHouse;
beforeAll(async () => {
  [server, clickhouse] = await Promise.all([startEmbeddedPostgres(folder), startClickHouseServer()]);
  postgres = openPostgres(server.url, () => {});
});
afterAll(async () => {
  await postgres.close();
  await Promise.all([server.stop(), clickhouse.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const readiness = z.object({ reason: z.string().nullable() });

/** A process, and what its probes get. */
async function begin(command: 'serve' | 'worker') {
  const metricsPort = await freePort();
  const service = new ServiceProcess(command, {
    ...{ DATABASE_URL: server.url, CLICKHOUSE_URL: clickhouse.url, ROLE: command === 'serve' ? 'api' : 'worker' },
    ...{ METRICS_PORT: String(metricsPort), PORT: String(await freePort()), DATA_DIR: folder },
  });
  const started = service.start();
  // It is awaited only later.
  started.catch(() => {});
  const ask = (path: string) =>
    fetch(`http://127.0.0.1:${metricsPort}/healthz/${path}`, { keepalive: false }).catch(() => undefined);
  /** The status of readiness with its reason, once that is as expected. */
  const untilReady = (isAsExpected: (status: number, reason: string | null) => boolean) =>
    until(
      async () => {
        const answer = await ask('ready');
        return { status: answer?.status, reason: answer && readiness.parse(await answer.json()).reason };
      },
      ({ status, reason }) => status !== undefined && isAsExpected(status, reason ?? null),
    );
  return { service, started, live: async () => (await ask('live'))?.status, untilReady };
}

test('while another process migrates, an API and a worker are alive and say what they wait for; then they start', async () => {
  const migrating = await postgres.pool.connect();
  await migrating.query('begin');
  await migrating.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  const processes = await Promise.all([begin('serve'), begin('worker')]);
  // Both wait for the lock.
  const waiting = `select count(*)::int4 as n from pg_locks where not granted and locktype = 'advisory'`;
  const count = z.object({ n: z.number() });
  await until(
    async () => count.parse((await postgres.pool.query(waiting)).rows[0]).n,
    (locked) => locked >= processes.length,
  );
  for (const { live, untilReady } of processes) {
    expect(await live()).toBe(200);
    expect(await untilReady((status) => status === 503)).toMatchObject({
      reason: 'The process starts: it migrates PostgreSQL, or waits for another one that does.',
    });
  }
  await migrating.query('commit');
  migrating.release();
  for (const { started, untilReady } of processes) {
    await started;
    expect(await untilReady((status) => status === 200)).toMatchObject({ reason: null });
  }
  for (const { service } of processes) expect(await service.stop()).toBe(0);
});

test('while ClickHouse takes its time over a statement, the process is alive and says that it migrates there', async () => {
  await clickhouse.fault({ kind: 'stall', matching: 'ci.migrations', ms: 5_000 });
  const { service, started, live, untilReady } = await begin('worker');
  await untilReady((status, reason) => status === 503 && reason === 'The process starts: it migrates ClickHouse.');
  expect(await live()).toBe(200);
  await started;
  expect(await untilReady((status) => status === 200)).toMatchObject({ reason: null });
  expect(await service.stop()).toBe(0);
});
