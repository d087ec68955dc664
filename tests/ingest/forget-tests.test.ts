/** Forgotten tests: everything of them goes from both stores, what others show follows, and only a new run brings them back. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { eq, getTableName, isNull } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../../src/clickhouse/client.ts';
import { byService } from '../../src/domain/audit.ts';
import { testIdOf } from '../../src/domain/identity.ts';
import type { Status } from '../../src/domain/status.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { forgetTests } from '../../src/maintenance/forget-tests.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { beginForgettingTests, findForgetting, forgettingsOf } from '../../src/postgres/forgotten-tests.ts';
import { doerOf } from '../../src/postgres/repository-changes.ts';
import { audit, ingestBlocks } from '../../src/postgres/schema.ts';
import { TABLES_BY_TEST } from '../../src/postgres/test-rows.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpApp } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { until } from '../support/patience.ts';
import { prepareChunk } from '../support/prepare.ts';
import { emptyStores, uniqueRepository } from '../support/stores.ts';
import { runOf } from '../support/verdicts.ts';

const ingest = setUpApp();
const BY = byService('a test');
const OTHERS = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`other ${i}`, 'passed' as const]));

beforeAll(async () => {
  await emptyStores(ingest.stores);
  ingest.stores.clock.set(TEST_NOW);
});

/** The repository as tests use it. */
async function repositoryWith(history: readonly Readonly<Record<string, Status>>[], path = uniqueRepository()) {
  const { stores, driver, app } = ingest;
  const run = (index: number, results: Readonly<Record<string, Status>>, attempt = 1) => {
    const at = TEST_NOW - 60 * DAY_MS + index * 3 * HOUR_MS;
    const branch = index % 4 === 3 ? { branch: 'topic', default_branch: 'main' } : { branch: 'main' };
    return runOf({
      ...{ repository: path, runId: String(index), attempt, at, receivedAt: at, results: { ...OTHERS, ...results } },
      run: { default_branch: 'main', commit: `commit-${index}`, ...branch },
    });
  };
  const jobs = history.map((results, index) => run(index, results));
  await driver.ingest(...jobs);
  const { id } = await stores.repositories.record(path);
  const base = `/v1/ci/${path.owner}/repositories/${path.name}`;
  const post = async (body: object, query = '') => {
    const response = await app.request(`${base}/tests/forget${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  };
  return { path, id, base, jobs, run, post, testId: (name: string) => testIdOf(id, name) };
}
type Repository = Awaited<ReturnType<typeof repositoryWith>>;

/** Flaky, and failing on a pull request, in two months. */
const FLAKY: Readonly<Record<string, Status>>[] = Array.from({ length: 24 }, (_, i) => ({
  gone: i % 3 === 0 ? 'failed' : 'passed',
  stays: i % 7 === 0 ? 'failed' : 'passed',
}));

async function untilForgotten({ id }: Pick<Repository, 'id'>): Promise<Readonly<Record<string, number>>> {
  const { stores, driver } = ingest;
  const [newest] = await until(
    async () => {
      await driver.deleter.run();
      return forgettingsOf(stores.postgres.db, id);
    },
    ([forgetting]) => forgetting?.finishedAt != null,
  );
  await driver.settle();
  return newest?.removed ?? {};
}

async function expectConsistent(): Promise<void> {
  const { isConsistent, checks } = await verify(ingest.stores);
  expect([checks.filter(({ count }) => count > 0), isConsistent]).toEqual([[], true]);
}

const countOf = z.array(z.object({ rows: z.coerce.number() }));

/** Rows of a test in every table that names tests, of both stores. */
async function rowsOf(testId: string): Promise<Record<string, number>> {
  const { postgres, clickhouse } = ingest.stores;
  const left: Record<string, number> = {};
  const { rows: tables } = await postgres.pool.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = 'ci_insights' and column_name = 'test_id' and table_name <> 'forgotten_executions'`,
  );
  for (const { name } of tables) {
    const { rows } = await postgres.pool.query(`select count(*) as rows from ci_insights.${name} where test_id = $1`, [
      testId,
    ]);
    left[name] = countOf.parse(rows)[0]?.rows ?? 0;
  }
  for (const table of ['executions', 'failures'])
    left[table] =
      countOf.parse(
        await clickhouse.rows(`SELECT count() AS rows FROM ci.${table} WHERE test_id = {id: UUID}`, { id: testId }),
      )[0]?.rows ?? 0;
  return Object.fromEntries(Object.entries(left).filter(([, rows]) => rows > 0));
}

/** What the repository shows, as clients see it. */
async function shownOf({ base, testId }: Repository) {
  const { app } = ingest;
  const { tests } = await app.get<{ tests: { test_name: string }[] }>(`${base}/search/tests?test_name=*&per_page=100`);
  const details = async (name: string) => (await app.request(`${base}/tests/${testId(name)}`)).status;
  const stays = await app.get(`${base}/tests/${testId('stays')}`);
  const runs = await app.get<{ runs: unknown[] }>(`${base}/runs?per_page=100`);
  return { names: tests.map((one) => one.test_name).toSorted(), gone: await details('gone'), stays, runs: runs.runs };
}

const asked = (repository: Repository, ...names: string[]) =>
  ingest.stores.postgres.db.transaction((tx) =>
    beginForgettingTests(
      tx,
      { id: repository.id, ...repository.path },
      names.map((name) => ({ testId: repository.testId(name), name })),
      BY,
      ingest.stores.clock.now(),
    ),
  );

describe('a forgotten test', () => {
  test('is gone from every table of both stores, and the repository is as if it had never run', async () => {
    const { stores } = ingest;
    const repository = await repositoryWith(FLAKY);
    const never = await repositoryWith(FLAKY.map(({ stays }) => ({ stays: stays ?? 'passed' })));
    const before = await rowsOf(repository.testId('gone'));
    expect(Object.keys(before)).toEqual(expect.arrayContaining(['executions', 'failures', 'identities', 'tests']));
    const answer = await repository.post({ test_ids: [repository.testId('gone')] });
    expect([answer.status, answer.body]).toMatchObject([202, { count: 1, finished_at: null, is_more: false }]);
    const removed = await untilForgotten(repository);
    expect(await rowsOf(repository.testId('gone'))).toEqual({});
    const { cause_days: _days, cause_groups: _groups, ...certain } = before;
    expect(removed).toMatchObject(certain);
    expect(removed.executions).toBe(24);
    const plain = (text: unknown, { path, id, testId }: Repository) =>
      JSON.parse(
        JSON.stringify(text)
          .replaceAll(path.owner, 'owner')
          .replaceAll(path.name, 'name')
          .replaceAll(id, 'id')
          .replaceAll(testId('stays'), 'stays'),
      );
    const [is, wanted] = [await shownOf(repository), await shownOf(never)];
    expect(is.names).toEqual(wanted.names);
    expect(is.gone).toBe(404);
    expect(plain(is.stays, repository)).toEqual(plain(wanted.stays, never));
    expect(is.runs).toHaveLength(wanted.runs.length);
    await expectConsistent();
    await rebuild(stores);
    expect(await rowsOf(repository.testId('gone'))).toEqual({});
    expect(await shownOf(repository)).toEqual(is);
    await expectConsistent();
  });

  test('counts in its receipt once, also where others go with it in several statements', async () => {
    const { driver, stores } = ingest;
    const path = uniqueRepository();
    const names = Array.from({ length: 2_100 }, (_, i) => `t${i}`);
    const at = TEST_NOW - DAY_MS;
    const results = Object.fromEntries(names.map((name) => [name, 'failed' as const]));
    const run = { default_branch: 'main', commit: 'one', branch: 'main' };
    await driver.ingest(runOf({ repository: path, runId: '1', attempt: 1, at, receivedAt: at, results, run }));
    const { id } = await stores.repositories.record(path);
    await stores.postgres.db.transaction((tx) =>
      beginForgettingTests(
        tx,
        { id, ...path },
        names.map((name) => ({ testId: testIdOf(id, name), name })),
        BY,
        stores.clock.now(),
      ),
    );
    const { executions, failures } = await untilForgotten({ id });
    expect([executions, failures]).toEqual([2_100, 2_100]);
  });

  test('does not come back with the same reports, whose receipts stay; a new run begins it as a new test', async () => {
    const { stores, driver, app } = ingest;
    const repository = await repositoryWith(FLAKY);
    await asked(repository, 'gone');
    await untilForgotten(repository);
    const again = repository.jobs.map((job) => ({ ...job, upload_id: crypto.randomUUID() }));
    await driver.ingest(...again);
    expect(await rowsOf(repository.testId('gone'))).toEqual({});
    const { owner, name } = repository.path;
    for (const job of [repository.jobs[0], again[0]])
      expect(await stores.receipts.find(owner, name, job?.upload_id ?? '')).toMatchObject({ status: 'stored' });
    expect(await stores.receipts.find(owner, name, again[0]?.upload_id ?? '')).toMatchObject({ accepted: 0 });
    await expectConsistent();
    await driver.ingest(repository.run(100, { gone: 'passed' }));
    expect(await app.get(`${repository.base}/tests/${repository.testId('gone')}`)).toMatchObject({
      health_status: 'healthy',
      first_failure_at: null,
      last_failure_at: null,
    });
    await expectConsistent();
    // And is forgotten once more.
    await asked(repository, 'gone');
    expect(await untilForgotten(repository)).toMatchObject({ executions: 1 });
    expect(await rowsOf(repository.testId('gone'))).toEqual({});
    await expectConsistent();
  });

  test('takes its renames along: its later name is that of a new test', async () => {
    const { app, driver } = ingest;
    const repository = await repositoryWith([{ gone: 'failed' }, { gone: 'passed' }, { later: 'passed' }]);
    const renamed = await app.request(`${repository.base}/renames`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ test_name: 'gone', new_name: 'later' }),
    });
    expect(renamed.status).toBe(201);
    await driver.renamer.run();
    await driver.settle();
    expect((await rowsOf(repository.testId('gone'))).executions).toBe(3);
    await asked(repository, 'gone');
    await untilForgotten(repository);
    expect(await rowsOf(repository.testId('gone'))).toEqual({});
    expect(await app.get(`${repository.base}/renames`)).toMatchObject({ renames: [] });
    await Bun.sleep(1_100);
    await driver.ingest(repository.run(100, { later: 'passed' }));
    expect(await app.get(`${repository.base}/tests/${repository.testId('later')}`)).toMatchObject({
      test_name: 'later',
    });
    await expectConsistent();
  });

  test('stays while it is quarantined, also if that came after the request', async () => {
    const { stores } = ingest;
    const repository = await repositoryWith(FLAKY);
    const quarantine = (testName: string) =>
      stores.quarantines.create(repository.id, { testName, reason: 'r', branch: null }, doerOf(BY));
    await quarantine('gone');
    const { id } = await asked(repository, 'gone', 'stays');
    const removed = await untilForgotten(repository);
    expect([removed.executions, removed.tests]).toEqual([24, 1]);
    expect((await findForgetting(stores.postgres.db, id))?.testIds).toEqual([repository.testId('stays')]);
    expect((await rowsOf(repository.testId('gone'))).executions).toBe(24);
    expect(await repository.post({ test_ids: [repository.testId('gone')] })).toMatchObject({ status: 409 });
    await expectConsistent();
  });

  test('is two entries of the trail: that it was asked for, and what was removed', async () => {
    const { stores } = ingest;
    const repository = await repositoryWith(FLAKY);
    await asked(repository, 'gone');
    await untilForgotten(repository);
    const entries = await stores.postgres.db.select().from(audit).where(eq(audit.objectId, repository.id));
    const told = entries.filter(({ action }) => action.startsWith('tests.'));
    expect(told.map(({ action, actorName }) => [action, actorName])).toEqual([
      ['tests.forget', 'a test'],
      ['tests.forgotten', 'tests forgotten by a test'],
    ]);
    expect(JSON.parse(told[0]?.before ?? '')).toMatchObject({ tests: 1, names: ['gone'] });
    expect(JSON.parse(told[1]?.after ?? '')).toMatchObject({ tests: 1, executions: 24 });
  });
});

test('what has not run since a moment is found on any branch, and a dry run changes nothing', async () => {
  const { app } = ingest;
  const path = uniqueRepository();
  const history: Readonly<Record<string, Status>>[] = FLAKY.map((results, i) =>
    i < 12 ? { ...results, topical: 'passed' as const } : { stays: 'passed' as const },
  );
  // Off the default branch only.
  history[23] = { stays: 'passed', topical: 'passed' };
  const repository = await repositoryWith(history, path);
  const since = new Date(TEST_NOW - 60 * DAY_MS + 20 * 3 * HOUR_MS).toISOString();
  const looked = await repository.post({ not_run_since: since }, '?dry_run=true');
  expect(looked).toMatchObject({
    status: 200,
    body: {
      count: 1,
      tests: [{ test_name: 'gone' }],
      quarantined: { count: 0 },
      is_more: false,
      rows: { executions: 12, tests: 1 },
    },
  });
  expect((await app.request(`${repository.base}/tests/${repository.testId('gone')}`)).status).toBe(200);
  expect(await repository.post({ not_run_since: new Date(TEST_NOW - 90 * DAY_MS).toISOString() })).toMatchObject({
    status: 404,
  });
  expect(await repository.post({})).toMatchObject({ status: 422 });
  expect(await repository.post({ not_run_since: since })).toMatchObject({ status: 202 });
  expect((await untilForgotten(repository)).executions).toBe(12);
  await expectConsistent();
});

test('what ran on no default branch is forgotten as well: by its id, once it has not run for some time, and not while quarantined', async () => {
  const { stores } = ingest;
  // Each fourth run is off the default branch.
  const off = (results: Readonly<Record<string, Status>>) => [{}, {}, {}, results];
  const repository = await repositoryWith([
    ...off({ early: 'failed', named: 'passed', kept: 'failed' }),
    ...off({ named: 'passed', late: 'passed' }),
    ...off({ late: 'failed' }),
  ]);
  await stores.quarantines.create(repository.id, { testName: 'kept', reason: 'r', branch: null }, doerOf(BY));
  const ids = { test_ids: [repository.testId('named'), repository.testId('kept'), repository.testId('never ran')] };
  expect(await repository.post(ids, '?dry_run=true')).toMatchObject({
    status: 200,
    body: {
      ...{ count: 1, tests: [{ test_name: 'named' }], rows: { executions: 2 } },
      quarantined: { count: 1, tests: [{ test_name: 'kept' }] },
    },
  });
  expect(await repository.post(ids)).toMatchObject({ status: 202, body: { count: 1 } });
  expect(await untilForgotten(repository)).toMatchObject({ executions: 2 });
  expect(await rowsOf(repository.testId('named'))).toEqual({});
  const since = new Date(TEST_NOW - 60 * DAY_MS + 9 * 3 * HOUR_MS).toISOString();
  expect(await repository.post({ not_run_since: since }, '?dry_run=true')).toMatchObject({
    status: 200,
    body: {
      count: 1,
      tests: [{ test_name: 'early' }],
      quarantined: { count: 1 },
      rows: { executions: 1, failures: 1 },
    },
  });
  expect(await repository.post({ not_run_since: since })).toMatchObject({ status: 202 });
  expect(await untilForgotten(repository)).toMatchObject({ executions: 1, failures: 1 });
  expect(await rowsOf(repository.testId('early'))).toEqual({});
  expect((await rowsOf(repository.testId('late'))).executions).toBe(2);
  await expectConsistent();
});

test('a rule of the repository forgets what has not run for so many days, once its executions have left as well as before', async () => {
  const { stores, driver } = ingest;
  const path = uniqueRepository();
  const repository = await repositoryWith(
    [{ gone: 'failed', kept: 'failed' }, { gone: 'passed' }, { stays: 'passed' }],
    path,
  );
  const known = await stores.repositories.record(path);
  await stores.quarantines.create(repository.id, { testName: 'kept', reason: 'r', branch: null }, doerOf(BY));
  const names = async () => {
    const { rows } = await stores.postgres.pool.query<{ name: string }>(
      "select name from ci_insights.tests where repository_id = $1 and name not like 'other%' order by name",
      [repository.id],
    );
    return rows.map(({ name }) => name);
  };
  const dayAfter = async (days: number) => {
    stores.clock.set(TEST_NOW + days * DAY_MS);
    await driver.retention.run();
    await driver.deleter.run();
    await driver.settle();
  };
  // Without the rule, names outlive their executions.
  await dayAfter(130);
  expect(await names()).toEqual(['gone', 'kept', 'stays']);
  const at = stores.clock.now();
  await driver.ingest(
    makeJob({
      repository: path,
      receivedAt: at,
      source: 'new',
      executions: [{ name: 'stays', at }],
      run: { default_branch: 'main', branch: 'main' },
    }),
  );
  await stores.repositories.set(known, { forgetTestsAfterDays: 60 }, 'a test');
  await dayAfter(131);
  expect(await names()).toEqual(['kept', 'stays']);
  await driver.verify();
  const [receipt] = await forgettingsOf(stores.postgres.db, repository.id);
  expect(receipt?.requestedBy).toBe('not run for 60 days');
  // Nothing more is asked for.
  await dayAfter(132);
  expect(await forgettingsOf(stores.postgres.db, repository.id)).toHaveLength(1);
  // Also while its executions are retained.
  await dayAfter(192);
  expect(await names()).toEqual(['kept']);
  await driver.verify();
  stores.clock.set(TEST_NOW);
});

describe('a block that is not stored', () => {
  const chunkOf = ({ id, jobs }: Repository, index: number, runId: string) => {
    const [job] = jobs.slice(index);
    if (!job) throw new Error('there is no such job');
    return prepareChunk(
      { ...job, upload_id: crypto.randomUUID(), run: { ...job.run, run_id: runId }, sources: [runId] },
      { repositoryId: id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 },
    );
  };

  /** Writes a chunk with a ClickHouse that does not answer, before or after it has taken the block. */
  async function writeUnstored(repository: Repository, hasTaken: boolean): Promise<Ledger> {
    const { stores } = ingest;
    const { db } = stores.postgres;
    const away = {
      ...stores.clickhouse,
      insert: async (...insert: Parameters<ClickHouse['insert']>) => {
        if (hasTaken) await stores.clickhouse.insert(...insert);
        throw new Error('away');
      },
    } as ClickHouse;
    const { clock } = stores;
    await expect(
      new Ledger({ db, clickhouse: away, clock }).write([chunkOf(repository, 0, `unstored ${hasTaken}`)]),
    ).rejects.toThrow('away');
    return new Ledger({ db, clickhouse: stores.clickhouse, clock });
  }

  const replay = async (ledger: Ledger) => {
    const { db } = ingest.stores.postgres;
    const [unstored] = await db.select().from(ingestBlocks).where(isNull(ingestBlocks.storedAt));
    await ledger.replay(unstored?.blockId ?? 0);
  };

  test('is waited for if ClickHouse has it: what was removed of it would be counted', async () => {
    const { stores, driver } = ingest;
    const repository = await repositoryWith(FLAKY);
    await driver.stop();
    const ledger = await writeUnstored(repository, true);
    await asked(repository, 'gone');
    expect(await forgetTests(stores)).toBe(1);
    expect((await rowsOf(repository.testId('gone'))).executions).toBe(25);
    await replay(ledger);
    expect(await forgetTests(stores)).toBe(0);
    driver.start();
    await driver.settle();
    expect(await rowsOf(repository.testId('gone'))).toEqual({});
    await expectConsistent();
  });

  test('is not waited for otherwise, and begins the test again', async () => {
    const { stores, driver } = ingest;
    const repository = await repositoryWith(FLAKY);
    await driver.stop();
    const ledger = await writeUnstored(repository, false);
    await asked(repository, 'gone');
    expect(await forgetTests(stores)).toBe(0);
    expect(await rowsOf(repository.testId('gone'))).toEqual({});
    await replay(ledger);
    driver.start();
    await driver.settle();
    expect(await rowsOf(repository.testId('gone'))).toMatchObject({ executions: 1, tests: 1, identities: 1 });
    await expectConsistent();
  });
});

test('forgetting that is cut off before or after commands of ClickHouse continues; verify leaves it out meanwhile', async () => {
  const { stores, driver } = ingest;
  await emptyStores(stores);
  const whole = await repositoryWith(FLAKY);
  await asked(whole, 'gone');
  const expected = await untilForgotten(whole);
  let cuts = 0;
  for (let cut = 1; ; cut += 4) {
    const repository = await repositoryWith(FLAKY);
    await driver.stop();
    await asked(repository, 'gone');
    let steps = 0;
    const step = () => {
      if (++steps === cut) throw new Error('killed');
    };
    const dying = {
      ...stores.clickhouse,
      select: stores.clickhouse.select.bind(stores.clickhouse),
      command: async (...command: Parameters<ClickHouse['command']>) => {
        step();
        await stores.clickhouse.command(...command);
        step();
      },
      fill: async (...fill: Parameters<ClickHouse['fill']>) => {
        step();
        await stores.clickhouse.fill(...fill);
        step();
      },
    } as ClickHouse;
    const ended = await forgetTests({ ...stores, clickhouse: dying }).then(
      () => 'done',
      () => 'killed',
    );
    if (ended === 'killed') await expectConsistent();
    driver.start();
    const removed = await untilForgotten(repository);
    expect([cut, removed.executions, removed.failures, removed.tests]).toEqual([
      ...[cut, expected.executions, expected.failures, expected.tests],
    ]);
    expect(await rowsOf(repository.testId('gone'))).toEqual({});
    await driver.verify();
    if (ended === 'done') break;
    cuts++;
  }
  expect(cuts).toBeGreaterThan(2);
  await expectConsistent();
});

test('every table of PostgreSQL that names a test is known', async () => {
  const { rows } = await ingest.stores.postgres.pool.query<{ name: string }>(
    "select table_name as name from information_schema.columns where table_schema = 'ci_insights' and column_name = 'test_id'",
  );
  // What is claimed, but no longer stored.
  const known = [...TABLES_BY_TEST.map((table) => getTableName(table)), 'forgotten_executions'];
  expect(rows.map(({ name }) => name).toSorted()).toEqual(known.toSorted());
});
