import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { ClickHouse } from '../../src/clickhouse/client.ts';
import { testIdOf } from '../../src/domain/identity.ts';
import { dayOf } from '../../src/domain/time.ts';
import { readChangedFiles, writeChangedFiles } from '../../src/postgres/changed-files.ts';
import { ALWAYS_AGREED } from '../../src/postgres/clock-watch.ts';
import { commitRecords, ingestBlocks, repositoryDays } from '../../src/postgres/schema.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { MONTHLY_TABLES, Retention } from '../../workers/retention.ts';
import { TEST_NOW } from '../support/clock.ts';
import { followPages, keyOfShown, labelled, logOf, makeEventsJob } from '../support/events.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { emptyStores, uniqueRepository } from '../support/stores.ts';
import { flakyOf, PASSING, runOf } from '../support/verdicts.ts';

const ingest = setUpIngest({ isAlone: true });
let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
beforeEach(() => app.stores.clock.set(TEST_NOW));

const at = (day: string): number => Date.parse(`${day}T12:00:00Z`);

describe('with the clock moved past retention', () => {
  test('whole months are dropped, totals count what is left, and first failure and health are kept', async () => {
    const { driver } = ingest;
    const repository = uniqueRepository();
    const base = `/v1/ci/${repository.owner}/repositories/${repository.name}`;
    const { id } = await app.stores.repositories.record(repository);
    const run = (day: string, status: 'passed' | 'failed', commit: string) =>
      makeJob({
        repository,
        receivedAt: at(day),
        source: day,
        run: { run_id: day, commit },
        executions: [
          {
            name: 'kept',
            key: 'kept',
            status,
            at: at(day),
            failures: status === 'failed' ? [{ type: 'E', message: `on ${day}` }] : [],
          },
          ...(day < '2026-10' ? ['gone', ...Object.keys(PASSING)] : []).map((name) => ({
            name,
            key: name,
            at: at(day),
          })),
        ],
      });
    await driver.ingest(
      run('2026-09-10', 'failed', 'first'),
      run('2026-09-20', 'passed', 'second'),
      run('2026-11-10', 'failed', 'third'),
    );

    const kept = `${base}/tests/${testIdOf(id, 'kept')}`;
    const gone = `${base}/tests/${testIdOf(id, 'gone')}`;
    const { db } = app.stores.postgres;
    for (const [commit, sent] of [
      ['first', '2026-09-10'],
      ['third', '2026-11-10'],
    ] as const)
      await writeChangedFiles(db, { repositoryId: id, commit }, { paths: ['a.ts'], isConfined: false }, at(sent));
    expect(await app.get(kept)).toMatchObject({ first_failure_commit: 'first', health_status: 'flaky' });
    expect(await app.get(gone)).toMatchObject({ health_status: 'healthy' });

    // September's last day is 90 days old on December 30.
    app.stores.clock.set(at('2027-01-02'));
    expect(await driver.retention.run()).toContain(202609);
    await driver.verify();
    expect([...(await readChangedFiles(db, id, ['first', 'third'])).keys()]).toEqual(['third']);
    const recorded = await db.select().from(commitRecords);
    expect(recorded.map(({ commitSha }) => commitSha)).toEqual(['third']);
    const days = await db.select().from(repositoryDays);
    expect(Math.min(...days.map(({ day }) => day))).toBe(dayOf(at('2026-11-10')));

    const details = await app.get(kept);
    expect(details).toMatchObject({
      first_failure_at: '2026-09-10T12:00:00.000Z',
      first_failure_commit: 'first',
      health_status: 'flaky',
    });
    expect(details).toMatchObject({ last_success_at: null, failure_ratio: 0, success_ratio: 0 });
    expect((await app.request(gone)).status).toBe(404);
    expect(await app.get(`${base}/search/tests?test_name=*`)).toMatchObject({ size: 1 });
    expect(await app.get(`${kept}/failures`)).toMatchObject({
      failures: [{ exception_message: 'on 2026-11-10', failure_count: 1 }],
    });
    expect(await app.get(`${kept}/executions?start=2026-09-01T00:00:00Z&end=2027-01-01T00:00:00Z`)).toMatchObject({
      executions: [{ executions_count: 1 }],
    });
  });

  test('a run that is cut off between two tables is completed by the next', async () => {
    const { driver, stores } = ingest;
    const repository = uniqueRepository();
    const execution = { name: 'kept', at: at('2026-09-10') };
    await driver.ingest(
      makeJob({ repository, receivedAt: at('2026-09-10'), source: '9', executions: [execution] }),
      makeJob({ repository, receivedAt: at('2026-11-10'), source: '11', executions: [{ name: 'kept' }] }),
    );
    stores.clock.set(at('2027-01-02'));
    const { clickhouse, postgres, quarantines, clock, log } = stores;
    const dying = {
      ...clickhouse,
      command: async (...command: Parameters<ClickHouse['command']>) => {
        await clickhouse.command(...command);
        if (command[0].includes('ci.executions DROP PARTITION')) throw new Error('killed');
      },
    } as ClickHouse;
    const deps = {
      db: postgres.db,
      quarantines,
      clock,
      clockAgreement: ALWAYS_AGREED,
      retentionDays: 90,
      auditRetentionDays: 365,
      claimDays: undefined,
      log,
    };
    await expect(new Retention({ ...deps, clickhouse: dying }).run()).rejects.toThrow('killed');
    await driver.retention.run();
    await driver.verify();
  });

  test('what ran only in the dropped month, hours before its end, keeps its health too', async () => {
    const { driver } = ingest;
    const repository = uniqueRepository();
    const { id } = await app.stores.repositories.record(repository);
    const run = (day: string, attempt: number, status: 'passed' | 'failed') =>
      runOf({ repository, runId: day, attempt, at: at(day), receivedAt: at(day), results: { ...PASSING, t: status } });
    await driver.ingest(run('2026-09-10', 1, 'failed'), run('2026-09-10', 2, 'passed'));
    app.stores.clock.set(at('2027-01-02'));
    await driver.retention.run();
    await driver.ingest(run('2027-01-01', 1, 'passed'));
    const details = `/v1/ci/${repository.owner}/repositories/${repository.name}/tests/${testIdOf(id, 't')}`;
    expect(await app.get(details)).toMatchObject({ health_status: 'flaky' });
    await driver.verify();
  });

  test('claims leave with their month, and blocks with their last claim', async () => {
    const { driver } = ingest;
    const { postgres } = app.stores;
    app.stores.clock.set(TEST_NOW);
    await emptyStores(app.stores);
    const repository = uniqueRepository();
    const run = (days: readonly string[]) =>
      makeJob({
        repository,
        receivedAt: at(days.at(-1) ?? ''),
        source: days.join(),
        run: { run_id: days.join() },
        executions: days.map((day) => ({ name: day, key: day, at: at(day) })),
      });
    const gone = run(['2026-09-10', '2026-09-11']);
    const both = run(['2026-09-29', '2026-10-02']);
    for (const job of [gone, both]) await driver.ingest(job);
    const claims = async () =>
      (
        await postgres.pool.query(
          'select month, length(ids) / 8 as executions from ci_insights.ingest_claims order by 1',
        )
      ).rows;
    expect(await claims()).toEqual([
      { month: 202609, executions: 2 },
      { month: 202609, executions: 1 },
      { month: 202610, executions: 1 },
    ]);

    app.stores.clock.set(at('2027-01-02'));
    await driver.retention.run();
    expect(await claims()).toEqual([{ month: 202610, executions: 1 }]);
    expect(await postgres.db.$count(ingestBlocks)).toBe(1);

    // Late resends: what has left is refused, what is kept is known.
    for (const job of [gone, both]) {
      const again = { ...job, upload_id: crypto.randomUUID() };
      await driver.ingest(again);
      expect(await app.stores.receipts.find(repository.owner, repository.name, again.upload_id)).toMatchObject(
        job === gone ? { accepted: 0, duplicate: 0, rejected: 2 } : { accepted: 0, duplicate: 1, rejected: 1 },
      );
    }
    await driver.verify();
  });

  test('events leave after the days of their repository, where these are fewer; others keep theirs', async () => {
    const { driver, stores } = ingest;
    const [short, long] = [uniqueRepository(), uniqueRepository()];
    for (const day of ['2026-11-10', '2026-11-14', '2026-11-20']) {
      app.stores.clock.set(at(day));
      for (const repository of [short, long])
        await stores.producers.of(prEvents).add(makeEventsJob(repository, [labelled(day)]), crypto.randomUUID());
      await driver.settle();
    }
    const known = await app.stores.repositories.record(short);
    await app.stores.repositories.set(known, { eventRetentionDays: 7 }, 'a test');
    await driver.settle();
    const kept = async ({ owner, name }: typeof short) => {
      const pages = await followPages(
        app,
        logOf({ owner, name }, '?received_from=2026-11-01T00:00:00Z&event_type=action.label'),
        'next',
      );
      return pages.flat().map(keyOfShown).toSorted();
    };
    // The whole of the 14th is less than seven days and a day old.
    app.stores.clock.set(at('2026-11-21'));
    await driver.retention.run();
    expect(await kept(short)).toEqual(['2026-11-14', '2026-11-20']);
    app.stores.clock.set(at('2026-11-22'));
    await driver.retention.run();
    expect(await kept(short)).toEqual(['2026-11-20']);
    expect(await kept(long)).toEqual(['2026-11-10', '2026-11-14', '2026-11-20']);
  });

  test('a receipt is kept for a month, and what it describes stays', async () => {
    const { driver } = ingest;
    const repository = uniqueRepository();
    const upload = makeJob({ repository, receivedAt: TEST_NOW, executions: [{ name: 't' }] });
    await driver.ingest(upload);
    const receipt = () => app.stores.receipts.find(repository.owner, repository.name, upload.upload_id);
    app.stores.clock.set(TEST_NOW + 29 * 86_400_000);
    await driver.retention.run();
    expect(await receipt()).toMatchObject({ status: 'stored' });
    app.stores.clock.set(TEST_NOW + 31 * 86_400_000);
    await driver.retention.run();
    expect(await receipt()).toBeNull();
    expect(
      await app.get(`/v1/ci/${repository.owner}/repositories/${repository.name}/search/tests?test_name=t`),
    ).toMatchObject({ size: 1 });
    await driver.verify();
  });

  test('a late execution is judged from the health that was kept, and one of a dropped month is refused', async () => {
    const { driver } = ingest;
    const repository = uniqueRepository();
    const { id } = await app.stores.repositories.record(repository);
    const run = (day: string, attempt: number, status: 'passed' | 'failed') =>
      runOf({
        ...{ repository, runId: day, attempt, at: at(day), receivedAt: at('2026-11-20') },
        results: { ...PASSING, t: status },
      });
    await driver.ingest(run('2026-09-10', 1, 'failed'), run('2026-09-10', 2, 'passed'), run('2026-11-10', 1, 'passed'));
    app.stores.clock.set(at('2027-01-02'));
    await driver.retention.run();

    const details = `/v1/ci/${repository.owner}/repositories/${repository.name}/tests/${testIdOf(id, 't')}`;
    expect(await app.get(details)).toMatchObject({ health_status: 'flaky' });
    expect(await flakyOf(app.stores, repository)).toEqual([]);
    // If a test is known to be flaky, one failure counts as flaky at once.
    const late = run('2026-11-01', 1, 'failed');
    const refused = run('2026-09-15', 1, 'failed');
    await driver.ingest(late, refused);
    expect(await app.get(details)).toMatchObject({ health_status: 'flaky' });
    expect(await flakyOf(app.stores, repository)).toEqual(['t 2026-11-01#1']);
    expect(await app.stores.receipts.find(repository.owner, repository.name, refused.upload_id)).toMatchObject({
      accepted: 0,
      rejected: 31,
    });
    await driver.verify();
  });

  test('events are dropped with their month, and one that is resent after that is a new event', async () => {
    const { driver } = ingest;
    const repository = uniqueRepository();
    const { clock, producers } = app.stores;
    const send = async (key: string, day: string) => {
      clock.set(at(day));
      await producers.of(prEvents).add(makeEventsJob(repository, [labelled(key)]));
      await driver.settle();
    };
    await send('old', '2026-09-10');
    await send('new', '2026-11-10');
    clock.set(at('2027-01-02'));
    await driver.retention.run();
    const keys = async () => {
      const window = `?received_from=2026-10-02T00:00:00Z&received_to=${new Date(clock.now() + 1).toISOString()}`;
      return (await followPages(app, logOf(repository, window), 'next')).flat().map(keyOfShown);
    };
    const september = '?received_from=2026-09-01T00:00:00Z&received_to=2026-10-01T00:00:00Z';
    expect((await followPages(app, logOf(repository, september), 'next')).flat()).toEqual([]);
    expect(await keys()).toEqual(['new']);
    await send('new', '2027-01-02');
    expect(await keys()).toEqual(['new']);
    await send('old', '2027-01-02');
    expect(await keys()).toEqual(['old', 'new']);
  });
});

describe('the retention loop', () => {
  test('never runs twice at once, and stopping waits for the current run', async () => {
    const { clickhouse, postgres, quarantines, clock, log } = app.stores;
    const reads: PromiseWithResolvers<unknown[]>[] = [];
    const slow: ClickHouse = {
      ...clickhouse,
      rows: () => {
        const read = Promise.withResolvers<unknown[]>();
        reads.push(read);
        return read.promise;
      },
    };
    const retention = new Retention({
      clickhouse: slow,
      db: postgres.db,
      quarantines,
      clock,
      clockAgreement: ALWAYS_AGREED,
      retentionDays: 90,
      auditRetentionDays: 365,
      claimDays: undefined,
      log,
    });
    for (let i = 0; i < 3; i++) retention.loop.wake();
    await Bun.sleep(10);
    expect(reads).toHaveLength(1);
    let isStopped = false;
    const stopped = retention.loop.stop().then(() => {
      isStopped = true;
    });
    await Bun.sleep(10);
    expect(isStopped).toBe(false);
    reads[0]?.resolve([]);
    await stopped;
    expect(reads).toHaveLength(1);
  });

  test('every partitioned table is dropped by month, so that none is forgotten', async () => {
    const rows = await app.stores.clickhouse.rows(
      "SELECT name FROM system.tables WHERE database = 'ci' AND partition_key != '' AND name NOT LIKE '%\\_rebuild' ORDER BY name",
    );
    expect(rows).toEqual([...MONTHLY_TABLES].sort().map((name) => ({ name })));
  });
});
