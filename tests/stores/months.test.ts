/** Months of tables as files: what is in them does not depend on how it was merged, and comes back as it was. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { tableDefinitions } from '../../src/clickhouse/migrations.ts';
import { MONTHLY_TABLES, Months } from '../../src/clickhouse/months.ts';
import { TEST_NOW } from '../support/clock.ts';
import { makeFolder } from '../support/folder.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { emptyStores, openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const folder = makeFolder('months');
let stores: TestStores;
let driver: IngestDriver;
let months: Months;

beforeAll(async () => {
  stores = await openTestStores();
  await emptyStores(stores);
  driver = new IngestDriver(stores);
  const { clickhouse, config } = stores;
  months = new Months(clickhouse, { url: config.clickhouseUrl, cluster: config.clickhouseCluster });
});
afterAll(async () => {
  await months.close();
  await driver.stop();
  await emptyStores(stores);
  rmSync(folder, { recursive: true, force: true });
});

test('every table that is partitioned by month is among them', () => {
  const partitioned = tableDefinitions().flatMap((definition) => {
    const table = /CREATE TABLE IF NOT EXISTS ci\.(\w+)/.exec(definition)?.[1];
    const column = /PARTITION BY toYYYYMM\((\w+)\)/.exec(definition)?.[1];
    return table && column ? [[table, column]] : [];
  });
  expect(Object.fromEntries(partitioned)).toEqual(MONTHLY_TABLES);
});

/** The stand-in of a server takes no bytes that are not text. */
const isStandIn = ['http', 'cluster'].includes(process.env.TEST_CLICKHOUSE ?? '');
if (isStandIn) console.error('skipped: the stand-in of a ClickHouse server takes no files of months');

test.skipIf(isStandIn)(
  'merges change no contents, a row does, and a file brings back what it was written from',
  async () => {
    const repository = uniqueRepository();
    const runOf = (nth: number, status: 'passed' | 'failed') =>
      makeJob({
        repository,
        receivedAt: TEST_NOW,
        run: { run_id: 'one' },
        executions: Array.from({ length: 30 }, (_, test) => ({
          name: `t${test}`,
          key: `k${nth}-${test}`,
          at: TEST_NOW - nth,
          status: test % 5 ? 'passed' : status,
        })),
      });
    // Parts of one run: their rows in the tables of runs are merged later.
    for (let nth = 0; nth < 4; nth++) await driver.ingest(runOf(nth, 'failed'));
    const listed = await months.list();
    expect(listed.map(({ table }) => table).sort()).toEqual(['commit_runs', 'executions', 'failures', 'runs']);
    for (const month of listed) {
      const before = await months.contentsOf(month);
      expect(before.rows).toBeGreaterThan(0);
      const path = join(folder, month.table);
      await months.write(month, path);
      if (!stores.clickhouse.isSharded) await stores.clickhouse.command(`OPTIMIZE TABLE ci.${month.table} FINAL`);
      expect(await months.contentsOf(month)).toEqual(before);
      await months.drop(month);
      expect(await months.contentsOf(month)).toEqual({ rows: 0, digest: '0' });
      await months.replace(month, path);
      expect(await months.contentsOf(month)).toEqual(before);
      await months.replace(month, path);
      expect(await months.contentsOf(month)).toEqual(before);
    }
    const [executions] = listed.filter(({ table }) => table === 'executions');
    if (!executions) throw new Error('there are no executions');
    const before = await months.contentsOf(executions);
    await driver.ingest(runOf(5, 'passed'));
    expect((await months.contentsOf(executions)).digest).not.toBe(before.digest);
  },
);
