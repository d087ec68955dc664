import { expect, test } from 'bun:test';
import { EventEmitter } from 'node:events';
import type { Worker } from 'bullmq';
import fc from 'fast-check';
import { BYTES_MAX, JobsInHand, type Room } from '../../workers/jobs-in-hand.ts';

const LARGE = 4;
const SMALL = 64;
/** The size of a job is guessed from an eighth of it. */
const packed = (bytes: number) => ({ v: 1, enc: 'zstd', b: 'x'.repeat(Math.ceil(bytes / 8)) });

/** A worker that has fetched some jobs, in the order in which they were fetched. */
function start() {
  const worker = Object.assign(new EventEmitter(), { concurrency: SMALL });
  const inHand = new JobsInHand({ concurrency: LARGE, concurrencySmall: SMALL }, worker as unknown as Worker);
  const entered: Room[] = [];
  const fetch = async (bytes: number, takes = bytes): Promise<void> => {
    const data = packed(bytes);
    worker.emit('active', { data });
    const room = await inHand.room(data);
    room.takes(takes);
    entered.push(room);
  };
  return { worker, entered, fetch };
}

test('a worker fetches many jobs while they are small together, and few while they are large', async () => {
  const { worker, entered, fetch } = start();
  await Promise.all(Array.from({ length: 32 }, () => fetch(1_000)));
  expect(worker.concurrency).toBe(SMALL);
  await fetch(BYTES_MAX);
  expect(worker.concurrency).toBe(LARGE);
  for (const room of entered) room.leave();
  expect(worker.concurrency).toBe(SMALL);
});

test('what turns out larger than it looked keeps others from being unpacked', async () => {
  const { entered, fetch } = start();
  await fetch(1_000, BYTES_MAX);
  const second = fetch(1_000);
  await Bun.sleep(0);
  expect(entered.length).toBe(1);
  entered[0]?.leave();
  await second;
});

test('unpacked jobs take at most so many bytes, and one job; each gets its turn, in order', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 2 * BYTES_MAX }), { minLength: 1, maxLength: 30 });
  const run = async (bytesOf: number[], order: number[]): Promise<void> => {
    const { worker, entered, fetch } = start();
    const turns: number[] = [];
    const all = bytesOf.map((bytes, i) => fetch(bytes).then(() => turns.push(i)));
    const gone = new Set<number>();
    for (const pick of order) {
      await Bun.sleep(0);
      const held = turns.filter((i) => !gone.has(i));
      const taken = held.slice(0, -1).reduce((sum, i) => sum + (bytesOf[i] ?? 0), 0);
      expect(taken).toBeLessThan(BYTES_MAX);
      const left = held[pick % held.length];
      if (left === undefined) break;
      gone.add(left);
      entered[left]?.leave();
    }
    await Promise.all(all);
    expect(turns).toEqual(bytesOf.map((_, i) => i));
    expect(gone.size).toBe(bytesOf.length);
    expect(worker.concurrency).toBe(SMALL);
  };
  const order = fc.array(fc.nat(), { minLength: 30, maxLength: 30 });
  await fc.assert(fc.asyncProperty(sizes, order, run), { numRuns: 50 });
});
