/** Lists of any length are put together. */
import { expect, test } from 'bun:test';
import { appendAll } from '../../src/domain/append.ts';

test('a million rows are appended in order', () => {
  const list = [-1];
  appendAll(list, new Array(1_000_000).fill(0).keys());
  expect(list.length).toBe(1_000_001);
  expect(list.slice(0, 3)).toEqual([-1, 0, 1]);
});
