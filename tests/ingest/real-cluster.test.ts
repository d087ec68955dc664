/**
 * Everything that the service does on a cluster of real ClickHouse servers, as a user with exactly the rights that doctor prints.
 * Replicas and their Keeper are not there (tests/support/clickhouse-real/cluster.ts).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { sentenceOf } from '../../src/cli/sentence.ts';
import { type ClickHouse, openClickHouse } from '../../src/clickhouse/client.ts';
import { grantsFor } from '../../src/clickhouse/grants.ts';
import { migrateClickHouse } from '../../src/clickhouse/migrate.ts';
import { assertDropsRepeats } from '../../src/clickhouse/tokens.ts';
import { StoreUnavailable } from '../../src/errors.ts';
import { unstoredBlocks } from '../../src/ledger/blocks.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { checkClickHouse } from '../../src/operate/doctor/clickhouse.ts';
import { countWaiting } from '../../src/postgres/partitions.ts';
import { readStale } from '../../src/postgres/stale.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { type RealCluster, startRealCluster } from '../support/clickhouse-real/cluster.ts';
import type { User } from '../support/clickhouse-real/configure.ts';
import { grantedUser, hasRealClickHouse } from '../support/clickhouse-real/server.ts';
import { TEST_NOW } from '../support/clock.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob, type TestExecution } from '../support/jobs.ts';
import { until } from '../support/patience.ts';
import { emptyStores, openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const DAY_MS = 86_400_000;
const REPOSITORIES = 2;
const service = grantedUser({}, /^$/, true);
/** What only a cluster needs. Each of these users lacks one of them. */
const ONLY_CLUSTERS = grantsFor(true).slice(grantsFor(false).length);
const lacking = ONLY_CLUSTERS.map(({ statement }, nth): [string, User] => [
  statement,
  {
    ...service,
    name: `lacks${nth}`,
    grants: service.grants?.filter((grant) => !statement.startsWith(`${grant} `)) ?? [],
  },
]);

const STORED = 'SELECT toUInt32(count()) AS stored FROM ci.executions WHERE repository_id = {id: UUID}';
const DISTINCT =
  'SELECT toUInt32(uniqExact(execution_id)) AS executions FROM ci.executions WHERE repository_id = {id: UUID}';
const storedRow = z.object({ stored: z.number() });

describe.skipIf(!hasRealClickHouse)('on a cluster of real servers', () => {
  let cluster: RealCluster;
  let clickhouse: ClickHouse;
  let shared: TestStores;
  let driver: IngestDriver;
  let stores: TestStores;

  beforeAll(async () => {
    shared = await openTestStores();
    await emptyStores(shared);
    shared.clock.set(TEST_NOW);
    cluster = await startRealCluster([service, ...lacking.map(([, user]) => user)]);
    clickhouse = await openAs(service);
    stores = { ...shared, clickhouse, background: clickhouse };
  });
  afterAll(async () => {
    await driver?.stop();
    await clickhouse.close();
    await cluster.stop();
    // Claims of this test are for the other ClickHouse: the shared ledger would miss its executions.
    await emptyStores(shared);
  });

  const openAs = (user: User): Promise<ClickHouse> =>
    openClickHouse({ url: cluster.url(user), path: '', cluster: cluster.name });
  const executions = (count: number, at = TEST_NOW): TestExecution[] =>
    Array.from({ length: count }, (_, nth) => ({
      name: `t${nth}`,
      key: `k${nth}`,
      at,
      status: nth % 4 ? 'passed' : 'failed',
    }));
  /** So many new repositories on each shard. */
  const repositoriesOnEach = async (
    count: number,
  ): Promise<{ id: string; path: ReturnType<typeof uniqueRepository> }[][]> => {
    const onEach = cluster.servers.map((): { id: string; path: ReturnType<typeof uniqueRepository> }[] => []);
    while (onEach.some(({ length }) => length < count)) {
      const path = uniqueRepository();
      const { id } = await stores.repositories.record(path);
      const shard = onEach[await clickhouse.shardOf(id)];
      if (shard && shard.length < count) shard.push({ id, path });
    }
    return onEach;
  };
  const storedOnEach = async (): Promise<number[]> =>
    (await cluster.ask('SELECT count() FROM ci_shard.executions')).map(Number);

  test.each(lacking)('without %s the migration ends with the rights to grant', async (statement, user) => {
    const client = await openAs(user);
    try {
      const failed = await migrateClickHouse(client).then(
        () => 'no error',
        (error) => sentenceOf(error),
      );
      expect(failed).toContain('ClickHouse does not permit');
      expect(failed).toContain(statement);
    } finally {
      await client.close();
      for (const database of ['ci', 'ci_shard']) await cluster.ask(`DROP DATABASE IF EXISTS ${database} SYNC`);
    }
  });

  test('the rights are enough to migrate, ingest, verify, rebuild and drop what is too old', async () => {
    expect(await migrateClickHouse(clickhouse)).toEqual([1]);
    expect(await migrateClickHouse(clickhouse)).toEqual([]);
    driver = new IngestDriver(stores);
    const old = TEST_NOW - 60 * DAY_MS;
    const repositories = Array.from({ length: REPOSITORIES }, () => uniqueRepository());
    await driver.ingest(
      ...repositories.flatMap((repository) => [
        makeJob({ repository, receivedAt: old, source: 'old', executions: executions(10, old) }),
        makeJob({ repository, receivedAt: TEST_NOW, source: 'new', executions: executions(20) }),
      ]),
    );
    const stored = await storedOnEach();
    expect(stored.reduce((sum, rows) => sum + rows)).toBe(REPOSITORIES * 30);
    expect(stored.every((rows) => rows % 30 === 0)).toBe(true);
    await driver.verify();
    await rebuild(stores);
    await driver.verify();
    stores.clock.at = TEST_NOW + 60 * DAY_MS;
    try {
      expect(await driver.retention.run()).not.toEqual([]);
    } finally {
      stores.clock.set(TEST_NOW);
    }
    expect((await storedOnEach()).reduce((sum, rows) => sum + rows)).toBe(REPOSITORIES * 20);
  });

  test.each([0, 1])(
    'the loss of shard %i stops its own repositories, and its return loses and doubles nothing',
    async (lost) => {
      const { db } = stores.postgres;
      const repositories = await repositoriesOnEach(2);
      const other = 1 - lost;
      let wave = 0;
      const send = async (): Promise<void> => {
        wave++;
        const jobs = repositories.flat().flatMap(({ path }) =>
          ['a', 'b'].map((part) =>
            makeJob({
              repository: path,
              receivedAt: TEST_NOW,
              source: `${path.name}-${wave}-${part}`,
              executions: executions(25),
            }),
          ),
        );
        await stores.producers.of(testRuns).addMany(jobs);
      };
      /** Can be read, and nothing that follows from it is stale. */
      const isDone = async (id: string): Promise<boolean> => {
        // A read that was on its way through the server that is lost breaks.
        const [row] = await clickhouse.rows(STORED, { id }).catch(() => [{ stored: 0 }]);
        const { stored } = storedRow.parse(row);
        const isStale = (await readStale(db, [id])).size > 0;
        return stored === wave * 50 && (await countWaiting(db, id)) === 0 && !isStale;
      };
      driver.watch(...repositories.flat().map(({ path }) => path));
      await send();
      const killed = cluster.servers[lost]?.kill();
      await send();
      await killed;
      await send();
      for (const { id } of repositories[other] ?? []) await until(() => isDone(id));
      for (const { id } of repositories[lost] ?? [])
        await expect(clickhouse.rows(STORED, { id })).rejects.toThrow(StoreUnavailable);
      // A process may start meanwhile.
      expect(await migrateClickHouse(clickhouse)).toEqual([]);
      await assertDropsRepeats(clickhouse);
      const waiting = await unstoredBlocks(db, 0, { limit: 1_000, exceptShards: [] });
      expect(waiting.every(({ shard }) => shard === lost)).toBe(true);

      await cluster.servers[lost]?.start();
      await driver.sweeper.sweep(0);
      for (const { id } of repositories.flat()) await until(() => isDone(id));
      await driver.verify();
      for (const { id } of repositories.flat())
        expect(await clickhouse.rows(DISTINCT, { id })).toEqual([{ executions: wave * 50 }]);
    },
  );

  test('the rights are enough to end a read, as doctor finds', async () => {
    const findings = await checkClickHouse(clickhouse, true);
    expect(findings.filter(({ check }) => check === 'ClickHouse permissions')).toMatchObject([{ level: 'ok' }]);
    const id = crypto.randomUUID();
    const read = clickhouse
      .rows(`SELECT sleepEachRow(1) /* ${id} */ FROM (SELECT arrayJoin(range(60)))
        SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 3600000000`)
      .then(
        () => 'ran to its end',
        () => 'was ended',
      );
    await until(
      () => clickhouse.rows(`KILL QUERY WHERE query LIKE concat('%/* ', '${id}', '%') ASYNC`),
      (ended) => ended.length > 0,
    );
    expect(await read).toBe('was ended');
  });
});
