/** What the service does on a cluster of two real servers, with the stores of the tests for everything else. */
import { afterAll, beforeAll } from 'bun:test';
import { z } from 'zod';
import { type ClickHouse, openClickHouse } from '../../../src/clickhouse/client.ts';
import { migrateClickHouse } from '../../../src/clickhouse/migrate.ts';
import { countWaiting } from '../../../src/postgres/partitions.ts';
import { readStale } from '../../../src/postgres/stale.ts';
import { testRuns } from '../../../src/queue/test-runs.ts';
import { TEST_NOW } from '../clock.ts';
import { IngestDriver } from '../ingest.ts';
import { makeJob } from '../jobs.ts';
import { until } from '../patience.ts';
import { emptyStores, openTestStores, type TestStores, uniqueRepository } from '../stores.ts';
import { type RealCluster, startRealCluster } from './cluster.ts';
import { grantedUser } from './server.ts';

export interface ClusterRepository {
  id: string;
  path: ReturnType<typeof uniqueRepository>;
}

export interface OnCluster {
  readonly cluster: RealCluster;
  readonly stores: TestStores;
  readonly driver: IngestDriver;
  /** So many new repositories on each shard. */
  repositoriesOnEach(count: number): Promise<ClusterRepository[][]>;
  /**
   * Queues an upload of 25 executions for each.
   *
   * @param at when they ended; by default now
   */
  send(repositories: readonly ClusterRepository[], source: string, at?: number): Promise<void>;
  /** Returns when so many executions can be read, and nothing that follows from them is stale. */
  untilStored(repository: ClusterRepository, executions: number): Promise<void>;
}

const EXECUTIONS = 25;
const storedRow = z.object({ stored: z.number() });

/** How many executions are stored of a repository. */
export const storedOf = async (clickhouse: ClickHouse, id: string): Promise<number> => {
  const [row] = await clickhouse.rows(
    'SELECT toUInt32(uniqExact(execution_id)) AS stored FROM ci.executions WHERE repository_id = {repository_id: UUID}',
    { repository_id: id },
  );
  return storedRow.parse(row).stored;
};

/** Starts the servers and workers before the first test of a file, as a user with exactly the rights that doctor prints. */
export function setUpOnCluster(): OnCluster {
  const user = grantedUser({}, /^$/, true);
  let opened: (Pick<OnCluster, 'cluster' | 'stores' | 'driver'> & { shared: TestStores }) | undefined;
  const get = () => {
    if (!opened) throw new Error('the servers are started just before the first test of the file');
    return opened;
  };
  beforeAll(async () => {
    const shared = await openTestStores();
    await emptyStores(shared);
    shared.clock.set(TEST_NOW);
    const cluster = await startRealCluster([user]);
    const clickhouse = await openClickHouse({ url: cluster.url(user), path: '', cluster: cluster.name });
    await migrateClickHouse(clickhouse);
    const stores = { ...shared, clickhouse, background: clickhouse };
    opened = { shared, cluster, stores, driver: new IngestDriver(stores) };
  });
  afterAll(async () => {
    if (!opened) return;
    const { cluster, stores, driver, shared } = opened;
    await driver.stop();
    await stores.clickhouse.close();
    await cluster.stop();
    // Claims of these tests are for the other ClickHouse: the shared ledger would miss their executions.
    await emptyStores(shared);
    shared.clock.set(TEST_NOW);
  });
  return {
    get cluster() {
      return get().cluster;
    },
    get stores() {
      return get().stores;
    },
    get driver() {
      return get().driver;
    },
    repositoriesOnEach: async (count) => {
      const { cluster, stores } = get();
      const onEach = cluster.servers.map((): ClusterRepository[] => []);
      while (onEach.some(({ length }) => length < count)) {
        const path = uniqueRepository();
        const { id } = await stores.repositories.record(path);
        const shard = onEach[await stores.clickhouse.shardOf(id)];
        if (shard && shard.length < count) shard.push({ id, path });
      }
      return onEach;
    },
    send: async (repositories, source, at) => {
      const { stores, driver } = get();
      driver.watch(...repositories.map(({ path }) => path));
      await stores.producers.of(testRuns).addMany(
        repositories.map(({ path }) =>
          makeJob({
            repository: path,
            receivedAt: at ?? stores.clock.now(),
            source: `${path.name}-${source}`,
            executions: Array.from({ length: EXECUTIONS }, (_, nth) => ({
              name: `t${nth}`,
              key: `k${nth}`,
              at: at ?? stores.clock.now(),
              status: nth % 4 ? ('passed' as const) : ('failed' as const),
            })),
          }),
        ),
      );
    },
    untilStored: async ({ id }, executions) => {
      const { stores } = get();
      const { db } = stores.postgres;
      const isDone = async (): Promise<boolean> => {
        // A read that was on its way through a server that is lost breaks.
        const stored = await storedOf(stores.clickhouse, id).catch(() => 0);
        const isStale = (await readStale(db, [id])).size > 0;
        return stored === executions && (await countWaiting(db, id)) === 0 && !isStale;
      };
      await until(isDone);
    },
  };
}
