/** Reads that wait at the same time become one; every caller gets its own value, or its own error. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Batch } from '../../src/batch.ts';
import { until } from '../support/patience.ts';

/** A load that answers when it is told to. */
function controlled() {
  const runs: { keys: number[]; signal: AbortSignal; answer(): void; fail(): void }[] = [];
  const batch = new Batch<number, string>((take, signal) => {
    const keys = take();
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    const answer = () => resolve(keys.map((key) => `value of ${key}`));
    runs.push({ keys, signal, answer, fail: () => reject(new Error('the store is down')) });
    return promise;
  });
  return { batch, runs };
}

describe('a batch', () => {
  test('sends a lone read at once, and what arrives meanwhile together', async () => {
    const { batch, runs } = controlled();
    const first = batch.get(1);
    const others = [batch.get(2), batch.get(3), batch.get(2)];
    expect(runs.map(({ keys }) => keys)).toEqual([[1]]);
    runs[0]?.answer();
    expect(await first).toBe('value of 1');
    await Bun.sleep(0);
    expect(runs.map(({ keys }) => keys)).toEqual([[1], [2, 3, 2]]);
    runs[1]?.answer();
    expect(await Promise.all(others)).toEqual(['value of 2', 'value of 3', 'value of 2']);
  });

  test('fails for those that it was read for, and works for the next', async () => {
    const { batch, runs } = controlled();
    const failing = batch.get(1);
    const later = batch.get(2);
    runs[0]?.fail();
    await expect(failing).rejects.toThrow('the store is down');
    await Bun.sleep(0);
    runs[1]?.answer();
    expect(await later).toBe('value of 2');
  });

  test('ends the read when the last caller that waits for it has gone, and not before', async () => {
    const { batch, runs } = controlled();
    const callers = [new AbortController(), new AbortController()];
    const blocking = batch.get(0);
    const reads = callers.map((caller, i) => batch.get(i, caller.signal));
    runs[0]?.answer();
    await blocking;
    await Bun.sleep(0);
    callers[0]?.abort();
    await expect(reads[0] as Promise<unknown>).rejects.toThrow();
    expect(runs[1]?.signal.aborted).toBe(false);
    callers[1]?.abort();
    await expect(reads[1] as Promise<unknown>).rejects.toThrow();
    expect(runs[1]?.signal.aborted).toBe(true);
  });

  test('a caller that comes after the last one has left is read for again', async () => {
    const turns: PromiseWithResolvers<void>[] = [];
    const batch = new Batch<number, number>(async (take, signal) => {
      const turn = Promise.withResolvers<void>();
      turns.push(turn);
      signal.addEventListener('abort', () => setTimeout(() => turn.reject(signal.reason)));
      await turn.promise;
      return take();
    });
    const first = new AbortController();
    const left = batch.get(1, first.signal);
    first.abort();
    const next = batch.get(2);
    await expect(left).rejects.toThrow();
    await until(() => turns.length >= 2);
    turns[1]?.resolve();
    expect(await next).toBe(2);
  });

  test('asks about a thing once in each read', async () => {
    const runs: string[][] = [];
    const load = async (take: () => string[]) => {
      const keys = take();
      runs.push(keys);
      await Bun.sleep(0);
      return keys;
    };
    const batch = new Batch<string, string>(load, { thingOf: (key) => key[0] ?? '' });
    const keys = ['a1', 'b1', 'a2', 'a2', 'c1', 'b2'];
    expect(await Promise.all(keys.map((key) => batch.get(key)))).toEqual(keys);
    expect(runs).toEqual([['a1'], ['b1', 'a2', 'c1'], ['a2', 'b2']]);
  });

  test('two reads at once share what waits', async () => {
    const runs: { keys: number[]; answer(): void }[] = [];
    const batch = new Batch<number, number>(
      (take) => {
        const keys = take();
        const { promise, resolve } = Promise.withResolvers<number[]>();
        runs.push({ keys, answer: () => resolve(keys) });
        return promise;
      },
      { atOnce: 2 },
    );
    const reads = Array.from({ length: 12 }, (_, i) => batch.get(i));
    expect(runs.map(({ keys }) => keys)).toEqual([[0], [1]]);
    runs[0]?.answer();
    await Bun.sleep(0);
    // Eleven wait or are being read.
    expect(runs[2]?.keys).toEqual([2, 3, 4, 5, 6, 7]);
    runs[1]?.answer();
    await Bun.sleep(0);
    expect(runs[3]?.keys).toEqual([8, 9, 10, 11]);
    for (const { answer } of runs) answer();
    expect(await Promise.all(reads)).toEqual(Array.from({ length: 12 }, (_, i) => i));
  });

  test('reads what arrives before its keys are taken', async () => {
    const turn = Promise.withResolvers<void>();
    const taken: number[][] = [];
    const batch = new Batch<number, number>(async (take) => {
      await turn.promise;
      const keys = take();
      taken.push(keys);
      return keys;
    });
    const reads = [batch.get(1), batch.get(2)];
    turn.resolve();
    expect(await Promise.all(reads)).toEqual([1, 2]);
    expect(taken).toEqual([[1, 2]]);
  });

  test('gives every caller the value of its key, however they arrive and in whatever sizes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: fc.nat(5), wait: fc.nat(3), leaves: fc.boolean() }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 3 }),
        async (reads, sizeMax, atOnce) => {
          let running = 0;
          const batch = new Batch<number, number>(
            async (take, signal) => {
              expect(++running).toBeLessThanOrEqual(atOnce);
              await Promise.resolve();
              const keys = take();
              expect(keys.length).toBeLessThanOrEqual(sizeMax);
              if (!signal.aborted) expect(keys).not.toEqual([]);
              await Promise.resolve();
              running--;
              return keys.map((key) => key * 10);
            },
            { sizeMax, atOnce },
          );
          await Promise.all(
            reads.map(async ({ key, wait, leaves }) => {
              for (let i = 0; i < wait; i++) await Promise.resolve();
              const caller = new AbortController();
              const read = batch.get(key, caller.signal);
              if (leaves) {
                caller.abort();
                await expect(read).rejects.toThrow();
              } else expect(await read).toBe(key * 10);
            }),
          );
        },
      ),
      { examples: [[READS_THAT_SHARE_TWO, 2, 3]] },
    );
  });
});

/** Once, the first of two reads that had begun for one caller each took both. */
const READS_THAT_SHARE_TWO = [2, 0, 0, 0, 0, 1, 1].map((wait) => ({ key: 0, wait, leaves: false }));
