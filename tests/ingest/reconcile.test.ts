/**
 * PostgreSQL and ClickHouse come back from different moments: after `reconcile` they agree, and what is sent again is stored
 * exactly once.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../src/errors.ts';
import { closeClaims } from '../../src/ledger/claim-store.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { previewReconciliation, reconcile } from '../../src/maintenance/reconcile.ts';
import { verify } from '../../src/maintenance/verify.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { Backups } from '../support/backups.ts';
import { TEST_NOW } from '../support/clock.ts';
import { makeFolder } from '../support/folder.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { prepareChunk } from '../support/prepare.ts';
import { randomFrom } from '../support/random.ts';
import { emptyStores, openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const DAY_MS = 86_400_000;
const MOMENTS = 3;
const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
const below = (count: number): number => Math.floor(random() * count);

const folder = makeFolder('reconcile');
let stores: TestStores;
let backups: Backups;

beforeAll(async () => {
  stores = await openTestStores();
  await emptyStores(stores);
  stores.clock.set(TEST_NOW);
  backups = new Backups(stores);
});
afterAll(async () => {
  await backups.close();
  await emptyStores(stores);
  rmSync(folder, { recursive: true, force: true });
});

const backup = async (place: string) => ({
  clickhouse: await backups.ofClickHouse(place),
  postgres: await backups.ofPostgres(),
});
type Backup = Awaited<ReturnType<typeof backup>>;

const restore = ({ clickhouse }: Pick<Backup, 'clickhouse'>, { postgres }: Backup): Promise<void> =>
  backups.restore(clickhouse, postgres);

/** Two repositories; runs of two months, of which some are reported in several uploads. */
const repositories = [uniqueRepository(), uniqueRepository()];
const randomJob = (run: number): TestRunsJob =>
  makeJob({
    repository: repositories[run % 2] ?? uniqueRepository(),
    receivedAt: TEST_NOW,
    run: { run_id: `run-${run}`, commit: `commit-${run}` },
    executions: Array.from({ length: 1 + below(12) }, (_, test) => ({
      name: `t${test}`,
      key: `${run}-${test}`,
      at: TEST_NOW - below(40) * DAY_MS,
      status: random() < 0.3 ? ('failed' as const) : ('passed' as const),
    })),
  });

/** Records a block as a worker does that dies before ClickHouse has it, or before it hears that ClickHouse has it. */
async function storeHalf(job: TestRunsJob, isInserted: boolean): Promise<void> {
  const { postgres, clickhouse, clock } = stores;
  const dying = {
    ...clickhouse,
    insert: async (...insertion: Parameters<typeof clickhouse.insert>) => {
      if (isInserted) await clickhouse.insert(...insertion);
      throw new Error('killed');
    },
  };
  const { id } = await stores.repositories.record(job.repository);
  const options = { repositoryId: id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
  await new Ledger({ db: postgres.db, clickhouse: dying, clock }).write([prepareChunk(job, options)]).catch(() => {});
}

const storedExecutions = async (): Promise<unknown> =>
  (await stores.clickhouse.rows('SELECT count() AS rows, uniqExact(execution_id) AS executions FROM ci.executions'))[0];

test(`whatever moments both stores are restored from, they agree, and everything counts once (seed ${seed})`, async () => {
  const sent: TestRunsJob[] = [];
  const taken: Backup[] = [];
  let driver = new IngestDriver(stores);
  for (let moment = 0; moment < MOMENTS; moment++) {
    for (let run = 0; run < 6; run++) {
      const job = randomJob(sent.length);
      sent.push(job);
      await driver.ingest(job);
    }
    // A backup shows blocks that are on their way.
    for (const isInserted of [false, true]) {
      const job = randomJob(sent.length);
      sent.push(job);
      await storeHalf(job, isInserted);
    }
    taken.push(await backup(join(folder, String(moment))));
  }
  await driver.stop();
  const executions = sent.reduce((sum, job) => sum + job.executions.name.length, 0);

  for (const [i, clickhouse] of taken.entries())
    for (const [j, postgres] of taken.entries()) {
      if (i === j) continue;
      await restore(clickhouse, postgres);
      const preview = await previewReconciliation(stores);
      expect(await reconcile(stores)).toEqual(preview);
      if (i > j) expect(preview.removed).toBeGreaterThan(0);
      if (i < j) expect(preview.unclaimed).toBeGreaterThan(0);
      expect(await previewReconciliation(stores)).toEqual({
        removed: 0,
        unclaimed: 0,
        eventsRemoved: 0,
        eventsLost: 0,
        torn: 0,
      });
      driver = new IngestDriver(stores);
      while ((await driver.sweeper.sweep(0)) > 0);
      // Sent again, as clients do: under other uploads.
      await driver.ingest(...sent.map((job) => ({ ...job, upload_id: crypto.randomUUID() })));
      await driver.stop();
      expect(await storedExecutions()).toEqual({ rows: executions, executions });
      expect(await verify(stores)).toMatchObject({ isConsistent: true, isComplete: true, pendingBlocks: 0 });
    }
});

test('closed claims keep their executions, and those that came later leave', async () => {
  await emptyStores(stores);
  const driver = new IngestDriver(stores);
  const old = [randomJob(100), randomJob(101)];
  await driver.ingest(...old);
  await stores.postgres.pool.query("update ci_insights.ingest_blocks set created_at = now() - interval '20 days'");
  expect(await closeClaims(stores.postgres.db, 14)).toBeGreaterThan(0);
  // Results arrived eight days before the newest block, by the clock of these tests.
  await stores.postgres.pool.query('update ci_insights.ingest_blocks set created_at = now()');
  const before = await backup(join(folder, 'closed'));
  const late = { ...randomJob(102), received_at: new Date().toISOString() };
  await driver.ingest(late);
  await driver.stop();
  const after = await backup(join(folder, 'late'));
  await restore(after, before);
  expect(await reconcile(stores)).toMatchObject({ removed: late.executions.name.length, unclaimed: 0 });
  const kept = old.reduce((sum, job) => sum + job.executions.name.length, 0);
  expect(await storedExecutions()).toEqual({ rows: kept, executions: kept });
  expect(await verify(stores)).toMatchObject({ isConsistent: true });

  // No one knows which executions closed claims have, so they cannot be taken back.
  await restore({ clickhouse: new Map() }, before);
  await expect(reconcile(stores)).rejects.toThrow(UserError);
});
