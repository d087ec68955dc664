/** Numbers and moments as the pages show them. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { RATIO_DAYS, windowUpTo } from '../../src/domain/ratio-window.ts';
import { formatAgo, formatCounted, formatSeconds, formatShare } from '../../web/ui/format.ts';
import { daysUpTo, formatUtcSpan } from '../../web/ui/utc.ts';

const DAY_S = 86_400;

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

describe('a moment', () => {
  const now = Date.parse('2026-11-22T12:00:00Z');
  const told = (seconds: number): string => formatAgo(new Date(now + 1_000 * seconds).toISOString(), now);
  const NAMES = { minute: 60, hour: 3_600, day: DAY_S, month: 2_629_800, year: 31_557_600 };
  const ENDS = { minute: 60, hour: 24, day: 31, month: 12, year: 100 };
  /** The duration that is said, as seconds. */
  const saidOf = (text: string): { count: number; unit: keyof typeof NAMES } => {
    const [, count = '', unit = ''] = /(\d+) (minute|hour|day|month|year)/.exec(text) ?? [];
    return { count: Number(count), unit: unit as keyof typeof NAMES };
  };

  test('is told in words', () => {
    expect([-30, -3 * 3_600, -25 * 3_600, 49 * 3_600].map(told)).toEqual([
      'just now',
      '3 hours ago',
      '1 day ago',
      'in 2 days',
    ]);
  });

  test('that was chosen as a number of days is still told so a little later', () => {
    fc.assert(
      fc.property(fc.constantFrom(1, 7, 14, 30), fc.integer({ min: 1, max: 1_000 }), (days, later) => {
        expect(told(days * DAY_S - later)).toBe(days === 1 ? 'in 1 day' : `in ${days} days`);
      }),
    );
    expect([90, 365].map((days) => told(days * DAY_S - 5))).toEqual(['in 3 months', 'in 1 year']);
  });

  test('is told to the nearest unit, in the largest that fits, and later moments never as earlier ones', () => {
    const distance = fc.integer({ min: 60, max: 20 * NAMES.year });
    fc.assert(
      fc.property(distance, fc.nat({ max: 40 * DAY_S }), (seconds, more) => {
        const { count, unit } = saidOf(told(seconds));
        expect(count).toBeGreaterThanOrEqual(1);
        expect(count).toBeLessThan(ENDS[unit]);
        expect(Math.abs(count * NAMES[unit] - seconds)).toBeLessThanOrEqual(NAMES[unit] / 2);
        const after = saidOf(told(seconds + more));
        expect(after.count * NAMES[after.unit]).toBeGreaterThanOrEqual(count * NAMES[unit]);
        expect(told(-seconds)).toBe(told(seconds).replace(/^in (.*)$/, '$1 ago'));
      }),
    );
  });
});

test('a count agrees with its noun', () => {
  expect([0, 1, 1_200].map((count) => formatCounted(count, 'commit'))).toEqual([
    '0 commits',
    '1 commit',
    '1,200 commits',
  ]);
});

test('a duration has the unit that fits', () => {
  expect([0, 0.0001, 0.012, 0.9996, 1.25, 90, 119.97, 600, 7_200, 200_000].map(formatSeconds)).toEqual([
    '0 s',
    'less than 1 ms',
    '12 ms',
    '1 s',
    '1.3 s',
    '90 s',
    '2 min',
    '10 min',
    '2 h',
    '2.3 days',
  ]);
});

test('a duration is told to within a twentieth, and never as nothing', () => {
  const UNITS = { ms: 0.001, s: 1, min: 60, h: 3_600, days: DAY_S };
  fc.assert(
    fc.property(fc.double({ min: 0.01, max: 10_000_000, noNaN: true }), (seconds) => {
      const [number = '', unit = ''] = formatSeconds(seconds).split(' ');
      const said = Number(number.replaceAll(',', '')) * UNITS[unit as keyof typeof UNITS];
      expect(Math.abs(said - seconds)).toBeLessThanOrEqual(0.05 * seconds);
    }),
  );
});

test('the days of a page are those of the shares that it shows', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000_000_000 }), (now) => {
      expect(daysUpTo(now, RATIO_DAYS)).toEqual(windowUpTo(now));
    }),
  );
});

test('a span of whole days is told by its first and its last day', () => {
  const from = Date.UTC(2026, 9, 23);
  const told = (days: number): string => formatUtcSpan(from, from + 1_000 * DAY_S * days).replaceAll(/\s+/g, ' ');
  expect(told(30)).toContain('23');
  expect(told(30)).toContain('21');
  expect(told(30)).toEndWith(' UTC');
  expect(told(1)).not.toContain('–');
  expect(told(0.5)).toContain('12:00');
});
