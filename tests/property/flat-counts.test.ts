/** Counts in flat lists, against counts in maps. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  addToMonth,
  areAlike,
  type DayCounts,
  daysFrom,
  endOfDays,
  forEachDay,
  newestOfBoth,
  totalOf,
} from '../../src/domain/flat-counts.ts';
import { dayCounts } from '../support/counts.ts';

const DAYS = 30;
const happened = fc.array(fc.tuple(fc.integer({ min: 20_000, max: 20_080 }), fc.nat({ max: 3 }), fc.nat({ max: 3 })), {
  maxLength: 20,
});
type Happened = readonly (readonly [day: number, passed: number, failed: number])[];

/** By day, in order: what happened, if anything did. */
function modelOf(all: Happened): [day: number, passed: number, failed: number][] {
  const days = new Map<number, [number, number]>();
  for (const [day, passed, failed] of all) {
    const [passes, failures] = days.get(day) ?? [0, 0];
    days.set(day, [passes + passed, failures + failed]);
  }
  return [...days]
    .filter(([, counts]) => counts.some((count) => count > 0))
    .map(([day, counts]): [number, number, number] => [day, ...counts])
    .sort(([one], [other]) => one - other);
}

function visited(days: DayCounts): [number, number, number][] {
  const all: [number, number, number][] = [];
  forEachDay(days, (...counts) => all.push(counts));
  return all;
}

/** It begins and ends with a day on which something happened: equal counts are equal lists. */
function expectTight(days: DayCounts): void {
  if (days.length === 0) return;
  expect((days[1] ?? 0) + (days[2] ?? 0)).toBeGreaterThan(0);
  expect((days.at(-2) ?? 0) + (days.at(-1) ?? 0)).toBeGreaterThan(0);
}

test('days are visited in order, with what happened on each, in whatever order it was added', () => {
  fc.assert(
    fc.property(happened, (all) => {
      const days = dayCounts(all);
      expect(visited(days)).toEqual(modelOf(all));
      expect(endOfDays(days)).toBe(modelOf(all).length === 0 ? undefined : (modelOf(all).at(-1)?.[0] ?? 0) + 1);
      expectTight(days);
    }),
  );
});

test('of two lists, the newest days are kept of both together, and neither changes', () => {
  fc.assert(
    fc.property(happened, happened, (one, other) => {
      const [a, b] = [dayCounts(one), dayCounts(other)];
      const [before, beforeOther] = [[...a], [...b]];
      const both = newestOfBoth(a, b, DAYS);
      const end = modelOf([...one, ...other]).at(-1)?.[0] ?? 0;
      expect(visited(both)).toEqual(modelOf([...one, ...other]).filter(([day]) => day > end - DAYS));
      expectTight(both);
      expect([a, b]).toEqual([before, beforeOther]);
    }),
  );
});

test('the days from one on are all but those before it', () => {
  fc.assert(
    fc.property(happened, fc.integer({ min: 19_990, max: 20_090 }), (all, first) => {
      const left = daysFrom(dayCounts(all), first);
      expect(visited(left)).toEqual(modelOf(all).filter(([day]) => day >= first));
      expectTight(left);
    }),
  );
});

test('two lists are alike if the same days have as many failures, however often something passed', () => {
  const few = fc.array(fc.tuple(fc.integer({ min: 20_000, max: 20_004 }), fc.nat({ max: 1 }), fc.nat({ max: 1 })), {
    maxLength: 4,
  });
  const failuresOf = (all: Happened) => modelOf(all).map(([day, , failed]) => [day, failed]);
  fc.assert(
    fc.property(few, few, (one, other) => {
      const isAlike = JSON.stringify(failuresOf(one)) === JSON.stringify(failuresOf(other));
      expect(areAlike(dayCounts(one), dayCounts(other))).toBe(isAlike);
    }),
    { numRuns: 1_000 },
  );
});

const months = fc.array(fc.tuple(fc.constantFrom(202511, 202512, 202601, 202602), fc.integer({ min: 1, max: 5 })));

test('months add up in order', () => {
  fc.assert(
    fc.property(months, (counts) => {
      const sum: number[] = [];
      const expected = new Map<number, number>();
      for (const [month, count] of counts) {
        addToMonth(sum, month, count);
        expected.set(month, (expected.get(month) ?? 0) + count);
      }
      expect(sum).toEqual([...expected].sort(([a], [b]) => a - b).flat());
      expect(totalOf(sum)).toBe([...expected.values()].reduce((total, count) => total + count, 0));
    }),
  );
});
