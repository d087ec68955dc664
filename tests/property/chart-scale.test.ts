/** Axes of charts: what is drawn fits, with few marks, and a place belongs to the step that is drawn there. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { endsOf, marksUpTo, namedSteps, stepAt } from '../../web/ui/chart-scale.ts';

const most = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: 10_000_000 }), fc.constant(true)),
  fc.tuple(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), fc.constant(false)),
);

test('an axis has few marks, from 0 to the highest bar or above it', () => {
  fc.assert(
    fc.property(most, fc.constantFrom(2, 4), ([value, isWhole], marksMax) => {
      const marks = marksUpTo(value, isWhole, marksMax);
      const top = marks.at(-1) ?? 0;
      expect(marks[0]).toBe(0);
      expect(marks.length).toBeLessThanOrEqual(marksMax + 1);
      expect(top).toBeGreaterThanOrEqual(value * (1 - 1e-9));
      expect(top).toBeLessThanOrEqual(Math.max(value * 2.5, 1));
      if (isWhole) expect(marks.every(Number.isInteger)).toBe(true);
    }),
  );
});

test('marks are round', () => {
  expect(marksUpTo(0, true, 4)).toEqual([0, 1]);
  expect(marksUpTo(1, true, 4)).toEqual([0, 1]);
  expect(marksUpTo(7, true, 4)).toEqual([0, 2, 4, 6, 8]);
  expect(marksUpTo(37, true, 4)).toEqual([0, 10, 20, 30, 40]);
  expect(marksUpTo(37, true, 2)).toEqual([0, 20, 40]);
  expect(marksUpTo(1_001, true, 4)).toEqual([0, 500, 1_000, 1_500]);
});

test('names below a chart are few, and begin with the first bar', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), (count) => {
      const named = namedSteps(count);
      expect(named[0]).toBe(0);
      expect(named.length).toBeLessThanOrEqual(6);
      expect(named.every((i) => i < count)).toBe(true);
    }),
  );
});

test('a place belongs to the step that is drawn there', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(sizes, fc.double({ min: -0.5, max: 1.5, noNaN: true }), (steps, share) => {
      const ends = endsOf(steps);
      expect(ends.at(-1)).toBe(1);
      const found = stepAt(ends, share);
      const [start = 0, end = 0] = [ends[found - 1], ends[found]];
      expect(start).toBeLessThanOrEqual(Math.max(0, share));
      if (share < 1) expect(end).toBeGreaterThan(share);
      else expect(found).toBe(steps.length - 1);
    }),
  );
});
