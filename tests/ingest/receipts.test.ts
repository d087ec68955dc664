/** The promise of a receipt: once it says that an upload is stored, every read shows it. */
import { expect, test } from 'bun:test';
import { evaluateRepository } from '../../src/evaluation/pass.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { prepareChunk } from '../support/prepare.ts';
import { uniqueRepository } from '../support/stores.ts';

const ingest = setUpIngest();

test('an upload is queued until its block is counted; one that only repeats another has no block', async () => {
  const { postgres, clickhouse, clock, repositories, receipts } = ingest.stores;
  const repository = uniqueRepository();
  const { id } = await repositories.record(repository);
  const job = (uploadId: string) =>
    makeJob({ repository, receivedAt: TEST_NOW, executions: [{ name: 'a' }], uploadId, source: 'the same' });
  const first = job(Bun.randomUUIDv7());
  const second = job(Bun.randomUUIDv7());
  const ledger = new Ledger({ db: postgres.db, clickhouse, clock });
  const options = { repositoryId: id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
  for (const one of [first, second]) await ledger.write([prepareChunk(one, options)]);

  const statuses = () =>
    Promise.all(
      [first, second].map(async ({ upload_id }) => {
        const receipt = await receipts.find(repository.owner, repository.name, upload_id);
        return [receipt?.status, receipt?.accepted, receipt?.duplicate];
      }),
    );
  expect(await statuses()).toEqual([
    ['queued', null, null],
    ['stored', 0, 1],
  ]);

  await evaluateRepository(postgres.db, id);
  expect(await statuses()).toEqual([
    ['stored', 1, 0],
    ['stored', 0, 1],
  ]);
});

test('an upload whose block is counted is stored, though the blocks of others wait', async () => {
  const { postgres, clickhouse, clock, repositories, receipts } = ingest.stores;
  const repository = uniqueRepository();
  const { id } = await repositories.record(repository);
  const job = (name: string) =>
    makeJob({ repository, receivedAt: TEST_NOW, executions: [{ name }], uploadId: Bun.randomUUIDv7(), source: name });
  const [counted, waiting] = [job('a'), job('b')];
  const ledger = new Ledger({ db: postgres.db, clickhouse, clock });
  const options = { repositoryId: id, defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
  const statuses = () =>
    Promise.all(
      [counted, waiting].map(
        async ({ upload_id }) => (await receipts.find(repository.owner, repository.name, upload_id))?.status,
      ),
    );
  await ledger.write([prepareChunk(counted, options)]);
  await evaluateRepository(postgres.db, id);
  await ledger.write([prepareChunk(waiting, options)]);
  expect(await statuses()).toEqual(['stored', 'queued']);
  await evaluateRepository(postgres.db, id);
  expect(await statuses()).toEqual(['stored', 'stored']);
});
