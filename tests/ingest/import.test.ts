/** Imports on real stores: what they leave is what the same results leave that were sent live, and they do nothing else. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { eq } from 'drizzle-orm';
import { runImport } from '../../src/client/import/importer.ts';
import { openManifest } from '../../src/client/import/manifest.ts';
import { ImportProgress } from '../../src/client/import/progress.ts';
import { ImportState } from '../../src/client/import/state.ts';
import { Repository } from '../../src/client/repository.ts';
import { Service } from '../../src/client/service.ts';
import { repositoryIdOf } from '../../src/domain/identity.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { partitionOf } from '../../src/postgres/partitions.ts';
import { identities, uploadChunks } from '../../src/postgres/schema.ts';
import { importedTestRuns } from '../../src/queue/imported-test-runs.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { makeFolder } from '../support/folder.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { liveAddressOf, type PastReport, pastOf, writePast } from '../support/past.ts';
import { until } from '../support/patience.ts';
import { realPast } from '../support/real-past.ts';
import { saidOf as said } from '../support/said.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';
import { uniqueRepository } from '../support/stores.ts';

/** Results of a public project, which are not part of the product. */
const REAL = resolve(import.meta.dir, '../../../shared/datasets/dask-distributed-2022-2024.tsv.gz');
if (!existsSync(REAL)) console.warn(`skipped: there is no ${REAL}`);

const ingest = setUpIngest();
const folder = makeFolder('import');
let app: ServiceApp;
beforeAll(async () => {
  app = await openServiceApp();
});
afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Path = ReturnType<typeof uniqueRepository>;

async function sendLive(repository: Path, reports: readonly PastReport[]): Promise<void> {
  const { stores, driver } = ingest;
  driver.watch(repository);
  for (const [i, report] of reports.entries()) {
    stores.clock.set(report.arrivedAt);
    const response = await app.request(liveAddressOf(repository, report), {
      method: 'POST',
      headers: { 'content-type': 'application/xml' },
      body: report.body,
    });
    expect(response.status).toBe(202);
    if (i % 40 === 39) await driver.settle();
  }
  await driver.settle();
}

let imports = 0;

async function importPast(repository: Path, reports: readonly PastReport[], seed: number, stateFile?: string) {
  const { driver } = ingest;
  const own = `${folder}/${imports++}`;
  const manifest = writePast(own, reports, seed);
  driver.watch(repository);
  const service = new Service(
    { url: `http://127.0.0.1:${app.port}`, token: app.adminToken },
    { totalMs: Number.POSITIVE_INFINITY },
  );
  const head = { v: 1 as const, service: service.url, repository: repository.name, source: 'test' };
  const state = ImportState.open(stateFile ?? `${manifest}.state`, head);
  const { tally, isComplete } = await runImport({
    repository: new Repository(service, repository.owner, repository.name),
    source: await openManifest(own, manifest),
    state,
    progress: new ImportProgress(false),
    patienceMs: 600_000,
    signal: new AbortController().signal,
  });
  state.close();
  await driver.settle();
  return tally.receipt(head, { startedAt: 0, finishedAt: 0, isComplete });
}

const saidOf = (repository: Path) => said(app.get, repository, { until: TEST_NOW, days: 60 });

describe('an import', () => {
  test('leaves verdicts, counts, causes and costs as the same results do that are sent live, in order', async () => {
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
    process.stdout.write(`SEED=${seed}\n`);
    const reports = pastOf({ seed, until: TEST_NOW - DAY_MS, days: 12 });
    const [live, imported] = [uniqueRepository(), uniqueRepository()];
    await sendLive(live, reports);
    ingest.stores.clock.set(TEST_NOW);
    const receipt = await importPast(imported, reports, seed);
    expect(receipt).toMatchObject({
      is_complete: true,
      reports: { stored: reports.length, queued: 0, left_out: 0 },
      executions: { accepted: 24 * reports.length, duplicate: 0, rejected: 0, conflicting: 0 },
    });
    expect(await saidOf(imported)).toEqual(await saidOf(live));
    await ingest.driver.verify();
  }, 300_000);

  test.skipIf(!existsSync(REAL))(
    'leaves of a real history what its results leave that are sent live, in order',
    async () => {
      const reports = await realPast(REAL, { days: 30, until: TEST_NOW - DAY_MS, suites: 3, tests: 30 });
      const [live, imported] = [uniqueRepository(), uniqueRepository()];
      await sendLive(live, reports);
      ingest.stores.clock.set(TEST_NOW);
      const receipt = await importPast(imported, reports, 1);
      expect(receipt).toMatchObject({ is_complete: true, reports: { stored: reports.length, left_out: 0 } });
      const told = await saidOf(imported);
      expect(JSON.stringify(told)).toContain('flaky');
      expect(told).toEqual(await saidOf(live));
      await ingest.driver.verify();
    },
    300_000,
  );

  test('counts nothing twice when it is done again, or continues', async () => {
    const reports = pastOf({ seed: 7, until: TEST_NOW - DAY_MS, days: 3 });
    const repository = uniqueRepository();
    const state = `${folder}/again.state`;
    await importPast(repository, reports, 1, state);
    const before = await saidOf(repository);
    const again = await importPast(repository, reports, 1);
    expect(again.executions).toMatchObject({ accepted: 0, duplicate: 24 * reports.length });
    const resumed = await importPast(repository, reports, 1, state);
    expect(resumed.executions).toMatchObject({ accepted: 24 * reports.length, duplicate: 0 });
    expect(await saidOf(repository)).toEqual(before);
    await ingest.driver.verify();
  }, 120_000);

  test('quarantines nothing and writes no event; a later live result continues from it', async () => {
    const { stores, driver } = ingest;
    const repository = uniqueRepository();
    const id = repositoryIdOf(repository.host, repository.owner, repository.name);
    const recorded = await stores.repositories.record(repository);
    await stores.repositories.set(recorded, { autoQuarantine: 'flaky' }, 'ann');
    const open = async () => (await stores.quarantines.snapshot(id)).quarantines.map(({ testName }) => testName);
    const events = async () =>
      (await app.get<{ events: unknown[] }>(`/v1/repos/${repository.owner}/${repository.name}/logs`)).events;
    await driver.settle();
    const before = await events();
    const job = (run: number, status: 'passed' | 'failed', attempt: number, arrivedAt: number | null) => ({
      ...makeJob({
        repository,
        receivedAt: stores.clock.now(),
        run: {
          run_id: String(run),
          run_attempt: attempt,
          commit: `commit ${run}`,
          branch: 'main',
          default_branch: 'main',
        },
        executions: [
          ...Array.from({ length: 11 }, (_, i) => ({ name: `other ${i}` })),
          { name: 'sums', status, at: arrivedAt ?? stores.clock.now() },
        ],
      }),
      arrived_at: arrivedAt === null ? null : new Date(arrivedAt).toISOString(),
    });
    const imported = Array.from({ length: 20 }, (_, run) => {
      const at = TEST_NOW - (30 - run) * 3_600_000;
      return run % 4 === 3
        ? [job(run, 'failed', 1, at), job(run, 'passed', 2, at + 60_000)]
        : [job(run, 'passed', 1, at)];
    }).flat();
    driver.watch(repository);
    await stores.producers.of(importedTestRuns).addMany(imported);
    await driver.settle();
    const { tests } = await app.get<{ tests: { metrics: { health_status: string } }[] }>(
      `/v1/ci/${repository.owner}/repositories/${repository.name}/search/tests?test_name=sums`,
    );
    expect(tests[0]?.metrics.health_status).toBe('flaky');
    expect(await open()).toEqual([]);
    expect(await events()).toEqual(before);
    await stores.producers.of(testRuns).addMany([job(100, 'passed', 1, null)]);
    await driver.settle();
    expect(await open()).toEqual(['sums']);
    await driver.verify();
  }, 60_000);

  test('holds up no live result: one that comes later is stored and judged before most of it', async () => {
    const { stores, driver } = ingest;
    const [past, live] = [uniqueRepository(), uniqueRepository()];
    await driver.stop();
    const executions = Array.from({ length: 5_000 }, (_, i) => ({ name: `test ${i}` }));
    const imported = Array.from({ length: 16 }, (_, run) => ({
      ...makeJob({ repository: past, receivedAt: TEST_NOW, run: { run_id: String(run) }, executions }),
      arrived_at: new Date(TEST_NOW - DAY_MS).toISOString(),
    }));
    const job = makeJob({ repository: live, receivedAt: TEST_NOW, executions: [{ name: 'one' }] });
    await stores.producers.of(importedTestRuns).addMany(imported);
    await stores.producers.of(testRuns).addMany([job]);
    driver.start();
    driver.watch(past, live);
    await driver.settle();
    const blocks = new Map(
      (
        await stores.postgres.db
          .select({ upload: uploadChunks.uploadId, block: uploadChunks.blockId })
          .from(uploadChunks)
      ).map(({ upload, block }) => [upload, block ?? 0]),
    );
    const own = blocks.get(job.upload_id) ?? Number.NaN;
    // A few of what is imported may be in hand by then.
    expect(imported.filter(({ upload_id }) => (blocks.get(upload_id) ?? 0) < own).length).toBeLessThan(8);
    await driver.verify();
  }, 120_000);

  test('holds up no live result while one of its passes is under way', async () => {
    const { stores, driver } = ingest;
    const { db, pool } = stores.postgres;
    const idOf = ({ host, owner, name }: Path): string => repositoryIdOf(host, owner, name);
    const past = uniqueRepository();
    let live = uniqueRepository();
    while (partitionOf(idOf(live)) === partitionOf(idOf(past))) live = uniqueRepository();
    const jobOf = (repository: Path, run: string) =>
      makeJob({ repository, receivedAt: TEST_NOW, run: { run_id: run }, executions: [{ name: 'one' }] });
    const importRun = (run: string) =>
      stores.producers
        .of(importedTestRuns)
        .addMany([{ ...jobOf(past, run), arrived_at: new Date(TEST_NOW - DAY_MS).toISOString() }]);
    driver.watch(past, live);
    await importRun('1');
    await driver.settle();
    const job = jobOf(live, '1');
    const isStored = async () =>
      (await stores.receipts.find(live.owner, live.name, job.upload_id))?.status === 'stored';
    await db.transaction(async (tx) => {
      // The pass waits for the row that it adds to.
      await tx
        .select()
        .from(identities)
        .where(eq(identities.repositoryId, idOf(past)))
        .for('update');
      await importRun('2');
      const isBlocked = async () =>
        (
          await pool.query(
            "select from pg_stat_activity where wait_event_type = 'Lock' and wait_event = 'transactionid'",
          )
        ).rowCount !== 0;
      await until(isBlocked);
      await stores.producers.of(testRuns).addMany([job]);
      await until(isStored);
    });
    await driver.settle();
    await driver.verify();
  });

  test('is refused to a credential of one CI job, and for the future', async () => {
    const { owner, name } = uniqueRepository();
    const at = new Date(TEST_NOW + DAY_MS).toISOString();
    const response = await app.request(`/v1/ci/${owner}/repositories/${name}/junit?arrived_at=${at}`, {
      method: 'POST',
      body: '<testsuite/>',
    });
    expect(response.status).toBe(422);
    expect(await response.text()).toContain('arrived_at is in the future');
  });
});
