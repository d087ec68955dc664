/** The end of a repository: everything of it goes from both stores, nothing brings it back, and others stay as they are. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { eq, isNull } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import type { ClickHouse } from '../../src/clickhouse/client.ts';
import { REPOSITORY_TABLES } from '../../src/clickhouse/repository-rows.ts';
import { byService } from '../../src/domain/audit.ts';
import { Ledger, RepositoryDeleted } from '../../src/ledger/ledger.ts';
import { countRepository, finishDeletions } from '../../src/maintenance/delete-repository.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { deletionsAt } from '../../src/postgres/deleted-repositories.ts';
import { doerOf } from '../../src/postgres/repository-changes.ts';
import { audit, ingestBlocks } from '../../src/postgres/schema.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { type TestRunsJob, testRuns } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { until } from '../support/patience.ts';
import { prepareChunk } from '../support/prepare.ts';
import { rowsLeft } from '../support/rows-left.ts';
import { uniqueRepository } from '../support/stores.ts';

const ingest = setUpIngest({ isAlone: true });
const BY = byService('a test');

type Path = ReturnType<typeof uniqueRepository>;

const runOf = (repository: Path, receivedAt: number, source: string, failed = 3): TestRunsJob =>
  makeJob({
    repository,
    receivedAt,
    source,
    run: { run_id: source, commit: `commit-${source}`, default_branch: 'main', branch: 'main' },
    executions: Array.from({ length: 20 }, (_, i) => ({
      name: `test ${i}`,
      status: i < failed ? ('failed' as const) : ('passed' as const),
      failures: i < failed ? [{ type: 'E', message: `no ${i}` }] : [],
    })),
  });

const chunkOf = (path: Path, repositoryId: string, source: string) =>
  prepareChunk(runOf(path, TEST_NOW, source), {
    repositoryId,
    defaultBranch: 'main',
    now: TEST_NOW,
    retentionDays: 90,
  });

/** A repository that has something in many tables. */
async function fullRepository(path = uniqueRepository()): Promise<{ path: Path; id: string }> {
  const { stores, driver } = ingest;
  await driver.ingest(runOf(path, TEST_NOW, '1'), runOf(path, TEST_NOW, '2', 0));
  await stores.producers.of(prEvents).add(makeEventsJob(path, [labelled('one')]), uuid7());
  const repository = await stores.repositories.record(path);
  await stores.quarantines.create(repository.id, { testName: 'test 1', reason: 'r', branch: null }, doerOf(BY));
  await stores.repositories.set(repository, { quarantineLimit: 7 }, doerOf(BY));
  await driver.settle();
  return { path, id: repository.id };
}

async function untilDeleted(path: Path): Promise<Readonly<Record<string, number>>> {
  const { stores, driver } = ingest;
  const [newest] = await until(
    async () => {
      await driver.deleter.run();
      return deletionsAt(stores.postgres.db, path);
    },
    ([deletion]) => deletion?.finishedAt != null,
  );
  return newest?.removed ?? {};
}

const remove = (path: Path) => ingest.stores.repositories.delete(path, BY);

async function expectConsistent(): Promise<void> {
  const { isConsistent, checks } = await verify(ingest.stores);
  expect([checks.filter(({ count }) => count > 0), isConsistent]).toEqual([[], true]);
}

beforeAll(() => ingest.stores.clock.set(TEST_NOW));

describe('a deleted repository', () => {
  test('is gone from every table of both stores; another keeps all it has, and nothing differs', async () => {
    const { stores } = ingest;
    const [{ path, id }, other] = [await fullRepository(), await fullRepository()];
    const kept = await rowsLeft(stores, other.id);
    const before = await rowsLeft(stores, id);
    expect(Object.keys(before)).toEqual(expect.arrayContaining([...REPOSITORY_TABLES, 'quarantines', 'ingest_claims']));
    const foreseen = await countRepository({ ...stores, db: stores.postgres.db }, { id, ...path });
    expect(await stores.repositories.find(path.owner, path.name)).toBeDefined();
    await remove(path);
    const removed = await untilDeleted(path);
    expect(removed).toEqual(foreseen);
    expect(await rowsLeft(stores, id)).toEqual({});
    expect(await rowsLeft(stores, other.id)).toEqual(kept);
    expect(removed).toMatchObject(before);
    expect(removed.executions).toBe(40);
    await expectConsistent();
  });

  test('is an entry of the trail when it is asked for, and one with what was removed', async () => {
    const { stores } = ingest;
    const { path, id } = await fullRepository();
    await remove(path);
    await untilDeleted(path);
    const entries = await stores.postgres.db.select().from(audit).where(eq(audit.objectId, id)).orderBy(audit.id);
    const [asked, done] = entries.slice(-2);
    expect([asked?.action, asked?.actorName]).toEqual(['repository.delete', 'a test']);
    expect([done?.action, done?.objectName]).toEqual(['repository.deleted', `${path.owner}/${path.name}`]);
    expect(JSON.parse(done?.after ?? '')).toMatchObject({ executions: 40, repositories: 1, quarantines: 1 });
  });

  test('begins empty with its next upload, also with the same reports, under another id', async () => {
    const { stores, driver } = ingest;
    const { path, id } = await fullRepository();
    await remove(path);
    stores.clock.set(TEST_NOW + 1_000);
    await driver.ingest(runOf(path, TEST_NOW + 1_000, '1'));
    await untilDeleted(path);
    const next = await stores.repositories.find(path.owner, path.name);
    expect(next?.id).not.toBe(id);
    expect(next?.quarantineLimit).toBeNull();
    expect(await rowsLeft(stores, id)).toEqual({});
    expect(await rowsLeft(stores, next?.id ?? '')).toMatchObject({ executions: 20, identities: 20 });
    await expectConsistent();
    stores.clock.set(TEST_NOW);
  });

  test('is not brought back by uploads and events that were accepted before', async () => {
    const { stores, driver } = ingest;
    const { path, id } = await fullRepository();
    await driver.stop();
    await stores.producers.of(testRuns).addMany([runOf(path, TEST_NOW, '3'), runOf(path, TEST_NOW, '4')]);
    await stores.producers.of(prEvents).add(makeEventsJob(path, [labelled('one')]), uuid7());
    // Events are as old as their job.
    stores.clock.set(Date.now() + 60_000);
    await remove(path);
    driver.start();
    await driver.settle();
    await untilDeleted(path);
    expect(await stores.repositories.find(path.owner, path.name)).toBeUndefined();
    expect(await rowsLeft(stores, id)).toEqual({});
    expect(await stores.deadLetters.count()).toBe(0);
    await expectConsistent();
    stores.clock.set(TEST_NOW);
  });

  test('takes nothing that was prepared for it before', async () => {
    const { stores } = ingest;
    const { path, id } = await fullRepository();
    await remove(path);
    const ledger = new Ledger({ db: stores.postgres.db, clickhouse: stores.clickhouse, clock: stores.clock });
    const chunk = chunkOf(path, id, '5');
    const [outcome] = await ledger.write([chunk]);
    expect(outcome?.error).toBeInstanceOf(RepositoryDeleted);
    await untilDeleted(path);
    expect(await rowsLeft(stores, id)).toEqual({});
  });

  test('waits for a block that is on its way into ClickHouse', async () => {
    const { stores, driver } = ingest;
    const { db } = stores.postgres;
    const { path, id } = await fullRepository();
    await driver.stop();
    const away = { ...stores.clickhouse, insert: () => Promise.reject(new Error('away')) } as ClickHouse;
    await expect(
      new Ledger({ db, clickhouse: away, clock: stores.clock }).write([chunkOf(path, id, '6')]),
    ).rejects.toThrow('away');
    await remove(path);
    const deps = { db, clickhouse: stores.clickhouse, clock: stores.clock, log: stores.log };
    expect(await finishDeletions(deps)).toBe(1);
    expect(await rowsLeft(stores, id)).toMatchObject({ executions: 40, block_parts: 1 });
    const [unstored] = await db.select().from(ingestBlocks).where(isNull(ingestBlocks.storedAt));
    await new Ledger(deps).replay(unstored?.blockId ?? 0);
    expect(await finishDeletions(deps)).toBe(0);
    expect(await rowsLeft(stores, id)).toEqual({});
    driver.start();
    await expectConsistent();
  });

  test('ends keys for it alone, and takes it from keys for several', async () => {
    const { stores } = ingest;
    const path = uniqueRepository();
    await stores.repositories.record(path);
    const make = async (repositories: string[] | null) =>
      (await stores.keys.create({ name: 'k', owner: path.owner, scope: 'ci', repositories, expiresAt: null })).key.id;
    const [alone, several, all] = [await make([path.name]), await make([path.name, 'other']), await make(null)];
    await remove(path);
    const left = new Map((await stores.keys.list()).map((key) => [key.id, key.repositories]));
    expect([left.has(alone), left.get(several), left.get(all)]).toEqual([false, ['other'], null]);
    expect((await untilDeleted(path)).application_keys).toBe(1);
  });

  test('is deleted once, however many ask', async () => {
    const { path } = await fullRepository();
    const asked = await Promise.all([remove(path), remove(path), remove(path)]);
    expect(asked.filter((one) => one !== undefined)).toHaveLength(1);
    await untilDeleted(path);
    expect(await deletionsAt(ingest.stores.postgres.db, path)).toHaveLength(1);
  });
});

test('a deletion that is cut off after any step continues, and the receipt is the same; verify leaves it out meanwhile', async () => {
  const { stores, driver } = ingest;
  const { db } = stores.postgres;
  const whole = await fullRepository();
  await remove(whole.path);
  const expected = await untilDeleted(whole.path);
  for (const cut of [1, 2, 7, 2 * REPOSITORY_TABLES.length]) {
    const { path, id } = await fullRepository();
    await driver.stop();
    await remove(path);
    let steps = 0;
    const step = () => {
      if (++steps === cut) throw new Error('killed');
    };
    const dying = {
      ...stores.clickhouse,
      select: stores.clickhouse.select.bind(stores.clickhouse),
      // Before and after each table.
      command: async (...command: Parameters<ClickHouse['command']>) => {
        step();
        await stores.clickhouse.command(...command);
        step();
      },
    } as ClickHouse;
    const deps = { db, clickhouse: dying, clock: stores.clock, log: stores.log };
    await expect(finishDeletions(deps)).rejects.toThrow('killed');
    await expectConsistent();
    driver.start();
    const removed = await untilDeleted(path);
    expect(await rowsLeft(stores, id)).toEqual({});
    expect([cut, removed]).toEqual([cut, { ...expected }]);
  }
  await expectConsistent();
});
