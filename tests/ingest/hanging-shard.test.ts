/**
 * A shard that hangs: its process is stopped, so it takes connections and answers nothing. Everything else is as if it had been
 * killed (real-cluster.test.ts).
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { migrateClickHouse } from '../../src/clickhouse/migrate.ts';
import { assertDropsRepeats } from '../../src/clickhouse/tokens.ts';
import { StoreUnavailable } from '../../src/errors.ts';
import { unstoredBlocks } from '../../src/ledger/blocks.ts';
import { setUpOnCluster, storedOf } from '../support/clickhouse-real/on-cluster.ts';
import { hasRealClickHouse } from '../support/clickhouse-real/server.ts';
import { openTestApp, type TestApp } from '../support/http.ts';

/** More than a worker has in hand, so that the rest must wait for room. */
const UPLOADS = 150;

describe.skipIf(!hasRealClickHouse)('a shard that hangs', () => {
  const on = setUpOnCluster();
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp({ clickhouse: on.stores.clickhouse });
  });

  test.each([0, 1])('stops its own repositories only: shard %i', async (hanging) => {
    const { cluster, stores, driver } = on;
    const repositories = await on.repositoriesOnEach(2);
    const [stopped = [], others = []] = [repositories[hanging], repositories[1 - hanging]];
    const readsOf = (ones: typeof others): Promise<number>[] =>
      ones.map(async ({ path }) => (await app.request(`/v1/ci/${path.owner}/repositories/${path.name}/runs`)).status);
    await on.send(repositories.flat(), 'before');
    for (const one of repositories.flat()) await on.untilStored(one, 25);

    await cluster.servers[hanging]?.hang();
    try {
      // They hold all of the room that a worker has.
      for (let nth = 0; nth < UPLOADS; nth++) await on.send(stopped, `in line ${nth}`);
      const hung = stopped.flatMap((one) => readsOf([one, one, one, one, one, one, one]));
      await on.send(others, 'meanwhile');
      for (const one of others) await on.untilStored(one, 50);
      expect(await Promise.all(readsOf(others))).toEqual(others.map(() => 200));
      expect(new Set(await Promise.all(hung))).toEqual(new Set([503]));
      for (const { id } of stopped) await expect(storedOf(stores.clickhouse, id)).rejects.toThrow(StoreUnavailable);
      // A process may start meanwhile.
      expect(await migrateClickHouse(stores.clickhouse)).toEqual([]);
      await assertDropsRepeats(stores.clickhouse);
      const waiting = await unstoredBlocks(stores.postgres.db, 0, { limit: 1_000, exceptShards: [] });
      expect(waiting.every(({ shard }) => shard === hanging)).toBe(true);
      // One that waits in line holds up no other.
      await driver.sweeper.sweep(0).catch(() => {});
      await on.send(others, 'after the sweep');
      for (const one of others) await on.untilStored(one, 75);
    } finally {
      await cluster.servers[hanging]?.resume();
    }
    for (const one of stopped) await on.untilStored(one, (UPLOADS + 1) * 25);
    await driver.verify();
    expect(await Promise.all(readsOf(stopped))).toEqual(stopped.map(() => 200));
  });
});
