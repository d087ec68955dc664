/**
 * Ingestion on a real ClickHouse server, whose user has exactly the rights that the documents name and a profile that turns
 * deduplication off.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { type ClickHouse, openClickHouse } from '../../src/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/clickhouse/migrate.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { createLogger } from '../../src/observability/log.ts';
import { examine } from '../../src/operate/doctor/examine.ts';
import { mountHealth, readinessOf } from '../../src/operate/health.ts';
import { readBacklog } from '../../src/postgres/backlog.ts';
import { ingestBlocks } from '../../src/postgres/schema.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import {
  grantedUser,
  hasRealClickHouse,
  type RealClickHouse,
  startRealClickHouse,
} from '../support/clickhouse-real/server.ts';
import { TEST_NOW } from '../support/clock.ts';
import { openTestApp } from '../support/http.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob, type TestExecution } from '../support/jobs.ts';
import { until } from '../support/patience.ts';
import { prepareChunk } from '../support/prepare.ts';
import { emptyStores, openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const service = grantedUser({ deduplicate_insert: 'disable' });
const DAY_MS = 86_400_000;

describe.skipIf(!hasRealClickHouse)('on a real server', () => {
  let server: RealClickHouse;
  let clickhouse: ClickHouse;
  let shared: TestStores;
  let stores: TestStores;
  let driver: IngestDriver;
  const lines: string[] = [];

  beforeAll(async () => {
    shared = await openTestStores();
    await emptyStores(shared);
    shared.clock.set(TEST_NOW);
    server = await startRealClickHouse([service]);
    clickhouse = await openClickHouse({ url: server.url(service), path: '' });
    await migrateClickHouse(clickhouse);
    const log = createLogger('info', { write: (line: string) => lines.push(line) });
    stores = { ...shared, clickhouse, background: clickhouse, log };
    driver = new IngestDriver(stores);
  });
  afterAll(async () => {
    await driver.stop();
    await clickhouse.close();
    await server.stop();
    // Claims of this test are for the other ClickHouse: the shared ledger would miss its executions.
    await emptyStores(shared);
  });

  const executions = (count: number, at = TEST_NOW): TestExecution[] =>
    Array.from({ length: count }, (_, nth) => ({
      name: `t${nth}`,
      key: `k${nth}`,
      at,
      status: nth % 4 ? 'passed' : 'failed',
    }));
  const stored = async (repositoryId: string): Promise<unknown> => {
    const [row] = await clickhouse.rows(
      'SELECT count() AS rows, uniqExact(execution_id) AS executions FROM ci.executions WHERE repository_id = {id: UUID}',
      { id: repositoryId },
    );
    return row;
  };
  const idOf = async ({ owner, name }: { owner: string; name: string }): Promise<string> =>
    (await stores.repositories.find(owner, name))?.id ?? '';

  test('a block whose acknowledgement was lost is stored once when it is sent again', async () => {
    const repository = uniqueRepository();
    const { id } = await stores.repositories.record(repository);
    const job = makeJob({ repository, receivedAt: TEST_NOW, executions: executions(40) });
    const chunk = prepareChunk(job, { repositoryId: id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 });
    let lost = 2;
    const losing: ClickHouse = {
      ...clickhouse,
      isSharded: false,
      insert: async (table, text, token) => {
        await clickhouse.insert(table, text, token);
        if (lost-- > 0) throw new Error('the acknowledgement is lost');
      },
    };
    const ledger = new Ledger({ db: stores.postgres.db, clickhouse: losing, clock: stores.clock });
    for (let times = 0; times < 2; times++) await expect(ledger.write([chunk])).rejects.toThrow('is lost');
    await ledger.write([chunk]);
    expect(await stored(id)).toEqual({ rows: 40, executions: 40 });
    driver.watch(repository);
    await driver.verify();
  });

  test('rebuild, verify and retention work with the rights that the documents name', async () => {
    const repository = uniqueRepository();
    const old = TEST_NOW - 60 * DAY_MS;
    await driver.ingest(
      makeJob({ repository, receivedAt: old, source: 'old', executions: executions(10, old) }),
      makeJob({ repository, receivedAt: TEST_NOW, source: 'new', executions: executions(20) }),
    );
    await driver.verify();
    await rebuild(stores);
    await driver.verify();
    stores.clock.at = TEST_NOW + 60 * DAY_MS;
    try {
      expect(await driver.retention.run()).not.toEqual([]);
    } finally {
      stores.clock.set(TEST_NOW);
    }
    expect(await stored(await idOf(repository))).toEqual({ rows: 20, executions: 20 });
  });

  test('while it refuses every insert, doctor, readiness and the metrics say so, and the log in one line', async () => {
    const repository = uniqueRepository();
    await server.ask('ALTER TABLE ci.executions ADD CONSTRAINT closed CHECK 0');
    lines.length = 0;
    const { db } = stores.postgres;
    const refused = async () => (await readBacklog(db, stores.clock.now())).refused;
    try {
      const jobs = ['a', 'b', 'c', 'd', 'e', 'f'].map((source) =>
        makeJob({ repository, receivedAt: TEST_NOW, source, executions: executions(5) }),
      );
      driver.watch(repository);
      for (const job of jobs) await stores.producers.of(testRuns).addMany([job]);
      await until(refused, ({ count }) => count > 0);
      // Like a minute later.
      await db
        .update(ingestBlocks)
        .set({ createdAt: sql`created_at - interval '2 minutes'` })
        .where(sql`stored_at is null`);
      const { seconds, reason, ids } = await refused();
      expect([seconds > 60, reason?.includes('closed'), ids.length > 0]).toEqual([true, true, true]);

      const api = await openTestApp({ clickhouse });
      const ready = await api.request('/healthz/ready', { token: null });
      expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'ready', is_storing: false }]);
      const worker = await openTestApp({
        all: [(app, http) => mountHealth(app, http, readinessOf(db, { clickhouse: () => clickhouse.ping() }, true))],
      });
      const working = await worker.requestUnchecked('/healthz/ready', { token: null });
      expect([working.status, await working.json()]).toMatchObject([503, { status: 'unavailable', is_storing: false }]);

      const findings = await examine({
        ...stores.config,
        databaseUrl: stores.databaseUrl,
        clickhouseUrl: server.url(service),
      });
      const found = findings.find(({ check }) => check === 'Storing');
      expect(found?.level).toBe('problem');
      for (const said of ['closed', String(ids[0])]) expect(found?.message).toContain(said);

      const told = lines.filter((line) => line.includes('clickhouse'));
      expect(told).toHaveLength(1);
      expect(told[0]).toContain('closed');
    } finally {
      await server.ask('ALTER TABLE ci.executions DROP CONSTRAINT closed');
    }
    await driver.verify();
    expect(await stored(await idOf(repository))).toEqual({ rows: 30, executions: 30 });
    expect(await refused()).toMatchObject({ count: 0, seconds: 0, reason: null });
  });
});
