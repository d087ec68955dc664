/** When a test first ran in each month, in whatever order its executions arrive. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { firstOfMonths, withoutFirstsOf } from '../../src/domain/first-executions.ts';
import { monthOf } from '../../src/domain/retention.ts';

const HOUR_MS = 3_600_000;
const times = fc.array(fc.integer({ min: 0, max: 24 * 150 }).map((hours) => Date.UTC(2026, 7, 1) + hours * HOUR_MS));

test('is the least of each month, in order, however the executions are cut into parts', () => {
  fc.assert(
    fc.property(times, fc.nat(), (all, cut) => {
      const at = all.length === 0 ? 0 : cut % all.length;
      const months = Map.groupBy(all, monthOf);
      const expected = [...months.values()].map((of) => Math.min(...of)).sort((one, other) => one - other);
      expect(firstOfMonths(firstOfMonths([], all.slice(0, at)), all.slice(at))).toEqual(expected);
    }),
  );
});

test('is the same list when nothing is earlier', () => {
  fc.assert(
    fc.property(times, (all) => {
      const known = firstOfMonths([], all);
      expect(firstOfMonths(known, all)).toBe(known);
    }),
  );
});

test('leaves with its month', () => {
  fc.assert(
    fc.property(times, fc.constantFrom(202607, 202608, 202610, 202701), (all, month) => {
      const left = all.filter((at) => monthOf(at) > month);
      expect(withoutFirstsOf(firstOfMonths([], all), month)).toEqual([...firstOfMonths([], left)]);
    }),
  );
});
