/** What is kept of a repository: never more than the installation keeps, and nothing of what has left. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isKept, isRetained, keptOf, monthOf, oldestRetainedMonth, startOfMonth } from '../../src/domain/retention.ts';
import { DAY_MS } from '../../src/domain/time.ts';

const now = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2040, 0, 1) });
const days = fc.integer({ min: 1, max: 3_000 });
const month = now.map(monthOf);
const age = fc.integer({ min: 0, max: 4_000 }).map((many) => many * DAY_MS);
const own = fc.option(days, { nil: null });

describe('a repository', () => {
  test('keeps at most what the installation keeps, and all of it unless it has fewer days', () => {
    fc.assert(
      fc.property(now, age, days, own, (at, old, installation, ofRepository) => {
        const kept = keptOf(installation, { executionRetentionDays: ofRepository, executionsSince: 0 });
        const is = isKept(at - old, at, kept);
        if (is) expect(isRetained(at - old, at, installation)).toBe(true);
        if (ofRepository === null) expect(is).toBe(isRetained(at - old, at, installation));
        // Days are a promise: nothing younger leaves.
        if (old < Math.min(ofRepository ?? installation, installation) * DAY_MS) expect(is).toBe(true);
      }),
    );
  });

  test('takes nothing of months that have left, however many days it keeps now', () => {
    fc.assert(
      fc.property(now, age, days, own, month, (at, old, installation, ofRepository, since) => {
        const kept = keptOf(installation, { executionRetentionDays: ofRepository, executionsSince: since });
        if (monthOf(at - old) < since) expect(isKept(at - old, at, kept)).toBe(false);
      }),
    );
  });
});

test('the oldest month that is retained is the first of which anything is taken', () => {
  fc.assert(
    fc.property(now, days, (at, kept) => {
      const oldest = startOfMonth(oldestRetainedMonth(at, kept));
      expect([isRetained(oldest, at, kept), isRetained(oldest - 1, at, kept)]).toEqual([true, false]);
    }),
  );
});
