/** A repository that keeps executions for fewer days than the installation: what leaves, what stays, and that nothing differs. */
import { afterAll, beforeEach, expect, test } from 'bun:test';
import { z } from 'zod';
import type { ClickHouse } from '../../src/clickhouse/client.ts';
import { testIdOf } from '../../src/domain/identity.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { rebuild } from '../../src/maintenance/rebuild.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { ALWAYS_AGREED } from '../../src/postgres/clock-watch.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { Retention } from '../../workers/retention.ts';
import { TEST_NOW } from '../support/clock.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { setUpApp } from '../support/ingest.ts';
import { emptyStores, uniqueRepository } from '../support/stores.ts';
import { PASSING, runOf } from '../support/verdicts.ts';

const ingest = setUpApp();
const at = (day: string): number => Date.parse(`${day}T12:00:00Z`);
type Path = ReturnType<typeof uniqueRepository>;

// A clock that moves back would be wrong for what an earlier test has left.
beforeEach(async () => {
  await emptyStores(ingest.stores);
  ingest.stores.clock.set(at('2026-11-21'));
});
afterAll(() => ingest.stores.clock.set(TEST_NOW));

/** Flaky on the default branch and off it, from September to November. */
const DAYS = ['2026-09-08', '2026-09-29', '2026-10-02', '2026-10-20', '2026-11-05', '2026-11-20'];

function runsOf(repository: Path) {
  return DAYS.flatMap((day, index) =>
    [1, 2].map((attempt) =>
      runOf({
        ...{
          repository,
          runId: day,
          attempt,
          at: at(day) + attempt * HOUR_MS,
          receivedAt: at(day) + attempt * HOUR_MS,
        },
        results: { ...PASSING, t: attempt === 1 ? 'failed' : 'passed', [`month ${day.slice(0, 7)}`]: 'failed' },
        run: { commit: `commit-${index}`, default_branch: 'main', branch: index % 2 === 0 ? 'main' : 'topic' },
      }),
    ),
  );
}

async function filled(path = uniqueRepository()): Promise<{ path: Path; id: string }> {
  const { stores, driver } = ingest;
  await driver.ingest(...runsOf(path));
  for (const day of DAYS) {
    stores.clock.set(at(day));
    await stores.producers.of(prEvents).add(makeEventsJob(path, [labelled(day)]), crypto.randomUUID());
    await driver.settle();
  }
  stores.clock.set(at('2026-11-21'));
  return { path, id: (await stores.repositories.record(path)).id };
}

async function keepFor({ path }: { path: Path }, executionRetentionDays: number | null): Promise<void> {
  const { repositories } = ingest.stores;
  await repositories.set(await repositories.record(path), { executionRetentionDays }, 'a test');
}

const counted = z.array(z.object({ month: z.number(), rows: z.coerce.number() }));

/** Rows by month, in each table of ClickHouse and in the claims. */
async function monthsOf(id: string): Promise<Record<string, number[]>> {
  const { clickhouse, postgres } = ingest.stores;
  const months: Record<string, number[]> = {};
  const times = {
    executions: 'finished_at',
    failures: 'failed_at',
    runs: 'day',
    commit_runs: 'day',
    events: 'received_at',
  };
  for (const [table, time] of Object.entries(times))
    months[table] = counted
      .parse(
        await clickhouse.rows(
          `SELECT toYYYYMM(${time}) AS month, count() AS rows FROM ci.${table} WHERE repository_id = {id: UUID} GROUP BY month ORDER BY month`,
          { id },
        ),
      )
      .map(({ month }) => month);
  const { rows } = await postgres.pool.query(
    'select distinct month from ci_insights.ingest_claims where repository_id = $1 order by month',
    [id],
  );
  months.claims = z
    .array(z.object({ month: z.number() }))
    .parse(rows)
    .map(({ month }) => month);
  return months;
}
const only = (...months: number[]) => ({
  ...{ executions: months, failures: months, runs: months, commit_runs: months, events: months, claims: months },
});

async function expectConsistent(): Promise<void> {
  const { isConsistent, checks } = await verify(ingest.stores);
  expect([checks.filter(({ count }) => count > 0), isConsistent]).toEqual([[], true]);
}

const retain = async () => {
  await ingest.driver.retention.run();
  await ingest.driver.settle();
};

test('months leave the repository alone, as whole months; health and first failures stay, and a rebuild changes nothing', async () => {
  const { stores, driver, app } = ingest;
  const [short, long] = [await filled(), await filled()];
  const base = ({ path }: typeof short) => `/v1/ci/${path.owner}/repositories/${path.name}`;
  const details = (one: typeof short) =>
    app.get<Record<string, unknown>>(`${base(one)}/tests/${testIdOf(one.id, 't')}`);
  const before = await details(short);
  await keepFor(short, 30);
  await retain();
  // Some of October is less than 30 days old.
  expect(await monthsOf(short.id)).toEqual(only(202610, 202611));
  expect(await monthsOf(long.id)).toEqual(only(202609, 202610, 202611));
  await expectConsistent();
  const { health_status, first_failure_at, first_failure_commit } = before;
  expect(await details(short)).toMatchObject({ health_status, first_failure_at, first_failure_commit });
  expect(await details(long)).toMatchObject({ health_status, first_failure_at, first_failure_commit });
  const shown = await details(short);
  await rebuild(stores);
  await driver.settle();
  expect(await details(short)).toEqual(shown);
  await expectConsistent();

  stores.clock.set(at('2026-12-01'));
  await retain();
  expect(await monthsOf(short.id)).toEqual(only(202611));
  await expectConsistent();
  // Nothing is left to do.
  await retain();
  expect(await monthsOf(short.id)).toEqual(only(202611));
});

test('executions of what has left are refused, with the reason; also once the days are raised again', async () => {
  const { stores, driver } = ingest;
  const repository = await filled();
  const { owner, name } = repository.path;
  const send = async () => {
    const jobs = runsOf(repository.path).map((job) => ({ ...job, upload_id: crypto.randomUUID() }));
    await driver.ingest(...jobs);
    const receipts = await Promise.all(jobs.map((job) => stores.receipts.find(owner, name, job.upload_id)));
    return receipts.map((receipt) => [(receipt?.rejected ?? 0) > 0, receipt?.accepted]);
  };
  await keepFor(repository, 30);
  await retain();
  const refused = [true, 0];
  const known = [false, 0];
  const expected = [...Array(4).fill(refused), ...Array(8).fill(known)];
  expect(await send()).toEqual(expected);
  await keepFor(repository, null);
  await Bun.sleep(1_100);
  await retain();
  expect(await send()).toEqual(expected);
  expect(await monthsOf(repository.id)).toEqual(only(202610, 202611));
  await expectConsistent();
});

test('more days than the installation keeps are as many as it keeps', async () => {
  const repository = await filled();
  await keepFor(repository, 36_500);
  await retain();
  expect(await monthsOf(repository.id)).toEqual(only(202609, 202610, 202611));
  ingest.stores.clock.set(at('2026-11-21') + 60 * DAY_MS);
  await retain();
  expect(await monthsOf(repository.id)).toEqual(only(202610, 202611));
  await expectConsistent();
});

test('everything may leave, also what a month off the default branch showed', async () => {
  const { stores, driver } = ingest;
  const path = uniqueRepository();
  await driver.ingest(...runsOf(path).filter(({ run }) => run.branch === 'topic'));
  const repository = { path, id: (await stores.repositories.record(path)).id };
  await keepFor(repository, 1);
  stores.clock.set(at('2026-11-25'));
  await retain();
  expect((await monthsOf(repository.id)).executions).toEqual([202611]);
  await expectConsistent();
  stores.clock.set(at('2026-12-05'));
  await retain();
  expect(await monthsOf(repository.id)).toEqual(only());
  await expectConsistent();
});

test('a month that is cut off after any command continues; verify leaves the repository out meanwhile', async () => {
  const { stores, driver } = ingest;
  const { postgres, clickhouse, quarantines, clock, log } = stores;
  for (const cut of [1, 3, 5]) {
    stores.clock.set(at('2026-11-21'));
    const repository = await filled();
    await keepFor(repository, 30);
    let commands = 0;
    const dying = {
      ...clickhouse,
      select: clickhouse.select.bind(clickhouse),
      rows: clickhouse.rows.bind(clickhouse),
      command: async (...command: Parameters<ClickHouse['command']>) => {
        await clickhouse.command(...command);
        if (++commands === cut) throw new Error('killed');
      },
    } as ClickHouse;
    const deps = { db: postgres.db, quarantines, clock, clockAgreement: ALWAYS_AGREED, log };
    const options = { retentionDays: 90, claimDays: undefined, auditRetentionDays: 365 };
    await expect(new Retention({ ...deps, ...options, clickhouse: dying }).run()).rejects.toThrow('killed');
    await expectConsistent();
    await retain();
    expect([cut, await monthsOf(repository.id)]).toEqual([cut, only(202610, 202611)]);
    await driver.verify();
  }
  await expectConsistent();
});
