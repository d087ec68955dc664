/** What concerns a shard that is lost waits for it; the event log, deletions and retention of the others do not. */
import { describe, expect, test } from 'bun:test';
import { v7 as uuid7 } from 'uuid';
import { z } from 'zod';
import { ShardsUnavailable } from '../../src/clickhouse/shards.ts';
import { byService } from '../../src/domain/audit.ts';
import { UserError } from '../../src/errors.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { deletionsAt } from '../../src/postgres/deleted-repositories.ts';
import { beginForgetting, findForgotten } from '../../src/postgres/forgotten-people.ts';
import { doerOf } from '../../src/postgres/repository-changes.ts';
import { eventOutbox, outboxConsumers } from '../../src/postgres/schema.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { type ClusterRepository, setUpOnCluster, storedOf } from '../support/clickhouse-real/on-cluster.ts';
import { hasRealClickHouse } from '../support/clickhouse-real/server.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { until } from '../support/patience.ts';

const DAY_MS = 86_400_000;
const BY = byService('a test');
const countRow = z.object({ n: z.number() });

describe.skipIf(!hasRealClickHouse)('a shard that is lost', () => {
  const on = setUpOnCluster();

  const tell = async (repositories: readonly ClusterRepository[], login: string): Promise<void> => {
    for (const { path } of repositories)
      await on.stores.producers
        .of(prEvents)
        .add(makeEventsJob(path, [labelled(login, { trigger: `@${login}` })]), uuid7());
  };
  const eventsOf = async ({ id }: ClusterRepository, login: string): Promise<number> => {
    const [row] = await on.stores.clickhouse.rows(
      'SELECT toUInt32(count()) AS n FROM ci.events WHERE repository_id = {repository_id: UUID} AND trigger = {trigger: String}',
      { repository_id: id, trigger: `@${login}` },
    );
    return countRow.parse(row).n;
  };
  const isDeleted = async ({ path }: ClusterRepository): Promise<boolean> =>
    (await deletionsAt(on.stores.postgres.db, path))[0]?.finishedAt instanceof Date;

  test.each([
    ['killed', 0],
    ['hanging', 1],
  ] as const)('stops what is on it only: %s, shard %i', async (how, lost) => {
    const { cluster, stores, driver } = on;
    const { db } = stores.postgres;
    const login = `someone-${how}`;
    const onEach = await on.repositoriesOnEach(3);
    const [stopped = [], others = []] = [onEach[lost], onEach[1 - lost]];
    const [keptThere, deletedThere, oldThere] = stopped;
    const [keptElsewhere, deletedElsewhere, oldElsewhere] = others;
    if (!(keptThere && deletedThere && oldThere && keptElsewhere && deletedElsewhere && oldElsewhere))
      throw new Error('there are too few repositories');
    const kept = [keptThere, keptElsewhere];
    const deleted = [deletedThere, deletedElsewhere];
    const old = [oldThere, oldElsewhere];
    const past = stores.clock.now() - 40 * DAY_MS;
    await on.send([...kept, ...deleted, ...old], 'first');
    await on.send(old, 'old', past);
    await tell(kept, login);
    for (const one of [...kept, ...deleted]) await on.untilStored(one, 25);
    for (const one of old) await on.untilStored(one, 50);
    await until(async () => (await db.$count(eventOutbox)) === 0);

    if (how === 'killed') await cluster.servers[lost]?.kill();
    else await cluster.servers[lost]?.hang();
    const by = doerOf(BY);
    await tell(kept, 'later');
    for (const { path } of deleted) await stores.repositories.delete(path, BY);
    const { pseudonym } = await beginForgetting(db, { name: login, isForLater: false }, BY, stores.clock.now());
    for (const { path } of old)
      await stores.repositories.set(await stores.repositories.record(path), { executionRetentionDays: 7 }, by);
    await until(async () => (await eventsOf(keptElsewhere, 'later')) === 1);
    await until(() => isDeleted(deletedElsewhere));
    await until(async () => (await eventsOf(keptElsewhere, login)) === 0);
    await expect(driver.retention.run()).rejects.toThrow(ShardsUnavailable);
    expect(await storedOf(stores.clickhouse, oldElsewhere.id)).toBe(25);
    expect(await isDeleted(deletedThere)).toBe(false);
    expect((await findForgotten(db, pseudonym))?.finishedAt).toBeNull();
    const rebuilt = rebuild(stores);
    await expect(rebuilt).rejects.toThrow(UserError);
    await expect(rebuilt).rejects.toThrow(`of 2 these do not answer: ${lost + 1}.`);
    // Nothing of it holds up uploads.
    await on.send([keptElsewhere], 'second');
    await on.untilStored(keptElsewhere, 50);

    await (how === 'killed' ? cluster.servers[lost]?.start() : cluster.servers[lost]?.resume());
    await until(() => isDeleted(deletedThere));
    await until(async () => (await findForgotten(db, pseudonym))?.finishedAt instanceof Date);
    // The other is counted unless the statement that waited for the shard, which counts nothing, has changed it first.
    expect([1, 2]).toContain((await findForgotten(db, pseudonym))?.changed.events ?? 0);
    await until(async () => (await db.$count(eventOutbox)) === 0);
    for (const one of kept) expect([await eventsOf(one, 'later'), await eventsOf(one, login)]).toEqual([1, 0]);
    expect((await db.select().from(outboxConsumers)).map(({ name }) => name).toSorted()).toEqual(['relay', 'relay-2']);
    await driver.retention.run();
    for (const { id } of old) expect(await storedOf(stores.clickhouse, id)).toBe(25);
    for (const { id } of deleted) expect(await storedOf(stores.clickhouse, id)).toBe(0);
    await rebuild(stores);
    await driver.verify();
  });
});
