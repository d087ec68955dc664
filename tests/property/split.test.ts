/** Splits of names into groups of equal time. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { groupsOf, type TimedName } from '../../src/domain/split.ts';
import { randomFrom } from '../support/random.ts';

const timed: fc.Arbitrary<TimedName[]> = fc.uniqueArray(
  fc.record({ name: fc.string({ minLength: 1 }), ms: fc.oneof(fc.nat(100_000), fc.constantFrom(0, 1, 1_000)) }),
  { selector: ({ name }) => name, maxLength: 120 },
);
const total = fc.integer({ min: 1, max: 40 });

test('each name is in exactly one group, and every group is one of those asked for', () => {
  fc.assert(
    fc.property(timed, total, (names, groups) => {
      const split = groupsOf(names, groups);
      expect([...split.keys()].toSorted()).toEqual(names.map(({ name }) => name).toSorted());
      for (const group of split.values()) expect([0 <= group && group < groups, group % 1]).toEqual([true, 0]);
    }),
  );
});

test('the order of the names does not matter', () => {
  const shuffled = timed.chain((names) =>
    fc.tuple(fc.constant(names), fc.shuffledSubarray(names, { minLength: names.length })),
  );
  fc.assert(
    fc.property(shuffled, total, ([names, others], groups) => {
      const split = groupsOf(names, groups);
      const other = groupsOf(others, groups);
      for (const { name } of names) expect(other.get(name)).toBe(split.get(name));
    }),
  );
});

test('names of equal time are spread evenly: no group has two more than another', () => {
  fc.assert(
    fc.property(fc.nat(300), total, (count, groups) => {
      const split = groupsOf(
        Array.from({ length: count }, (_, i) => ({ name: `test ${i}`, ms: 1_000 })),
        groups,
      );
      const sizes = Array.from({ length: groups }, () => 0);
      for (const group of split.values()) sizes[group] = (sizes[group] ?? 0) + 1;
      expect(Math.max(...sizes)).toBeLessThanOrEqual(Math.ceil((1.02 * count) / groups));
    }),
  );
});

describe('lists as suites have them', () => {
  const normal = (random: () => number): number =>
    Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

  /** Log-normal times of 200 to 5,000 names for 2 to 40 groups, of which the longest name fits into one. */
  const lists = Array.from({ length: 60 }, (_, seed) => {
    const random = randomFrom(seed + 1);
    const count = Math.round(200 * 25 ** random());
    const groups = 2 + Math.floor(random() * 39);
    const spread = 0.5 + random();
    const names = Array.from({ length: count }, (_, i) => ({
      name: `tests/test_${i % 40}.py::test_${i}`,
      ms: Math.max(1, Math.round(1_000 * Math.exp(spread * normal(random)))),
    }));
    return { random, names, groups };
  }).filter(
    ({ names, groups }) => Math.max(...names.map(({ ms }) => ms)) * groups < names.reduce((sum, { ms }) => sum + ms, 0),
  );

  test('the slowest group takes at most a tenth longer than the mean', () => {
    expect(lists.length).toBeGreaterThan(40);
    for (const { names, groups } of lists) {
      const split = groupsOf(names, groups);
      const loads = Array.from({ length: groups }, () => 0);
      for (const { name, ms } of names) {
        const group = split.get(name) ?? -1;
        loads[group] = (loads[group] ?? 0) + ms;
      }
      expect(Math.max(...loads) / mean(loads)).toBeLessThanOrEqual(1.1);
    }
  });

  const movedShare = (names: readonly TimedName[], later: readonly TimedName[], groups: number): number => {
    const before = groupsOf(names, groups);
    const after = groupsOf(later, groups);
    const both = names.filter(({ name }) => after.has(name));
    return both.filter(({ name }) => before.get(name) !== after.get(name)).length / both.length;
  };

  test('times that differ by a twentieth from run to run, a new name and one that is gone move few names', () => {
    const shares = lists.map(({ random, names, groups }) => {
      const later = names.map(({ name, ms }) => ({
        name,
        ms: Math.max(1, Math.round(ms * Math.exp(normal(random) / 20))),
      }));
      return movedShare(names, [...later.slice(1), { name: 'new', ms: 1_000 }], groups);
    });
    // The lightest group for every name would move nine of ten.
    expect(mean(shares)).toBeLessThan(0.1);
    expect(Math.max(...shares)).toBeLessThan(0.4);
  });
});
