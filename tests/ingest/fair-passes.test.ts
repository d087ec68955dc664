/** A pass of the evaluation takes a bounded amount, and of each repository before more of any. */
import { expect, test } from 'bun:test';
import { evaluatePartition } from '../../src/evaluation/pass.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { partitionOf, readPartsOf } from '../../src/postgres/partitions.ts';
import { TEST_NOW } from '../support/clock.ts';
import { makeJob } from '../support/jobs.ts';
import { prepareChunk } from '../support/prepare.ts';
import { openTestStores, uniqueRepository } from '../support/stores.ts';

const BLOCKS = 6;

test('a repository of which much waits keeps none of its partition waiting, and is evaluated in several passes', async () => {
  const stores = await openTestStores();
  stores.clock.set(TEST_NOW);
  const { db } = stores.postgres;
  // Rests of other test files.
  while ((await evaluatePartition({ db, log: stores.log }, 0)) !== undefined);
  const recorded = async () => {
    const repository = uniqueRepository();
    return { ...repository, id: (await stores.repositories.record(repository)).id };
  };
  const costly = await recorded();
  let modest = await recorded();
  while (partitionOf(modest.id) !== partitionOf(costly.id)) modest = await recorded();

  const ledger = new Ledger({ db, clickhouse: stores.clickhouse, clock: stores.clock });
  const store = async ({ id, ...repository }: typeof costly, run: number, message: string): Promise<void> => {
    const executions = [{ name: 'a', status: 'failed' as const, failures: [{ message }] }];
    const job = makeJob({ repository, receivedAt: TEST_NOW, executions, run: { run_id: String(run) } });
    const options = { repositoryId: id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
    await ledger.write([prepareChunk(job, options)]);
  };
  for (let run = 0; run < BLOCKS; run++) await store(costly, run, 'much to say '.repeat(1_000));
  await store(modest, 1, 'little');

  const waiting = async (): Promise<number[]> =>
    Promise.all([costly, modest].map(async ({ id }) => (await readPartsOf(db, id)).length));
  // Room for two of the long parts, and the short one.
  const pass = () => evaluatePartition({ db, log: stores.log, limits: { executionsMax: 1_000, bytesMax: 15_000 } }, 0);
  expect(await waiting()).toEqual([BLOCKS, 1]);
  await pass();
  expect(await waiting()).toEqual([BLOCKS - 2, 0]);
  let passes = 1;
  while ((await pass()) !== undefined) passes++;
  expect(await waiting()).toEqual([0, 0]);
  expect(passes).toBe(BLOCKS / 2);
});
