import { expect, test } from 'bun:test';
import { concurrently } from '../../src/concurrently.ts';

test('everything is done in its order, never more than a few at a time', async () => {
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  await concurrently([1, 2, 3, 4, 5, 6, 7], 3, async (thing) => {
    begun.push(thing);
    most = Math.max(most, ++running);
    await Bun.sleep(thing % 2);
    running--;
  });
  expect(begun).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

test('after a failure nothing is begun, and it is thrown once all that were begun have ended', async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const slow = Promise.withResolvers<void>();
  const all = concurrently([1, 2, 3, 4], 2, async (thing) => {
    begun.push(thing);
    if (thing === 2) throw new Error('the second failed');
    await slow.promise;
    ended.push(thing);
  });
  await Bun.sleep(5);
  expect([begun, ended]).toEqual([[1, 2], []]);
  slow.resolve();
  await expect(all).rejects.toThrow('the second failed');
  expect([begun, ended]).toEqual([[1, 2], [1]]);
});

test('nothing to do is done at once', async () => {
  await expect(concurrently([], 3, () => Promise.reject(new Error('never')))).resolves.toBeUndefined();
});
