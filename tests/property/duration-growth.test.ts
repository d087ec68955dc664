/** Whether a test takes longer than it did. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type DurationDay,
  GROWTH_CHANCE_MAX,
  GROWTH_DAYS_MIN,
  GROWTH_SECONDS_MIN,
  GROWTH_TIMES_MIN,
  growthOf,
} from '../../src/domain/duration-growth.ts';
import { randomFrom } from '../support/random.ts';

const daysOf = (seconds: readonly number[], leg: readonly number[] = seconds.map(() => 1)): DurationDay[] =>
  seconds.map((one, day) => ({
    day,
    seconds: one,
    relative: one / (leg[day] ?? 1),
    firstCommit: `first-${day}`,
    lastCommit: `last-${day}`,
  }));

/** Durations of 28 days, noisy by a factor, of which the days from `at` on take so many times as long. */
function world(seed: number, { noise, times = 1, at = 28 }: { noise: number; times?: number; at?: number }): number[] {
  const random = randomFrom(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Array.from({ length: 28 }, (_, day) => Math.exp(noise * normal()) * (day >= at ? times : 1));
}

describe('a test', () => {
  test('that takes as long as ever is called grown once in a thousand at most, however noisy', () => {
    const WORLDS = 5_000;
    for (const noise of [0.1, 0.4, 1]) {
      const alarms = Array.from({ length: WORLDS }, (_, i) => growthOf(daysOf(world(i + 1, { noise })))).filter(
        Boolean,
      );
      expect(alarms.length).toBeLessThanOrEqual(GROWTH_CHANCE_MAX * WORLDS);
    }
  });

  test('that takes twice as long since a week is found, with the day', () => {
    const found = Array.from({ length: 300 }, (_, i) =>
      growthOf(daysOf(world(i + 1, { noise: 0.1, times: 2, at: 21 }))),
    );
    expect(found.filter((one) => one !== null && Math.abs(one.day - 21) <= 1).length).toBeGreaterThanOrEqual(285);
    const [first] = found;
    expect([first?.lastCommitBefore, first?.firstCommitAfter]).toEqual(['last-20', 'first-21']);
  });

  test('is not grown where all tests of its leg took longer', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const leg = Array.from({ length: 28 }, (_, day) => (day >= 14 ? 2 : 1));
      const seconds = world(seed, { noise: 0.1 }).map((one, day) => one * (leg[day] ?? 1));
      expect(growthOf(daysOf(seconds, leg))).toBeNull();
    }
  });

  test('that grew took longer by the least that is named, with enough days on either side', () => {
    const seconds = fc.array(fc.double({ min: 0.001, max: 20, noNaN: true }), { maxLength: 30 });
    fc.assert(
      fc.property(seconds, fc.nat(30), fc.integer({ min: 1, max: 6 }), (values, at, times) => {
        const days = daysOf(values.map((one, day) => (day >= at ? one * times : one)));
        const growth = growthOf(days);
        if (growth === null) return;
        expect(growth.after).toBeGreaterThanOrEqual(GROWTH_TIMES_MIN * growth.before);
        expect(growth.after).toBeGreaterThanOrEqual(growth.before + GROWTH_SECONDS_MIN);
        expect(growth.day).toBeGreaterThanOrEqual(GROWTH_DAYS_MIN);
        expect(growth.day).toBeLessThanOrEqual(days.length - GROWTH_DAYS_MIN);
        // Whatever the unit, but for the least difference.
        expect(growthOf(days.map((day) => ({ ...day, seconds: 10 * day.seconds })))?.day).toBe(growth.day);
      }),
    );
  });

  test('of few days, or one that became faster, is not grown', () => {
    expect(growthOf(daysOf([1, 1.01, 1.02, 1.03, 9, 9.1, 9.2, 9.3, 9.4]))).toBeNull();
    expect(growthOf(daysOf(world(3, { noise: 0.05, times: 0.2, at: 14 })))).toBeNull();
    expect(growthOf([])).toBeNull();
  });
});
