/** Numbers and moments as the pages show them. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatAgo, formatCounted, formatSeconds, formatShare } from '../../web/ui/format.ts';

test('a share is 0% only if it is nothing, and 100% only if it is everything', () => {
  expect([0, 0.0004, 0.001, 0.418, 0.99951, 1].map(formatShare)).toEqual([
    '0%',
    'less than 0.1%',
    '0.1%',
    '41.8%',
    'more than 99.9%',
    '100%',
  ]);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, minExcluded: true, maxExcluded: true, noNaN: true }), (share) => {
      expect(formatShare(share)).not.toMatch(/^(0|100)%$/);
    }),
  );
});

test('a moment is told in words', () => {
  const now = Date.parse('2026-11-22T12:00:00Z');
  const told = ['2026-11-22T11:59:30Z', '2026-11-22T09:00:00Z', '2026-11-21T11:00:00Z', '2026-11-24T13:00:00Z'];
  expect(told.map((at) => formatAgo(at, now))).toEqual(['just now', '3 hours ago', '1 day ago', 'in 2 days']);
});

test('a count agrees with its noun', () => {
  expect([0, 1, 1_200].map((count) => formatCounted(count, 'commit'))).toEqual([
    '0 commits',
    '1 commit',
    '1,200 commits',
  ]);
});

test('a duration has the unit that fits', () => {
  expect([0, 0.012, 1.25, 90, 600].map(formatSeconds)).toEqual(['0 s', '12 ms', '1.3 s', '90 s', '10 min']);
});
