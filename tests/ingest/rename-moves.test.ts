/** What is stored of a renamed test moves while the service runs: only its repository waits, and a move that is cut off is made again. */
import { describe, expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import type { ClickHouse } from '../../src/clickhouse/client.ts';
import { byService } from '../../src/domain/audit.ts';
import { testIdOf } from '../../src/domain/identity.ts';
import { StoreUnavailable } from '../../src/errors.ts';
import { Ledger, RepositoryMoving } from '../../src/ledger/ledger.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { applyRenames } from '../../src/maintenance/rename-tests.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { closedAmong } from '../../src/postgres/closed-repositories.ts';
import { decideRename, renameTest } from '../../src/postgres/decide-renames.ts';
import { APPLY_TRIES_MAX, listRenames, readFailedRenames } from '../../src/postgres/renames.ts';
import { doerOf } from '../../src/postgres/repository-changes.ts';
import { failureGroups } from '../../src/postgres/schema.ts';
import { Course } from '../support/backtests.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { prepareChunk } from '../support/prepare.ts';

const ingest = setUpIngest({ isAlone: true });
const decided = { by: doerOf(byService('a test')), now: TEST_NOW };
const OLD = 'CartTest.sums';
const NEW = 'cart.CartTest.sums';

/** A repository in which a test failed under two names, on the default branch and off it. */
async function twoNames() {
  const course = await Course.start(ingest, 'off');
  await course.ingest(...course.flaky(OLD, 2, 'timeout'), ...course.flaky(OLD, 3, 'refused'));
  await course.ingest(
    ...course.flaky(NEW, 3, 'timeout'),
    course.run('last', { [NEW]: 'failed' }, { message: 'refused' }),
  );
  await course.ingest(course.run('of a pull', { [OLD]: 'failed', [NEW]: 'passed' }, { branch: 'topic' }));
  const repository = await ingest.stores.repositories.record(course.repository);
  return { course, repository };
}

async function expectConsistent(repositoryId: string): Promise<void> {
  const { checks } = await verify(ingest.stores, repositoryId);
  expect(checks.filter(({ count }) => count > 0)).toEqual([]);
}

const executionsOf = async (repositoryId: string, name: string): Promise<unknown> =>
  (
    await ingest.stores.clickhouse.rows(
      `SELECT count() AS executions, uniqExact(execution_id) AS different FROM ci.executions
       WHERE repository_id = {repository: UUID} AND test_id = {test: UUID}`,
      { repository: repositoryId, test: testIdOf(repositoryId, name) },
    )
  )[0];

class CutOff extends Error {
  override message = 'the store refuses it';
}

const EVERY_RENAME = { states: [], testId: undefined, key: null, direction: 'next', rows: 9 } as const;

/** The writes after the first few fail: one of them after it was made. */
function cutAfter(clickhouse: ClickHouse, writes: number): ClickHouse {
  let left = writes;
  const cut =
    <A extends unknown[]>(write: (...args: A) => Promise<void>) =>
    async (...args: A): Promise<void> => {
      if (left < 0) throw new CutOff();
      await write(...args);
      if (left-- === 0) throw new CutOff();
    };
  return {
    ...clickhouse,
    isSharded: clickhouse.isSharded,
    select: (query, params, turn) => clickhouse.select(query, params, turn),
    rows: (sql, params) => clickhouse.rows(sql, params),
    insert: (table, lines, token) => clickhouse.insert(table, lines, token),
    fill: cut((target, select) => clickhouse.fill(target, select)),
    command: cut((sql, params) => clickhouse.command(sql, params)),
  };
}

describe('the move of a renamed test', () => {
  test('that is cut off after any write is made again, and undone as well', async () => {
    const { stores, driver } = ingest;
    const { repository } = await twoNames();
    const other = await twoNames();
    await driver.stop();
    try {
      const before = [await executionsOf(repository.id, OLD), await executionsOf(repository.id, NEW)];
      const untouched = await executionsOf(other.repository.id, NEW);
      /** Returns whether something was cut off. */
      const applyCutting = async (writes: number): Promise<boolean> => {
        const broken = { ...stores, clickhouse: cutAfter(stores.clickhouse, writes) };
        const isCut = await applyRenames(broken).then(
          (applied) => applied === 0,
          (error) => {
            if (!(error instanceof CutOff)) throw error;
            return true;
          },
        );
        if (isCut) expect(await applyRenames(stores)).toBe(1);
        driver.start();
        await driver.settle();
        await expectConsistent(repository.id);
        await driver.stop();
        return isCut;
      };
      const made = await renameTest(stores.postgres.db, repository, { fromName: OLD, toName: NEW }, decided);
      if (typeof made === 'string') throw new Error(made);
      let cuts = 0;
      for (let writes = 0; ; writes++) {
        const isCut = await applyCutting(writes);
        expect(await executionsOf(repository.id, NEW)).toEqual({ executions: 0, different: 0 });
        await decideRename(stores.postgres.db, repository, made.id, 'undone', decided);
        await applyCutting(writes);
        expect([await executionsOf(repository.id, OLD), await executionsOf(repository.id, NEW)]).toEqual(before);
        if (!isCut) break;
        cuts++;
        await decideRename(stores.postgres.db, repository, made.id, 'accepted', decided);
      }
      // Two copies, two removals, and the runs of commits.
      expect(cuts).toBe(5);
      expect(await executionsOf(other.repository.id, NEW)).toEqual(untouched);
    } finally {
      driver.start();
    }
    await expectConsistent(other.repository.id);
  });

  test('keeps results of its repository waiting, and stores those of others', async () => {
    const { stores, driver } = ingest;
    const [one, other] = [await twoNames(), await twoNames()];
    await driver.stop();
    try {
      const { db } = stores.postgres;
      await renameTest(db, one.repository, { fromName: OLD, toName: NEW }, decided);
      const chunkOf = ({ course, repository }: typeof one) =>
        prepareChunk(
          makeJob({ repository: course.repository, receivedAt: TEST_NOW, source: 'late', executions: [{ name: NEW }] }),
          { repositoryId: repository.id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 },
        );
      const ledger = new Ledger({ ...stores, db });
      const write = async () =>
        (
          await ledger.write(
            [chunkOf(one), chunkOf(other)].map((chunk) => ({ ...chunk, uploadId: crypto.randomUUID() })),
          )
        ).map(({ error }) => error);
      expect(await write()).toEqual([expect.any(RepositoryMoving), undefined]);
      expect(await applyRenames(stores)).toBe(1);
      // Prepared before it was known: stored under the id of the new name alone, and moved when it is evaluated.
      expect(await write()).toEqual([undefined, undefined]);
      expect(await executionsOf(one.repository.id, NEW)).toEqual({ executions: 1, different: 1 });
    } finally {
      driver.start();
    }
    await driver.settle();
    await driver.renamer.run();
    await driver.settle();
    expect(await executionsOf(one.repository.id, NEW)).toEqual({ executions: 0, different: 0 });
    expect(await listRenames(ingest.stores.postgres.db, one.repository.id, EVERY_RENAME)).toMatchObject([
      { state: 'accepted', isApplied: true },
    ]);
    for (const { repository } of [one, other]) await expectConsistent(repository.id);
    await rebuild(ingest.stores);
    for (const { repository } of [one, other]) await expectConsistent(repository.id);
  });

  test('that can never be made ends: the rename is undone, and results of its repository are stored again', async () => {
    const { stores, driver } = ingest;
    const { db } = stores.postgres;
    const { repository, course } = await twoNames();
    const before = [await executionsOf(repository.id, OLD), await executionsOf(repository.id, NEW)];
    await driver.stop();
    try {
      const made = await renameTest(db, repository, { fromName: OLD, toName: NEW }, decided);
      if (typeof made === 'string') throw new Error(made);
      const find = async () => (await listRenames(db, repository.id, EVERY_RENAME))[0];
      const isOpen = async () => !(await closedAmong(db, [repository.id])).has(repository.id);
      const refused = { ...stores, clickhouse: cutAfter(stores.clickhouse, -1) };
      const outOfReach = {
        ...stores,
        clickhouse: {
          ...stores.clickhouse,
          isSharded: false,
          select: () => Promise.reject(new StoreUnavailable('clickhouse')),
        },
      };
      const tryWith = (deps: typeof stores) => applyRenames(deps).catch((error: unknown) => error);
      // An outage says nothing about the rename.
      for (let i = 0; i <= APPLY_TRIES_MAX; i++) expect(await tryWith(outOfReach)).toBeInstanceOf(StoreUnavailable);
      expect(await find()).toMatchObject({ state: 'accepted', isApplied: false, tries: 0 });
      for (let i = 0; i < APPLY_TRIES_MAX; i++) {
        expect(await find()).toMatchObject({ state: 'accepted', isApplied: false, tries: i });
        expect(await tryWith(refused)).toBeInstanceOf(CutOff);
      }
      expect(await find()).toMatchObject({
        state: 'undone',
        isApplied: false,
        decidedBy: 'rename that cannot be applied',
      });
      expect(await isOpen()).toBe(false);
      expect(await readFailedRenames(db, stores.clock.now())).toEqual({ count: 1, reason: 'the store refuses it' });
      expect(await applyRenames(stores)).toBe(1);
      expect(await find()).toMatchObject({ state: 'undone', isApplied: true, failure: 'the store refuses it' });
      expect(await isOpen()).toBe(true);
      expect([await executionsOf(repository.id, OLD), await executionsOf(repository.id, NEW)]).toEqual(before);

      // Accepted again, it is moved in part, and neither the rest nor to undo it succeeds: it is left, and nothing waits for it.
      await decideRename(db, repository, made.id, 'accepted', decided);
      expect(await find()).toMatchObject({ state: 'accepted', tries: 0, failure: null });
      expect(await tryWith({ ...stores, clickhouse: cutAfter(stores.clickhouse, 2) })).toBeInstanceOf(CutOff);
      for (let i = 1; i < 2 * APPLY_TRIES_MAX; i++) expect(await tryWith(refused)).toBeInstanceOf(CutOff);
      expect(await find()).toMatchObject({ state: 'undone', isApplied: true, failure: 'the store refuses it' });
      expect(await isOpen()).toBe(true);
      expect(await applyRenames(refused)).toBe(0);
    } finally {
      driver.start();
    }
    await course.ingest(course.run('after', { [OLD]: 'passed', [NEW]: 'passed' }));
    const rows = await stores.clickhouse.rows(
      `SELECT type, JSONExtractString(metadata, 'reason') AS reason FROM ci.events
       WHERE repository_id = {id: UUID} AND startsWith(type, 'test.rename') ORDER BY received_at, id`,
      { id: repository.id },
    );
    const undone = { type: 'test.rename.undone', reason: expect.stringContaining(`${APPLY_TRIES_MAX} times`) };
    expect(rows).toMatchObject([{ type: 'test.renamed' }, undone, { type: 'test.renamed' }, undone]);
    expect((await verify(stores, repository.id)).isConsistent).toBe(false);
    await rebuild(stores);
    await expectConsistent(repository.id);
  });

  test('takes quarantines of failure groups along, with the groups that the failures have then; undone, they stay', async () => {
    const { stores, driver } = ingest;
    const { db } = stores.postgres;
    const { repository, course } = await twoNames();
    const oldId = testIdOf(repository.id, OLD);
    /** By message. */
    const groupsOf = async (name: string): Promise<Map<string, string>> => {
      const testId = testIdOf(repository.id, name);
      const rows = await db.select().from(failureGroups).where(eq(failureGroups.testId, testId));
      return new Map(rows.map(({ exceptionMessage, failureId }) => [exceptionMessage, failureId]));
    };
    const groupOf = async (name: string, message: string): Promise<string> => {
      const found = (await groupsOf(name)).get(message);
      if (found === undefined) throw new Error(`${name} has no failure ${message}`);
      return found;
    };
    const quarantine = async (testName: string, message: string) => {
      const failureIds = [await groupOf(testName, message)];
      await stores.quarantines.create(
        repository.id,
        { testName, reason: message, branch: null, failureIds },
        decided.by,
      );
    };
    const shown = async () =>
      (await stores.quarantines.snapshot(repository.id)).quarantines
        .map(({ testId, testName, reason, failureIds }) => ({ testId, testName, reason, failureIds }))
        .sort((one, other) => (one.reason < other.reason ? -1 : 1));
    await quarantine(OLD, 'refused');
    await quarantine(NEW, 'timeout');
    const made = await renameTest(db, repository, { fromName: OLD, toName: NEW }, decided);
    if (typeof made === 'string') throw new Error(made);
    const apply = async () => {
      while (((await listRenames(db, repository.id, EVERY_RENAME))[0]?.isApplied ?? true) === false) {
        await driver.renamer.run();
        await driver.settle();
      }
    };
    await apply();
    const expected = [
      { testId: oldId, testName: NEW, reason: 'refused', failureIds: [await groupOf(OLD, 'refused')] },
      {
        testId: oldId,
        testName: NEW,
        reason: 'timeout',
        failureIds: expect.arrayContaining([await groupOf(OLD, 'timeout')]),
      },
    ];
    expect(await shown()).toMatchObject(expected);
    await expectConsistent(repository.id);
    // A failure that comes later belongs to the same group, so it is covered.
    await course.ingest(course.run('later', { [NEW]: 'failed' }, { message: 'timeout' }));
    expect([...(await groupsOf(OLD)).keys()].sort()).toEqual(['refused', 'timeout']);

    await decideRename(db, repository, made.id, 'undone', decided);
    await apply();
    expect(await shown()).toMatchObject(expected.map((one) => ({ ...one, testName: OLD })));
    expect([...(await groupsOf(NEW)).keys()].sort()).toEqual(['refused', 'timeout']);
    await expectConsistent(repository.id);
  });
});
