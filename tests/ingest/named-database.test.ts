/** Two installations on one ClickHouse server, in databases of two names: each has its own rows only. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ClickHouse, openClickHouse } from '../../src/clickhouse/client.ts';
import { grantsFor } from '../../src/clickhouse/grants.ts';
import { migrateClickHouse } from '../../src/clickhouse/migrate.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { hasRealClickHouse, type RealClickHouse, startRealClickHouse } from '../support/clickhouse-real/server.ts';
import { TEST_NOW } from '../support/clock.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { emptyStores, openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const DATABASES = ['ci', 'staging'] as const;
/** A user with the documented rights on one of them, who cannot touch the other. */
const userOf = (database: string) => ({
  name: `of_${database}`,
  password: 'a-password',
  grants: grantsFor(false, database).map(({ statement }) => statement.replace(/ TO <user>$/, '')),
});

describe.skipIf(!hasRealClickHouse)('two databases on one server', () => {
  let server: RealClickHouse;
  let shared: TestStores;
  const opened: ClickHouse[] = [];

  beforeAll(async () => {
    shared = await openTestStores();
    shared.clock.set(TEST_NOW);
    server = await startRealClickHouse(DATABASES.map(userOf));
  });
  afterAll(async () => {
    for (const clickhouse of opened) await clickhouse.close();
    await server.stop();
    await emptyStores(shared);
  });

  test('each is migrated, filled, verified and rebuilt by a user who has rights on no other', async () => {
    for (const [i, database] of DATABASES.entries()) {
      await emptyStores(shared);
      const clickhouse = await openClickHouse({ url: server.url(userOf(database)), path: '', database });
      opened.push(clickhouse);
      await migrateClickHouse(clickhouse);
      const stores = { ...shared, clickhouse, background: clickhouse };
      const driver = new IngestDriver(stores);
      const executions = Array.from({ length: 20 * (i + 1) }, (_, nth) => ({
        name: `t${nth}`,
        status: nth % 4 ? ('passed' as const) : ('failed' as const),
      }));
      await driver.ingest(makeJob({ repository: uniqueRepository(), receivedAt: TEST_NOW, executions }));
      await driver.stop();
      expect(await verify(stores)).toMatchObject({ isConsistent: true, executions: executions.length });
      await rebuild(stores);
      expect(await verify(stores)).toMatchObject({ isConsistent: true, executions: executions.length });
    }
    for (const [i, database] of DATABASES.entries())
      expect(await server.ask(`SELECT count() FROM ${database}.executions`)).toBe(`${20 * (i + 1)}\n`);
  });
});
