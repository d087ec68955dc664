import { afterEach, expect, setSystemTime, test } from 'bun:test';
import fc from 'fast-check';
import { KeyRateLimit } from '../../src/access/key-rate-limit.ts';
import { rateLimitHeaders, tooManyRequests } from '../../src/http/rate-limit.ts';
import { createLogger } from '../../src/observability/log.ts';
import { TEST_NOW } from '../support/clock.ts';

const WINDOW_MS = 60_000;
const log = createLogger('fatal');

afterEach(() => void setSystemTime());

test('a window begins with the first request of a credential, counts its requests only, and ends after a minute', async () => {
  const step = fc.record({
    waitMs: fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 2 * WINDOW_MS })),
    token: fc.constantFrom('a', 'b', 'c'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const limit = new KeyRateLimit({ requestsMax: 5, redis: undefined, log });
      const windows = new Map<string, { startedAt: number; requests: number }>();
      let now = TEST_NOW;
      for (const { waitMs, token } of steps) {
        now += waitMs;
        setSystemTime(new Date(now));
        const known = windows.get(token);
        const window = known && now < known.startedAt + WINDOW_MS ? known : { startedAt: now, requests: 0 };
        window.requests++;
        windows.set(token, window);
        const resetSeconds = Math.ceil((window.startedAt + WINDOW_MS - now) / 1_000);
        expect(await limit.count(token)).toEqual({ requests: window.requests, resetSeconds });
      }
    }),
  );
});

test('the headers never promise more than there is, and a client that waits as long as they say is answered', async () => {
  const limit = new KeyRateLimit({ requestsMax: 3, redis: undefined, log });
  let now = TEST_NOW;
  for (let minute = 0; minute < 3; minute++) {
    const left: number[] = [];
    for (let i = 0; i < 5; i++) {
      setSystemTime(new Date(now));
      const count = await limit.count('a');
      const headers = rateLimitHeaders(limit, count);
      expect(headers['ratelimit-policy']).toBe('"key";q=3;w=60');
      const [, r, t] = /^"key";r=(\d+);t=(\d+)$/.exec(headers.ratelimit ?? '') ?? [];
      left.push(Number(r));
      expect(tooManyRequests(limit, count).headers['retry-after']).toBe(String(t));
      if (i < 4) now += 999;
      else now += Number(t) * 1_000;
    }
    expect(left).toEqual([2, 1, 0, 0, 0]);
  }
});
