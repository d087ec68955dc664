/** Jobs that no retry can help: kept with the reason, and replayed into their own queue. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { v7 as uuid7 } from 'uuid';
import { compress } from '../../src/queue/encoding.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { replayDeadLetters } from '../../src/queue/replay.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { IngestDriver } from '../support/ingest.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

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
  );
  await driver.settle();
  const after = await Promise.all(['bad-upload', 'bad-events'].map(letterOf));
  expect(after.map((letter) => letter?.queue)).toEqual(['test-runs', 'pr-events']);
  for (const [i, letter] of after.entries())
    expect(letter?.createdAt.getTime()).toBeGreaterThan(before[i]?.createdAt.getTime() ?? Number.POSITIVE_INFINITY);
  expect(await deadLetters.payload(after[1]?.id ?? '')).toEqual(bad);
});

test('a payload that is not a job of its queue becomes a dead letter at once, with the reason', async () => {
  const queue = stores.queues.queue('test-runs');
  const jobId = `bad-${uuid7()}`;
  await queue.add('test-runs', { v: 1, upload_id: 'x' }, { jobId });
  await driver.settle();
  await queue.close();
  expect((await letterOf(jobId))?.reason).toContain('not a test-runs job of version 1');
});
