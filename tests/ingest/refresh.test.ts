/** What a pass leaves stale is refreshed, however much it is. */
import { beforeAll, expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import { evaluateRepository } from '../../src/evaluation/pass.ts';
import { Refresh } from '../../src/evaluation/refresh.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { prepareChunk } from '../../src/ledger/prepare.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { commitRecords, staleCommits } from '../../src/postgres/schema.ts';
import { TEST_NOW } from '../support/clock.ts';
import { makeJob } from '../support/jobs.ts';
import { emptyStores, openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
  await emptyStores(stores);
});

/** More than twice as many as one step records. */
const COMMITS = 85;

test('every commit that failed has its record after one refresh, though a step writes few', async () => {
  const { postgres, clickhouse, clock, quarantines, repositories } = stores;
  const { db } = postgres;
  const repository = uniqueRepository();
  const { id } = await repositories.learnDefaultBranch(await repositories.record(repository), 'main', 'payload');
  const jobs = Array.from({ length: COMMITS }, (_, i) =>
    makeJob({
      repository,
      receivedAt: TEST_NOW,
      run: { run_id: `run ${i}`, commit: `commit ${i}`, branch: 'main', default_branch: 'main' },
      executions: [{ name: 'sums', key: 'sums', status: 'failed', at: TEST_NOW - i * 60_000 }],
    }),
  );
  const options = { repositoryId: id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
  await new Ledger({ db, clickhouse, clock }).write(jobs.map((job) => prepareChunk(job, options)));
  await evaluateRepository(db, id);
  expect(await db.$count(staleCommits, eq(staleCommits.repositoryId, id))).toBe(COMMITS);

  await new Refresh({ db, clickhouse, quarantines }, true).all();
  expect(await db.$count(staleCommits, eq(staleCommits.repositoryId, id))).toBe(0);
  expect(await db.$count(commitRecords, eq(commitRecords.repositoryId, id))).toBe(COMMITS);
  expect((await verify(stores, id)).isConsistent).toBe(true);
});
