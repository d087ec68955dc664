/** How often something may happen that anyone may ask for. */
import { expect, test } from 'bun:test';
import { Budget } from '../../src/http/budget.ts';

test('there is room for so many in a window, each name has its own, and a window ends', () => {
  const budget = new Budget(2, 60_000);
  expect([0, 1_000, 2_000].map((now) => budget.take('a', now))).toEqual([undefined, undefined, 58]);
  expect(budget.take('b', 2_000)).toBeUndefined();
  expect([budget.take('a', 59_999), budget.take('a', 60_000)]).toEqual([1, undefined]);
});

test('a clock that is set back gives room again, and keeps no one waiting for the time in between', () => {
  const budget = new Budget(1, 60_000);
  expect([budget.take('a', 1_000_000), budget.take('a', 10)]).toEqual([undefined, undefined]);
});
