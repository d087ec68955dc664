/** Jobs that no retry can help: kept with the reason, and replayed into their own queue. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { v7 as uuid7 } from 'uuid';
import { byService } from '../../src/domain/audit.ts';
import { ReceiptStore } from '../../src/ledger/receipts.ts';
import { compress } from '../../src/queue/encoding.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { replayDeadLetters } from '../../src/queue/replay.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { packBundle, uploadBundles } from '../../src/queue/upload-bundles.ts';
import { IngestDriver } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { openTestStores, type TestStores, uniqueRepository } from '../support/stores.ts';

const BY = byService('a test');
let stores: TestStores;
let driver: IngestDriver;
beforeAll(async () => {
  stores = await openTestStores();
  driver = new IngestDriver(stores);
});
afterAll(() => driver.stop());

const letterOf = async (jobId: string) => (await stores.deadLetters.list()).find((letter) => letter.jobId === jobId);

test('letters of each queue are replayed into it, and become letters again while the cause is not fixed', async () => {
  const { producers, deadLetters } = stores;
  const bad = compress({ v: 99 });
  await producers.of(testRuns).addAgain('bad-upload', bad);
  await producers.of(prEvents).addAgain('bad-events', bad);
  await driver.settle();
  const before = await Promise.all(['bad-upload', 'bad-events'].map(letterOf));
  expect(before.map((letter) => letter?.queue)).toEqual(['test-runs', 'pr-events']);
  stores.clock.at += 1_000;
  await replayDeadLetters(
    deadLetters,
    producers,
    before.flatMap((letter) => letter ?? []),
    BY,
  );
  await driver.settle();
  const after = await Promise.all(['bad-upload', 'bad-events'].map(letterOf));
  expect(after.map((letter) => letter?.queue)).toEqual(['test-runs', 'pr-events']);
  for (const [i, letter] of after.entries())
    expect(letter?.createdAt.getTime()).toBeGreaterThan(before[i]?.createdAt.getTime() ?? Number.POSITIVE_INFINITY);
  expect(await deadLetters.payload(after[1]?.id ?? '')).toEqual(bad);
});

test('a job that becomes a letter again while it is being replayed stays one', async () => {
  const { producers, deadLetters, clock } = stores;
  await deadLetters.add('pr-events', 'bad-at-once', null, { v: 99 }, 'first');
  const letters = [await letterOf('bad-at-once')].flatMap((letter) => letter ?? []);
  clock.at += 1;
  /** Its worker is done with it before this call returns. */
  const buried: Pick<typeof producers, 'ofQueue'> = {
    ofQueue: (queue) =>
      Object.assign(Object.create(producers.ofQueue(queue) ?? null), {
        addAgain: (jobId: string, data: unknown) => deadLetters.add(queue, jobId, null, data, 'again'),
      }),
  };
  await replayDeadLetters(deadLetters, buried, letters, BY);
  expect(await letterOf('bad-at-once')).toMatchObject({ reason: 'again' });
});

describe('what no retry can help becomes a dead letter at once, and the receipt says so', () => {
  const receiptOf = ({ owner, name }: { owner: string; name: string }, uploadId: string) =>
    new ReceiptStore({
      db: stores.postgres.db,
      repositories: stores.repositories,
      producers: stores.producers,
    }).find(owner, name, uploadId);

  test.each([
    ['half of a surrogate pair in a source', { sources: ['a\ud800'] }, 'sources'],
    ['NUL in a source', { sources: ['a\0'] }, 'sources'],
    ['half of a surrogate pair in a key', { key: ['a\udc00'] }, 'executions.key'],
  ])('%s', async (_, { sources, key }: { sources?: string[]; key?: string[] }, named) => {
    const repository = uniqueRepository();
    const good = makeJob({
      repository,
      executions: [{ name: 't' }],
      receivedAt: stores.clock.at,
    });
    const uploadId = uuid7();
    const bad = { ...good, upload_id: uploadId, sources: sources ?? good.sources };
    await stores.producers
      .of(testRuns)
      .addAgain(
        `${uploadId}-0`,
        compress({ ...bad, executions: { ...good.executions, key: key ?? good.executions.key } }),
      );
    await driver.ingest(good);
    expect((await letterOf(`${uploadId}-0`))?.reason).toContain(named);
    expect(await receiptOf(repository, uploadId)).toMatchObject({
      status: 'failed',
      accepted: 0,
      failure: expect.stringContaining('NUL or half of a surrogate pair'),
    });
    expect(await receiptOf(uniqueRepository(), uploadId)).toBeNull();
    expect(await receiptOf(repository, good.upload_id)).toMatchObject({ status: 'stored', accepted: 1 });
  });

  test('NUL in a sentence for the receipt is replaced, and the chunk is stored with those beside it', async () => {
    const repository = uniqueRepository();
    const make = () => makeJob({ repository, executions: [{ name: 't' }], receivedAt: stores.clock.at });
    const [odd, plain] = [make(), make()];
    odd.warnings = ['a\0b\ud800'];
    odd.rejections = [{ reason: 'r\0', count: 1, examples: ['e\0'] }];
    await driver.ingest(odd, plain);
    expect(await receiptOf(repository, plain.upload_id)).toMatchObject({ status: 'stored' });
    expect(await receiptOf(repository, odd.upload_id)).toMatchObject({
      status: 'stored',
      warnings: ['a\uFFFDb\uFFFD'],
      rejections: [{ reason: 'r\uFFFD', count: 1, examples: ['e\uFFFD'] }],
    });
  });

  test.each([
    ['a host with NUL', { repository: { host: 'h\0' } }],
    ['a number of chunks beyond PostgreSQL', { chunk: { index: 3_000_000_000, count: 3_000_000_001 } }],
  ])('%s, which PostgreSQL refuses, beside a job that is stored', async (_, odd) => {
    const repository = uniqueRepository();
    const good = makeJob({ repository, executions: [{ name: 't' }], receivedAt: stores.clock.at });
    const uploadId = uuid7();
    const host = 'repository' in odd ? odd.repository : {};
    const chunk = 'chunk' in odd ? odd.chunk : good.chunk;
    const bad = { ...good, upload_id: uploadId, chunk, repository: { ...repository, ...host } };
    await stores.producers.of(testRuns).addAgain(`${uploadId}-0`, compress(bad));
    await driver.ingest(good);
    expect((await letterOf(`${uploadId}-0`))?.reason).toContain('PostgreSQL refuses');
    expect(await receiptOf(repository, uploadId)).toMatchObject({ status: 'failed' });
    expect(await receiptOf(repository, good.upload_id)).toMatchObject({ status: 'stored', accepted: 1 });
  });
});

describe('uploads that share a job', () => {
  const receiptOf = ({ owner, name }: { owner: string; name: string }, uploadId: string) =>
    stores.receipts.find(owner, name, uploadId);
  const make = () =>
    makeJob({ repository: uniqueRepository(), executions: [{ name: 't' }], receivedAt: stores.clock.at });
  const chunkOf = (payload: { upload_id: string }) => ({
    id: `${payload.upload_id}-0`,
    json: JSON.stringify(payload),
    trace: undefined,
  });
  const queued = async (...payloads: { upload_id: string }[]): Promise<void> => {
    const bundle = packBundle(`bundle-${uuid7()}`, payloads.map(chunkOf));
    await stores.producers.of(uploadBundles).addPacked([bundle]);
    await driver.settle();
  };

  test('a bad one becomes a dead letter alone, can be replayed alone, and the others are stored', async () => {
    const [good, odd, refused, better] = [make(), make(), make(), make()];
    driver.watch(good.repository, better.repository);
    const wrong = { ...odd, v: 2 };
    const tooMany = { ...refused, chunk: { index: 3_000_000_000, count: 3_000_000_001 } };
    await queued(good, wrong, tooMany, better);
    for (const { repository, upload_id } of [good, better])
      expect(await receiptOf(repository, upload_id)).toMatchObject({ status: 'stored', accepted: 1 });
    for (const [{ repository, upload_id }, reason] of [
      [odd, 'not a test-runs job of version 1'],
      [refused, 'PostgreSQL refuses'],
    ] as const) {
      expect(await receiptOf(repository, upload_id)).toMatchObject({
        status: 'failed',
        failure: expect.stringContaining(reason),
      });
      expect(await letterOf(`${upload_id}-0`)).toMatchObject({ queue: 'test-runs', uploadId: upload_id });
    }
    // With its cause fixed.
    const letter = await letterOf(`${odd.upload_id}-0`);
    await stores.deadLetters.add('test-runs', `${odd.upload_id}-0`, odd.upload_id, odd, 'fixed');
    const letters = [await letterOf(`${odd.upload_id}-0`)].flatMap((found) => found ?? []);
    expect(letters).toMatchObject([{ id: letter?.id }]);
    await replayDeadLetters(stores.deadLetters, stores.producers, letters, BY);
    await driver.settle();
    expect(await receiptOf(odd.repository, odd.upload_id)).toMatchObject({ status: 'stored', accepted: 1 });
  });

  test('a job that is tried again as a whole counts nothing twice', async () => {
    const repository = uniqueRepository();
    const uploads = ['a', 'b', 'c'].map((source) =>
      makeJob({ repository, source, executions: [{ name: 't' }], receivedAt: stores.clock.at }),
    );
    const [first] = uploads;
    if (first) await queued(first);
    await queued(...uploads);
    await queued(...uploads);
    for (const { upload_id } of uploads)
      expect(await receiptOf(repository, upload_id)).toMatchObject({ status: 'stored', accepted: 1, duplicate: 0 });
    driver.watch(repository);
    await driver.verify();
  });
});

test.each(['axes', 'place'])(
  'a job with the name `__proto__` in its %s is refused, and loses no axis',
  async (field) => {
    const good = makeJob({ repository: uniqueRepository(), executions: [{ name: 't' }], receivedAt: stores.clock.at });
    const bad = { ...good, run: { ...good.run, [field]: JSON.parse('{"os":"linux","__proto__":"x"}') } };
    await stores.producers.of(testRuns).addAgain(`${good.upload_id}-0`, compress(bad));
    await driver.settle();
    expect((await letterOf(`${good.upload_id}-0`))?.reason).toContain('holds the name "__proto__"');
  },
);

test('a payload that is not a job of its queue becomes a dead letter at once, with the reason', async () => {
  const queue = stores.queues.queue('test-runs');
  const jobId = `bad-${uuid7()}`;
  await queue.add('test-runs', { v: 1, upload_id: 'x' }, { jobId });
  await driver.settle();
  await queue.close();
  expect((await letterOf(jobId))?.reason).toContain('not a test-runs job of version 1');
});
