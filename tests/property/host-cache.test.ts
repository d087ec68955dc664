import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AnswerCache } from '../../src/access/host-cache.ts';
import type { Missing, Unavailable } from '../../src/hosts/api/answer.ts';
import { TEST_NOW, TestClock } from '../support/clock.ts';

type Yes = { kind: 'yes'; askedAt: number };
const HOLDS_MS = { yes: 300, missing: 10 };
const RETRY_MS = 5;

const down: Unavailable = { kind: 'unavailable', reason: 'down', retryAfterMs: RETRY_MS, isHostDown: true };
const holdsMs = ({ kind }: Yes | Missing): number => HOLDS_MS[kind];

describe('answers of the host', () => {
  test('never serve longer than they hold, and are not requested before, whatever happens in between', async () => {
    const step = fc.record({
      waitMs: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 400 })),
      key: fc.constantFrom('a', 'b'),
      host: fc.constantFrom('yes', 'missing', 'down', 'not asked'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const clock = new TestClock(TEST_NOW);
        const cache = new AnswerCache<Yes | Missing>(clock);
        const told = new Map<string, { askedAt: number; kind: 'yes' | 'missing' }>();
        const failedUntil = new Map<string, number>();
        for (const { waitMs, key, host } of steps) {
          clock.set(clock.now() + waitMs);
          const now = clock.now();
          let isAsked = false;
          const ask = async (): Promise<Yes | Missing | Unavailable> => {
            isAsked = true;
            if (host === 'not asked') throw new Error('left alone');
            return host === 'down' ? down : host === 'yes' ? { kind: 'yes', askedAt: now } : { kind: 'missing' };
          };
          const before = told.get(key);
          const holds = before !== undefined && now < before.askedAt + HOLDS_MS[before.kind];
          const waits = now < (failedUntil.get(key) ?? 0);
          const answer = await cache.get(key, ask, holdsMs).catch(() => undefined);
          expect(isAsked).toBe(!holds && !waits);
          if (holds) expect(answer?.kind).toBe(before.kind);
          else if (waits) expect(answer).toEqual({ ...down, retryAfterMs: (failedUntil.get(key) ?? 0) - now });
          else if (host === 'down') failedUntil.set(key, now + RETRY_MS);
          else if (host !== 'not asked') told.set(key, { askedAt: now, kind: host });
          if (answer?.kind === 'yes') expect(now - answer.askedAt).toBeLessThan(HOLDS_MS.yes);
        }
      }),
    );
  });

  test('are bounded: the least recently used leaves, and a question that was not asked displaces nothing', async () => {
    const cache = new AnswerCache<Missing>(new TestClock(TEST_NOW), 2);
    const asked: string[] = [];
    const get = (key: string) =>
      cache.get(
        key,
        async () => {
          asked.push(key);
          if (key.startsWith('left alone')) throw new Error(key);
          return { kind: 'missing' };
        },
        holdsMs,
      );
    await get('a');
    await get('b');
    for (let i = 0; i < 10; i++) await get(`left alone ${i}`).catch(() => {});
    asked.length = 0;
    await get('a');
    await get('b');
    expect(asked).toEqual([]);
    await get('c');
    await get('b');
    expect(asked).toEqual(['c']);
    await get('a');
    expect(asked).toEqual(['c', 'a']);
  });
});
