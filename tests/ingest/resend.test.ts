/**
 * Both stores come back from earlier moments, while results kept arriving: after `reconcile` and `resend`, everything that was
 * ever accepted is there once, as if nothing had been lost.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { byService } from '../../src/domain/audit.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { StoreUnavailable } from '../../src/errors.ts';
import { reconcile } from '../../src/maintenance/reconcile.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { uploadsNotKept } from '../../src/observability/metrics.ts';
import { RepositoryStore } from '../../src/postgres/repositories.ts';
import { doerOf } from '../../src/postgres/repository-changes.ts';
import { importedTestRuns } from '../../src/queue/imported-test-runs.ts';
import { type KeptJob, partsOfKept, readLine } from '../../src/queue/kept/kept-job.ts';
import { KeptUploads } from '../../src/queue/kept/kept-uploads.ts';
import { largeTestRuns } from '../../src/queue/large-test-runs.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { type TestRunsJob, testRuns } from '../../src/queue/test-runs.ts';
import { bundleOf, packBundle, uploadBundles } from '../../src/queue/upload-bundles.ts';
import { consume } from '../../workers/consume.ts';
import { resendKept } from '../../workers/resend.ts';
import { Backups, type ClickHouseBackup, type PostgresBackup } from '../support/backups.ts';
import { TestClock } from '../support/clock.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { makeFolder } from '../support/folder.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { until } from '../support/patience.ts';
import { randomFrom } from '../support/random.ts';
import { emptyStores, openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

/** Backups that are compared in pairs: `MOMENTS=3` has more of them. */
const MOMENTS = Number(process.env.MOMENTS ?? 2);
const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
/** Queues date their jobs by the clock of the machine. */
const NOW = Date.now();
const STARTED_AT = performance.now();
const operator = byService('tests');
const below = (count: number): number => Math.floor(random() * count);

let folder: string;
let stores: TestStores;
let backups: Backups;

beforeAll(async () => {
  folder = makeFolder('resend');
  const opened = await openTestStores();
  const uploadsKept = { days: 7, folder: join(folder, 'kept'), s3: undefined };
  const clock = new TickingClock(NOW);
  const repositories = new RepositoryStore(opened.postgres.db, clock);
  stores = { ...opened, clock, repositories, config: { ...opened.config, uploadsKept } };
  await emptyStores(stores);
  stores.clock.set(NOW);
  backups = new Backups(stores);
});
afterEach(async () => {
  stores.clock.set(NOW);
  await emptyStores(stores);
  rmSync(join(folder, 'kept'), { recursive: true, force: true });
});
afterAll(async () => {
  await backups.close();
  rmSync(folder, { recursive: true, force: true });
});

/** It continues as time does: transactions that follow each other have different moments. */
class TickingClock extends TestClock {
  override now(): number {
    return super.now() + Math.floor(performance.now() - STARTED_AT);
  }
}

const openKept = (): KeptUploads => {
  const { uploadsKept } = stores.config;
  if (!uploadsKept) throw new Error('these tests keep uploads');
  return new KeptUploads(stores, uploadsKept);
};

/** As a separate process does: it has nothing in memory from before the restore. */
const resend = (since = 0) =>
  resendKept({ ...stores, repositories: new RepositoryStore(stores.postgres.db, stores.clock) }, since);

const randomJob = (repository: TestRunsJob['repository'], run: number, isImported = false): TestRunsJob => ({
  ...makeJob({
    repository,
    receivedAt: NOW,
    run: { run_id: `run-${run}`, commit: `commit-${run}`, default_branch: 'main' },
    executions: Array.from({ length: 1 + below(12) }, (_, nth) => ({
      name: `t${nth}`,
      key: `${run}-${nth}`,
      at: NOW - below(40) * DAY_MS,
      status: random() < 0.3 ? ('failed' as const) : ('passed' as const),
    })),
  }),
  ...(isImported && { arrived_at: new Date(NOW - DAY_MS).toISOString() }),
});

/** Queues what arrives in every way there is. Returns how many executions that are. */
async function arrive(repositories: readonly TestRunsJob['repository'][], run: number): Promise<number> {
  const [first = uniqueRepository(), second = uniqueRepository()] = repositories;
  const [alone, large, small, other] = [first, second, first, second].map((one, i) => randomJob(one, run + i));
  const imported = randomJob(first, run + 4, true);
  if (!alone || !large || !small || !other) throw new Error('four of them');
  const { producers } = stores;
  const bundle = bundleOf(small.upload_id);
  const bundled = [small, other].map((job) => ({ id: testRuns.id(job), json: JSON.stringify(job), trace: undefined }));
  await producers.of(testRuns).add(alone);
  await producers.of(largeTestRuns).add(large);
  await producers.of(importedTestRuns).add(imported);
  await producers.of(uploadBundles).addPacked([packBundle(bundle, bundled)]);
  await producers.of(prEvents).add(makeEventsJob(first, [labelled(`${run}-a`), labelled(`${run}-b`)]));
  return [alone, large, small, other, imported].reduce((sum, { executions }) => sum + executions.name.length, 0);
}

const rowsOf = (statement: string): Promise<unknown[]> => stores.clickhouse.rows(statement);

/** Reads everything that both stores show, but for moments at which something was written. */
const everything = async () => ({
  executions: await rowsOf('SELECT * FROM ci.executions ORDER BY repository_id, execution_id'),
  failures: await rowsOf('SELECT * FROM ci.failures ORDER BY ALL'),
  events: await rowsOf(`
    SELECT repository_id, type, trigger, pull_request, metadata FROM ci.events WHERE type = 'action.label'
    ORDER BY repository_id, metadata`),
});

test(`what is lost of a restore is sent again, and everything counts once (seed ${seed})`, async () => {
  const repositories = [uniqueRepository(), uniqueRepository()];
  const moments: { clickhouse: ClickHouseBackup; postgres: PostgresBackup }[] = [];
  let driver = new IngestDriver(stores);
  let executions = 0;
  let run = 0;
  const load = async (): Promise<void> => {
    for (let i = 0; i < 3; i++, run += 5) executions += await arrive(repositories, run);
  };
  for (let moment = 0; moment < MOMENTS; moment++) {
    // Neither backup waits for what arrives, and they are of different moments.
    const arriving = load();
    const clickhouse = await backups.ofClickHouse(join(folder, `backup-${moment}`));
    const postgres = await backups.ofPostgres();
    moments.push({ clickhouse, postgres });
    await arriving;
    await driver.settle();
  }
  await driver.stop();
  const whole = await everything();
  expect(whole.executions).toHaveLength(executions);

  for (const [i, { clickhouse }] of moments.entries())
    for (const [j, { postgres }] of moments.entries()) {
      await backups.restore(clickhouse, postgres);
      await reconcile(stores);
      const resent = await resend();
      expect(resent).toMatchObject({ chunks: run, eventJobs: run / 5, gone: 0, buried: 0, unreadable: 0, requeued: 0 });
      expect(resent.sent).toBe(executions);
      driver = new IngestDriver(stores);
      while ((await driver.sweeper.sweep(0)) > 0);
      await driver.settle();
      await driver.stop();
      expect({ i, j, ...(await everything()) }).toEqual({ i, j, ...whole });
      expect(await verify(stores)).toMatchObject({ isConsistent: true, isComplete: true, pendingBlocks: 0 });
      // Once more, as after an interruption: nothing is new.
      expect(await resend()).toMatchObject({ sent: executions, stored: 0 });
    }
}, 240_000);

/** Lines of all segments. */
async function keptLines(): Promise<string[]> {
  const kept = openKept();
  return (await Promise.all((await kept.segments()).map((name) => kept.lines(name)))).flat();
}

test('what is kept of a deleted repository leaves, also from bundles, and nothing brings it back', async () => {
  const [gone, stays] = [uniqueRepository(), uniqueRepository()];
  const driver = new IngestDriver(stores);
  await arrive([gone, stays], 0);
  await driver.settle();
  const deletedAt = stores.clock.now();
  await stores.repositories.delete(gone, operator);
  await driver.deleter.run();
  // By then nothing more is added to the segments.
  stores.clock.set(NOW + HOUR_MS);
  expect((await keptLines()).some((line) => line.includes(gone.name))).toBe(true);
  expect(await resend()).toMatchObject({ gone: 4 });
  await driver.retention.run();
  const left = await keptLines();
  expect(left.length).toBeGreaterThan(0);
  expect(left.some((line) => line.includes(gone.name))).toBe(false);
  for (const line of left) expect(partsOfKept(z.custom<KeptJob>().parse(readLine(line)))).toHaveLength(1);
  expect(await resend()).toMatchObject({ gone: 0, stored: 0 });
  expect(await stores.repositories.find(gone.owner, gone.name)).toBeUndefined();

  // Its next one begins with what arrives later, which a later look leaves alone.
  await stores.producers
    .of(testRuns)
    .add({ ...randomJob(gone, 50), received_at: new Date(deletedAt + 2 * HOUR_MS).toISOString() });
  await driver.settle();
  stores.clock.set(NOW + 2 * HOUR_MS);
  await driver.retention.run();
  expect((await keptLines()).some((line) => line.includes(gone.name))).toBe(true);
  await driver.stop();
});

test('a renamed repository gets what was kept under its former name', async () => {
  const before = uniqueRepository();
  const after = uniqueRepository();
  const driver = new IngestDriver(stores);
  const postgres = await backups.ofPostgres();
  const job = randomJob(before, 60);
  await driver.ingest(job);
  await stores.repositories.rename(before, after, doerOf(operator));
  await driver.stop();
  const renamed = await backups.ofPostgres();
  // ClickHouse has lost everything, and PostgreSQL nothing.
  await backups.restore(new Map(), renamed);
  await reconcile(stores);
  expect(await resend()).toMatchObject({ stored: job.executions.name.length });
  stores.repositories.forget(before);
  expect(await stores.repositories.find(before.owner, before.name)).toBeUndefined();
  // PostgreSQL does not know the name yet: it is as it was when the results arrived.
  await backups.restore(new Map(), postgres);
  await reconcile(stores);
  stores.repositories.forget(before);
  expect(await resend()).toMatchObject({ stored: job.executions.name.length });
});

test('a line that a power loss cut off is left out, and the next worker writes to another file', async () => {
  const repository = uniqueRepository();
  let driver = new IngestDriver(stores);
  await driver.ingest(randomJob(repository, 70));
  await driver.stop();
  const { uploadsKept } = stores.config;
  const [name = ''] = await openKept().segments();
  appendFileSync(join(uploadsKept?.folder ?? '', name), '{"queue":"test-runs","id":"torn');
  driver = new IngestDriver(stores);
  await driver.ingest(randomJob(repository, 71));
  await driver.stop();
  expect(await openKept().segments()).toHaveLength(2);
  expect(await resend()).toMatchObject({ chunks: 2, unreadable: 1, stored: 0 });
});

test('what is kept leaves after the configured days, and not before', async () => {
  const driver = new IngestDriver(stores);
  await driver.ingest(randomJob(uniqueRepository(), 80));
  stores.clock.set(NOW + 7 * DAY_MS - HOUR_MS);
  await driver.retention.run();
  expect(await keptLines()).toHaveLength(1);
  stores.clock.set(NOW + 7 * DAY_MS + HOUR_MS);
  await driver.retention.run();
  expect(await keptLines()).toEqual([]);
  await driver.stop();
});

test('a job that was tried again is kept once more when it is stored, so that a later moment has it', async () => {
  const job = randomJob(uniqueRepository(), 90);
  const kept = openKept();
  let attempts = 0;
  const worker = consume(testRuns, async () => {
    attempts++;
    if (attempts > 1) return undefined;
    stores.clock.set(NOW + 3 * HOUR_MS);
    throw new StoreUnavailable('clickhouse');
  })({ ...stores, kept });
  await stores.producers.of(testRuns).add(job);
  await until(async () => (await stores.producers.of(testRuns).depth()) === 0);
  await worker.close();
  await kept.close();
  expect(attempts).toBe(2);
  expect(await kept.segments()).toHaveLength(2);
  expect(await kept.segments(NOW + 2 * HOUR_MS)).toHaveLength(1);
});

test('if the folder cannot be written, results are stored nevertheless, and that is counted', async () => {
  const job = randomJob(uniqueRepository(), 95);
  const kept = openKept();
  const { uploadsKept } = stores.config;
  rmSync(uploadsKept?.folder ?? '', { recursive: true });
  writeFileSync(uploadsKept?.folder ?? '', 'not a folder');
  const before = (await uploadsNotKept.get()).values[0]?.value ?? 0;
  await kept.keep({ queue: testRuns.name, id: 'one', queuedAt: NOW, data: job, payload: job });
  expect((await uploadsNotKept.get()).values[0]?.value).toBe(before + 1);
});
