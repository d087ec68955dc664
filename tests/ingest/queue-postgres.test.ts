/** The cost of adding jobs to a queue in PostgreSQL, as far as it can be counted. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openPostgresQueues, type QueueBackend } from '../../src/queue/backend.ts';
import { Producers } from '../../src/queue/producer.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { TEST_NOW } from '../support/clock.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

let stores: TestStores;
let queues: QueueBackend;
let producers: Producers;
beforeAll(async () => {
  stores = await openTestStores();
  queues = await openPostgresQueues(stores.databaseUrl, () => {});
  producers = new Producers(queues);
  await stores.postgres.pool.query(`
    create table tables_made (tag text);
    create function note_table() returns event_trigger language plpgsql as $$
      begin insert into public.tables_made values (tg_tag); end $$;
    create event trigger note_tables on ddl_command_end when tag in ('CREATE TABLE', 'CREATE TABLE AS')
      execute function note_table()`);
});
afterAll(async () => {
  // The queue is shared with other tests.
  const driver = new IngestDriver(stores);
  await driver.settle();
  await driver.stop();
  await stores.postgres.pool.query('drop event trigger note_tables; drop table tables_made; drop function note_table');
  await producers.close();
  await queues.close();
});

const jobs = (count: number) =>
  Array.from({ length: count }, () =>
    makeJob({ repository: uniqueRepository(), receivedAt: TEST_NOW, executions: [{ name: 'passes' }] }),
  );

const tablesMade = async (): Promise<number> =>
  (await stores.postgres.pool.query('select from tables_made')).rowCount ?? 0;

test('an upload of one chunk makes no temporary tables, which cost ten times as much as the job', async () => {
  const depth = await producers.of(testRuns).depth();
  for (const job of jobs(3)) await producers.of(testRuns).addMany([job]);
  expect(await tablesMade()).toBe(0);
  expect(await producers.of(testRuns).depth()).toBe(depth + 3);
});

test('all chunks of an upload are added in one statement, and so together or not at all', async () => {
  const [before, depth] = [await tablesMade(), await producers.of(testRuns).depth()];
  await producers.of(testRuns).addMany(jobs(4));
  expect(await tablesMade()).toBe(before + 2);
  expect(await producers.of(testRuns).depth()).toBe(depth + 4);
});
