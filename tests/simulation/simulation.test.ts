/** The rules against a small repository whose truth is known; `bun run simulate` tries them on a large one. */
import { describe, expect, test } from 'bun:test';
import { replay } from './replay.ts';
import { score } from './score.ts';
import { makeWorld, truthOf } from './world.ts';

const world = makeWorld({ seed: 7, days: 40, tests: 300, start: Date.UTC(2026, 0, 5) });
const played = replay(world);
const scores = score(world, played);
const share = ({ right, of }: { right: number; of: number }): number => right / of;

describe('the rules, on 300 tests over 40 days', () => {
  test('a day on which everything fails makes no verdict worse', () => expect(scores.changedByOutages).toBe(0));

  test('nothing is quarantined that was neither flaky nor broken', () => {
    expect(Object.keys(scores.quarantines)).not.toBeEmpty();
    expect(scores.falseQuarantines).toEqual([]);
  });

  test('one red commit quarantines nothing', () => expect(scores.quarantines['red for one commit']).toBeUndefined());

  test('what is judged flaky is flaky', () => expect(share(scores.flakyPrecision)).toBe(1));

  test('every broken test is judged broken on every day', () => expect(share(scores.brokenRecall)).toBe(1));

  test('every test that fails one time in five is judged flaky within three days', () => {
    const delays = scores.toDetect.filter((delay) => delay.kind === 'flaky 20 %');
    expect(delays.map(({ seen, of, p90Days }) => seen === of && p90Days <= 3)).toEqual([true]);
  });

  test('stable tests are healthy on every day, whatever the infrastructure did', () => {
    for (const [index, one] of world.tests.entries())
      if (one.kind === 'stable') expect(new Set(played.health[index]?.filter(Boolean))).toEqual(new Set(['healthy']));
  });

  test('the same seed makes the same world', () => {
    const again = makeWorld(world.options);
    expect(again.tests).toEqual(world.tests);
    expect(again.tests.map((one) => truthOf(one, 20))).toEqual(world.tests.map((one) => truthOf(one, 20)));
  });
});
