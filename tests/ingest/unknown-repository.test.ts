/**
 * A repository in which every test fails, soon after its first upload. PostgreSQL's planner does not know its size yet, and
 * may choose to read all of it once for each of its tests: the first upload of 100,000 tests then takes minutes.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import { z } from 'zod';
import { readConfig } from '../../src/config.ts';
import { openDeps } from '../../src/deps.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { createLogger } from '../../src/observability/log.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { startClickHouseServer, type TestClickHouse } from '../support/clickhouse-http.ts';
import { TEST_NOW, TestClock } from '../support/clock.ts';
import { makeFolder } from '../support/folder.ts';
import { openTestApp } from '../support/http.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob, type TestExecution } from '../support/jobs.ts';
import { type TestStores, uniqueRepository } from '../support/stores.ts';
import { beginWithTemplate } from '../support/template.ts';

const TESTS = 3_000;
const DAYS = 3;
/** Of a statement, over all its calls. Once for each test, it would be thousands; by keys, a row is four pages away. */
const PAGES_PER_TEST_MAX = 400;

const repository = uniqueRepository();
const folder = makeFolder('unknown-repository');
let postgres: EmbeddedPostgres;
let clickhouse: TestClickHouse;
let stores: TestStores;
let driver: IngestDriver;

/** A server that counts the pages which each statement reads, and analyzes nothing unless it is told to. */
async function startCounting(): Promise<EmbeddedPostgres> {
  beginWithTemplate(folder);
  const first = await startEmbeddedPostgres(folder);
  const client = new pg.Client({ connectionString: first.url });
  await client.connect();
  await client.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`);
  await client.query('alter system set autovacuum = off');
  await client.query('create extension pg_stat_statements');
  await client.end();
  await first.stop();
  return startEmbeddedPostgres(folder);
}

beforeAll(async () => {
  [postgres, clickhouse] = await Promise.all([startCounting(), startClickHouseServer()]);
  const clock = new TestClock(TEST_NOW);
  const config = readConfig({
    DATA_DIR: folder,
    DATABASE_URL: postgres.url,
    CLICKHOUSE_URL: clickhouse.url,
    PORT: '0',
  });
  stores = { ...(await openDeps(config, { clock, log: createLogger('error') })), clock };
  driver = new IngestDriver(stores);
});
afterAll(async () => {
  await driver?.stop();
  await stores?.close();
  await clickhouse?.stop();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const failing = (i: number): TestExecution => ({
  name: `test ${i}`,
  status: 'failed',
  failures: [{ type: `Error${i}`, message: `thing ${i} is missing`, stacktrace: `at file${i}.ts:1` }],
});

/** A run in which every test fails, in two legs of one CI job. */
const runOf = (path: typeof repository, tests: number, day: number) =>
  ['linux', 'windows'].map((os) =>
    makeJob({
      repository: path,
      executions: Array.from({ length: tests }, (_, i) => ({ ...failing(i), at: TEST_NOW - (DAYS - day) * DAY_MS })),
      run: { axes: { os }, run_id: String(day), commit: `commit-${day}` },
      receivedAt: TEST_NOW,
    }),
  );

const pagesRow = z.object({ query: z.string(), calls: z.coerce.number(), pages: z.coerce.number() });

/** Statements that have read too many pages since the last call. */
async function costly(): Promise<z.infer<typeof pagesRow>[]> {
  const { rows } = await stores.postgres.db.execute(sql`
    select query, calls, shared_blks_hit + shared_blks_read as pages from pg_stat_statements
    where shared_blks_hit + shared_blks_read > ${PAGES_PER_TEST_MAX * TESTS}`);
  await stores.postgres.db.execute(sql`select pg_stat_statements_reset()`);
  return rows.map((row) => pagesRow.parse(row));
}

test('no statement of ingestion reads it once for each test', async () => {
  await driver.ingest(...runOf(uniqueRepository(), 100, 1));
  await stores.postgres.db.execute(sql`analyze`);
  await costly();
  for (let day = 1; day <= DAYS; day++) await driver.ingest(...runOf(repository, TESTS, day));
  expect(await costly()).toEqual([]);
});

test('every read of it is answered, and no statement of a read reads it once for each test', async () => {
  const { sessions: _, ...deps } = stores;
  const app = await openTestApp(deps);
  const base = `/v1/ci/${repository.owner}/repositories/${repository.name}`;
  const { tests } = await app.get<{ tests: { test_id: string }[] }>(`${base}/search/tests?test_name=*`);
  const { causes } = await app.get<{ causes: { cause_id: string }[] }>(`${base}/causes`);
  const { runs } = await app.get<{ runs: { id: string }[] }>(`${base}/runs`);
  const [testId, causeId] = [tests[0]?.test_id ?? '', causes[0]?.cause_id ?? ''];
  const { failures } = await app.get<{ failures: { failure_id: string }[] }>(`${base}/tests/${testId}/failures`);
  const named: Record<string, string> = {
    ...{ owner: repository.owner, repository: repository.name, repository_name: repository.name },
    ...{ test_id: testId, cause_id: causeId, failure_id: failures[0]?.failure_id ?? '', id: runs[0]?.id ?? '' },
    commit_sha: `commit-${DAYS}`,
  };
  const { paths } = await app.get<{ paths: Record<string, { get?: unknown }> }>('/docs/json');
  const answered = new Map<string, number>();
  for (const [path, { get }] of Object.entries(paths)) {
    const asked = path.replace(/\{(\w+)\}/g, (whole, name) => named[name] ?? whole);
    if (!get || !asked.includes(repository.owner) || asked.includes('{')) continue;
    for (const query of ['', '?test_name=*', '?test_name=*&health=broken', '?by=cause', '?by=owner'])
      answered.set(`${asked}${query}`, (await app.requestUnchecked(`${asked}${query}`)).status);
  }
  expect(answered.size).toBeGreaterThan(100);
  // A read may be asked for what it does not offer.
  expect([...answered].filter(([, status]) => ![200, 404, 422].includes(status))).toEqual([]);
  expect(answered.get(`${base}/cost`)).toBe(200);
  expect(await costly()).toEqual([]);
});
