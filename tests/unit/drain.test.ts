import { expect, test } from 'bun:test';
import { DrainEstimate } from '../../src/queue/drain.ts';

test('how long a queue takes to be empty follows from how much shorter it got', () => {
  const drain = new DrainEstimate();
  expect(drain.observe(0, 200_000)).toBeUndefined();
  expect(drain.observe(500, 199_900)).toBeUndefined();
  expect(drain.observe(10_000, 199_000)).toBe(1_990);
  expect(drain.observe(20_000, 190_000)).toBe(380);
});

test('a queue that does not get shorter never ends; an empty one has ended', () => {
  const drain = new DrainEstimate();
  drain.observe(0, 10);
  expect(drain.observe(5_000, 10)).toBe(Number.POSITIVE_INFINITY);
  expect(drain.observe(10_000, 0)).toBe(0);
  expect(drain.observe(11_000, 50)).toBeUndefined();
});

test('only the last five minutes count: a worker that stopped is noticed', () => {
  const drain = new DrainEstimate();
  drain.observe(0, 1_000);
  expect(drain.observe(60_000, 500)).toBe(60);
  for (let at = 120_000; at <= 600_000; at += 60_000) drain.observe(at, 500);
  expect(drain.observe(660_000, 500)).toBe(Number.POSITIVE_INFINITY);
});
