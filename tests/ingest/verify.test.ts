/** Differences that `verify` finds, and what it knows to be on its way. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { Ledger } from '../../src/ledger/ledger.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { identities } from '../../src/postgres/schema.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { prepareChunk } from '../support/prepare.ts';
import { emptyStores, uniqueRepository } from '../support/stores.ts';
import { runOf } from '../support/verdicts.ts';

const ingest = setUpIngest();
beforeEach(() => emptyStores(ingest.stores));
// The damage done here must not be found by the tests that come after.
afterAll(() => emptyStores(ingest.stores));

type Repository = ReturnType<typeof uniqueRepository>;

const job = (repository: Repository, run: string, names: readonly string[]) =>
  makeJob({
    repository,
    receivedAt: TEST_NOW,
    run: { run_id: run, commit: run },
    executions: names.map((name, i) => ({ name, status: i % 3 === 0 ? ('failed' as const) : ('passed' as const) })),
  });

/** Stores jobs as a process does that dies before it evaluates them; or records them only. */
async function store(jobs: readonly TestRunsJob[], { isRecordedOnly = false } = {}): Promise<void> {
  const { postgres, clickhouse, clock, repositories } = ingest.stores;
  const dying = {
    ...clickhouse,
    insert: async () => {
      throw new Error('killed');
    },
  };
  const ledger = new Ledger({ db: postgres.db, clickhouse: isRecordedOnly ? dying : clickhouse, clock });
  for (const one of jobs) {
    const { id } = await repositories.record(one.repository);
    const options = { repositoryId: id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
    await ledger.write([prepareChunk(one, options)]).catch(() => {});
  }
}

const differencesOf = async (): Promise<string[]> =>
  (await verify(ingest.stores)).checks.flatMap((check) => check.differences);

describe('what is on its way', () => {
  test('a block that waits for its evaluation is no difference, and everything else is compared', async () => {
    const { driver, stores } = ingest;
    const repository = uniqueRepository();
    await driver.ingest(job(repository, '1', ['a', 'b', 'c', 'd']));
    await store([job(repository, '2', ['a', 'b'])]);
    expect(await verify(stores)).toMatchObject({ isConsistent: true, pendingBlocks: 1, executions: 6 });

    await stores.postgres.db.delete(identities);
    // The identities of c and d; a and b will be judged anyway.
    expect((await differencesOf()).filter((one) => one.includes('ran, but is not stored'))).toHaveLength(2);
    while ((await driver.sweeper.sweep(0)) > 0);
    await driver.settle();
    expect((await verify(stores)).pendingBlocks).toBe(0);
  });

  test('a run that the waiting block makes a troubled one is no difference, nor are the tests that failed in it', async () => {
    const { driver, stores } = ingest;
    const repository = uniqueRepository();
    const names = Array.from({ length: 12 }, (_, i) => `test ${i}`);
    const hour = 3_600_000;
    const run = (runId: string, at: number, status: 'passed' | 'failed', of: readonly string[], source = runId) => ({
      ...runOf({
        repository,
        runId,
        at,
        receivedAt: at,
        results: Object.fromEntries(of.map((name) => [name, status])),
      }),
      sources: [source],
    });
    await driver.ingest(run('1', TEST_NOW - 20 * hour, 'passed', names));
    await driver.ingest(run('2', TEST_NOW - 10 * hour, 'failed', names.slice(0, 6)));
    await store([run('2', TEST_NOW - 10 * hour, 'failed', names.slice(6), 'second half')]);
    expect(await verify(stores)).toMatchObject({ isConsistent: true, pendingBlocks: 1 });
    while ((await driver.sweeper.sweep(0)) > 0);
    await driver.settle();
    expect(await verify(stores)).toMatchObject({ isConsistent: true, pendingBlocks: 0 });
  });

  test('a block that is recorded and not stored, or only in some tables, is no difference', async () => {
    const { driver, stores } = ingest;
    const repository = uniqueRepository();
    await driver.ingest(job(repository, '1', ['a', 'b', 'c']));
    await store([job(repository, '2', ['a', 'b'])], { isRecordedOnly: true });
    expect(await verify(stores)).toMatchObject({ isConsistent: true, pendingBlocks: 1, executions: 3 });
    const id = (await stores.repositories.find(repository.owner, repository.name))?.id ?? '';
    await stores.clickhouse.command(
      `INSERT INTO ci.runs SELECT * REPLACE ('2' AS run_id) FROM ci.runs WHERE repository_id = {id: UUID}`,
      { id },
    );
    expect(await verify(stores)).toMatchObject({ isConsistent: true, pendingBlocks: 1 });
  });
});

describe('the ledger', () => {
  test('an execution that is claimed and not stored is a difference that no rebuild repairs', async () => {
    const { driver, stores } = ingest;
    await driver.ingest(job(uniqueRepository(), '1', ['a', 'b', 'c']));
    expect(await verify(stores)).toMatchObject({ isConsistent: true, isComplete: true });
    await stores.clickhouse.command(
      "ALTER TABLE ci.executions DELETE WHERE test_name = 'b' SETTINGS mutations_sync = 2",
    );
    expect(await verify(stores)).toMatchObject({ isConsistent: false, isComplete: false });
    const [missing] = (await differencesOf()).filter((one) => one.includes('claimed'));
    expect(missing).toMatch(/^1 executions of 2026-11 are claimed, but not stored: \d+$/);
  });

  test('a month that is retained and gone as a whole is a difference', async () => {
    const { driver, stores } = ingest;
    await driver.ingest(job(uniqueRepository(), '1', ['a', 'b', 'c']));
    await stores.clickhouse.command('TRUNCATE TABLE ci.executions');
    expect((await differencesOf()).some((one) => one.startsWith('3 executions of 2026-11 are claimed'))).toBe(true);
  });

  test('an execution that is stored and not claimed is a difference', async () => {
    const { driver, stores } = ingest;
    await driver.ingest(job(uniqueRepository(), '1', ['a', 'b', 'c']));
    await stores.clickhouse.command(
      "INSERT INTO ci.executions SELECT * REPLACE (execution_id + 1 AS execution_id) FROM ci.executions WHERE test_name = 'b'",
    );
    const [unclaimed] = (await differencesOf()).filter((one) => one.includes('claimed'));
    expect(unclaimed).toMatch(/^1 executions of 2026-11 are stored, but not claimed: \d+$/);
  });
});

describe('a backlog of blocks that wait for their evaluation', () => {
  const names = Array.from({ length: 5 }, (_, i) => `test ${i}`);

  test('is taken up hundreds at a time', async () => {
    const { driver, stores } = ingest;
    const repository = uniqueRepository();
    await store(Array.from({ length: 25 }, (_, i) => job(repository, String(i), names)));
    await driver.settle();
    expect(await verify(stores)).toMatchObject({ isConsistent: true, pendingBlocks: 0 });
  });
});
