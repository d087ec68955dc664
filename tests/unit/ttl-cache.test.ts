import { describe, expect, test } from 'bun:test';
import { TtlCache } from '../../src/ttl-cache.ts';

/** A load that ends when the test says so. */
function pending<V>() {
  const { promise, resolve, reject } = Promise.withResolvers<V>();
  return { load: () => promise, resolve, reject };
}

describe('values that are served from memory for a short time', () => {
  test('are loaded once for all concurrent callers, even if there is no value', async () => {
    const cache = new TtlCache<number | undefined>(1_000, 10);
    let loads = 0;
    const load = async (): Promise<undefined> => {
      loads++;
    };
    await Promise.all([cache.get('a', load), cache.get('a', load)]);
    await cache.get('a', load);
    expect(loads).toBe(1);
    await cache.get('b', load);
    expect(loads).toBe(2);
  });

  test('are recalled once they are loaded, not before', async () => {
    const cache = new TtlCache<number>(1_000, 10);
    const slow = pending<number>();
    const found = cache.get('a', slow.load);
    expect(cache.recall('a')).toBeUndefined();
    slow.resolve(7);
    expect([await found, cache.recall('a'), cache.recall('b')]).toEqual([7, 7, undefined]);
  });

  test('are no older than allowed, counted from when their loading began', async () => {
    const cache = new TtlCache<number>(1_000, 10);
    const slow = pending<number>();
    const first = cache.get('a', slow.load);
    await Bun.sleep(1_100);
    expect(await cache.get('a', async () => 2)).toBe(2);
    slow.resolve(1);
    expect([await first, await cache.get('a', async () => 3)]).toEqual([1, 2]);
    await Bun.sleep(1_100);
    expect([cache.recall('a'), await cache.get('a', async () => 4)]).toEqual([undefined, 4]);
  });

  test('are loaded again after a failure', async () => {
    const cache = new TtlCache<number>(1_000, 10);
    const failing = cache.get('a', () => Promise.reject(new Error('down')));
    expect(await failing.catch((error: Error) => error.message)).toBe('down');
    expect(await cache.get('a', async () => 1)).toBe(1);
  });

  test('are loaded again after they are forgotten, even during a load', async () => {
    const cache = new TtlCache<number>(1_000, 10);
    const before = pending<number>();
    const first = cache.get('a', before.load);
    cache.forget('a');
    expect(await cache.get('a', async () => 2)).toBe(2);
    before.resolve(1);
    expect([await first, cache.recall('a')]).toEqual([1, 2]);
    cache.clear();
    expect(cache.recall('a')).toBeUndefined();
  });

  test('a late failure does not remove what was loaded since', async () => {
    const cache = new TtlCache<number>(1_000, 10);
    const before = pending<number>();
    const first = cache.get('a', before.load);
    cache.forget('a');
    await cache.get('a', async () => 2);
    before.reject(new Error('late'));
    await first.catch(() => {});
    expect(cache.recall('a')).toBe(2);
  });

  test('are bounded: the least recently used one leaves first', async () => {
    const cache = new TtlCache<string>(1_000, 2);
    for (const key of ['a', 'b', 'a', 'c']) await cache.get(key, async () => key);
    expect([cache.recall('a'), cache.recall('b'), cache.recall('c')]).toEqual(['a', undefined, 'c']);
  });

  test('that take long to load are kept for so much longer', async () => {
    const cache = new TtlCache<number>(10, 10, { loadShareMax: 0.001 });
    let loads = 0;
    const load = async (): Promise<number> => {
      await Bun.sleep(30);
      return ++loads;
    };
    expect(await cache.get('a', load)).toBe(1);
    await Bun.sleep(50);
    expect(cache.recall('a')).toBe(1);
    expect(await cache.get('a', load)).toBe(1);
  });
});
