import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ClickHouse, openClickHouse } from '../../src/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/clickhouse/migrate.ts';
import { readSqlFile } from '../../src/clickhouse/sql-files.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { startClickHouseServer, type TestClickHouse } from '../support/clickhouse-http.ts';
import { TEST_NOW } from '../support/clock.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { explainable, sqlFiles } from '../support/queries.ts';
import { emptyStores, openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

/** Queries that name one repository. */
const queries = sqlFiles('queries')
  .map((path) => path.replace('queries/', ''))
  .filter((name) => 'repository_id' in readSqlFile(`queries/${name}`).samples);

/**
 * Both shards of this cluster are one engine with the same rows: a read that asks both sees everything twice, and a read of
 * one repository is right only if it asks one.
 */
describe('a cluster of two shards', () => {
  let server: TestClickHouse;
  let clickhouse: ClickHouse;
  let stores: TestStores;

  beforeAll(async () => {
    stores = await openTestStores();
    stores.clock.set(TEST_NOW);
    server = await startClickHouseServer({ isCluster: true });
    clickhouse = await openClickHouse({ url: server.url, path: '', cluster: 'two' });
    await migrateClickHouse(clickhouse);
  });
  afterAll(async () => {
    await clickhouse.close();
    await server.stop();
    // Claims of this test are for the other ClickHouse: the shared ledger would miss its executions.
    await emptyStores(stores);
  });

  test.each(queries)('%s asks one shard', async (query) => {
    // An error where a shard cannot be told from the statement.
    await clickhouse.rows(`SELECT * FROM (${explainable(query)}) SETTINGS force_optimize_skip_unused_shards = 2`);
  });

  test('a read of every repository asks both shards', async () => {
    const all = 'SELECT count() FROM ci.executions';
    await clickhouse.rows(all);
    const forced = clickhouse.rows(`${all} SETTINGS force_optimize_skip_unused_shards = 2`);
    await expect(forced).rejects.toThrow('Sharding key');
  });

  test('what is ingested twice is read once, and everything derived agrees with it', async () => {
    const driver = new IngestDriver({ ...stores, clickhouse, background: clickhouse });
    const repository = uniqueRepository();
    const job = makeJob({
      repository,
      receivedAt: TEST_NOW,
      executions: Array.from({ length: 40 }, (_, nth) => ({ name: `t${nth}`, status: nth % 4 ? 'passed' : 'failed' })),
    });
    try {
      await driver.ingest(job);
      await driver.ingest(job);
      const found = await stores.repositories.find(repository.owner, repository.name);
      const [row] = await clickhouse.rows(
        'SELECT count() AS executions FROM ci.executions WHERE repository_id = {id: UUID}',
        { id: found?.id ?? '' },
      );
      expect(row).toEqual({ executions: 40 });
      const report = await verify({ ...stores, clickhouse }, found?.id);
      // The ledger is compared whole, over both shards, and so with every row twice.
      const derived = report.checks.filter((check) => !check.name.startsWith('ledger'));
      expect(derived.filter((check) => check.count > 0)).toEqual([]);
    } finally {
      await driver.stop();
    }
  });

  test('a block that is resent under its token changes neither the executions nor what is derived', async () => {
    const id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
    const line = JSON.stringify({
      repository_id: id,
      received_at: '2026-11-21 12:00:00.000',
      id: 1,
      type: 'action.label',
      trigger: '@a',
      metadata: '{}',
      outcome: 'neutral',
    });
    for (let times = 0; times < 3; times++) await clickhouse.insert('ci.events', line, 'events-1');
    expect(
      await clickhouse.rows('SELECT count() AS n FROM ci.events WHERE repository_id = {id: UUID}', { id }),
    ).toEqual([{ n: 1 }]);
  });
});
