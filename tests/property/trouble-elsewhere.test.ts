/** Which failures of a change trouble explains, whatever others show. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type AskedFailure,
  DEFAULT_BRANCH_CHANGE,
  type Elsewhere,
  NOTHING_ELSEWHERE,
  troublesOf,
} from '../../src/domain/trouble-elsewhere.ts';

const TESTS = Array.from({ length: 30 }, (_, i) => `t${i}`);
const ORIGINS = [DEFAULT_BRANCH_CHANGE, 'b', 'c', 'd', 'e'];
const MESSAGES = ['m1', 'm2', 'm3'];
const GROUPS = TESTS.flatMap((name) => MESSAGES.map((message) => `${name}/${message}`));

const failures: fc.Arbitrary<AskedFailure[]> = fc
  .tuple(fc.subarray(TESTS), fc.infiniteStream(fc.subarray(MESSAGES)), fc.infiniteStream(fc.boolean()))
  .map(([tests, messagesOf, passes]) =>
    tests.map((testId) => {
      const messages: string[] = messagesOf.next().value ?? [];
      const groups = messages.map((message) => `${testId}/${message}`);
      return { testId, groups, messages, hasPassedAgain: passes.next().value === true };
    }),
  );
const someOrigins = fc.subarray(ORIGINS).map((some) => new Set(some));
/** Who is near is also within the wider window. */
const windows = fc.tuple(someOrigins, someOrigins).map(([near, more]) => ({ near, far: near.union(more) }));
const around: fc.Arbitrary<Elsewhere> = fc.record({
  changes: windows,
  groups: fc
    .dictionary(fc.constantFrom(...GROUPS), windows, { maxKeys: 60 })
    .map((all) => new Map(Object.entries(all))),
  messages: fc
    .dictionary(
      fc.constantFrom(...MESSAGES),
      fc.record({ changes: someOrigins, tests: fc.subarray(TESTS).map((some) => new Set(some)) }),
    )
    .map((all) => new Map(Object.entries(all))),
});
const withoutReruns = (all: readonly AskedFailure[]): AskedFailure[] =>
  all.map((one) => ({ ...one, hasPassedAgain: false }));
const onlyIn = (elsewhere: Elsewhere, changes: readonly string[]): Elsewhere => {
  const kept = new Set(changes);
  return {
    changes: elsewhere.changes,
    groups: new Map(
      [...elsewhere.groups].map(([group, { near, far }]) => [
        group,
        { near: near.intersection(kept), far: far.intersection(kept) },
      ]),
    ),
    messages: new Map(
      [...elsewhere.messages].map(([message, seen]) => [
        message,
        { changes: seen.changes.intersection(kept), tests: seen.tests },
      ]),
    ),
  };
};
const explained = (all: readonly AskedFailure[], elsewhere: Elsewhere): Set<string> =>
  new Set(troublesOf(all, elsewhere).keys());

test('what only one change shows, and never passes on it, is never explained: however much of the tests it breaks', () => {
  fc.assert(
    fc.property(failures, (all) => {
      expect(explained(withoutReruns(all), NOTHING_ELSEWHERE).size).toBe(0);
    }),
  );
});

test('one other change that fails alike explains nothing: it may be based on this one', () => {
  fc.assert(
    fc.property(failures, around, (all, elsewhere) => {
      expect(explained(withoutReruns(all), onlyIn(elsewhere, ['b'])).size).toBe(0);
    }),
  );
});

test('a message that no one else has stays the doing of the change, whatever else others show', () => {
  fc.assert(
    fc.property(failures, around, (all, elsewhere) => {
      const own = { testId: 'own', groups: ['own/unseen'], messages: ['unseen'], hasPassedAgain: false };
      expect(explained([...all, own], elsewhere)).not.toContain('own');
    }),
  );
});

test('a few tests that fail on many pull requests, each in its own way, stay the doing of the change', () => {
  fc.assert(
    fc.property(failures, around, (all, elsewhere) => {
      const few = withoutReruns(all).slice(0, 4);
      expect(explained(few, { ...elsewhere, messages: new Map() }).size).toBe(0);
    }),
  );
});

test('among few others, more that fails elsewhere never makes a failure the doing of the change', () => {
  fc.assert(
    fc.property(failures, around, fc.subarray(ORIGINS), (all, elsewhere, fewer) => {
      expect(explained(all, onlyIn(elsewhere, fewer)).isSubsetOf(explained(all, elsewhere))).toBe(true);
    }),
  );
});

test('what few of those who run meanwhile have is a fault that they share', () => {
  fc.assert(
    fc.property(failures, around, (all, elsewhere) => {
      const crowd = new Set(Array.from({ length: 60 }, (_, i) => `other ${i}`));
      const many = { ...elsewhere, changes: { near: crowd, far: crowd } };
      expect(explained(withoutReruns(all), many).size).toBe(0);
    }),
  );
});

test('explained are failures of the run only, in whatever order they come, by others that failed alike', () => {
  fc.assert(
    fc.property(failures, around, (all, elsewhere) => {
      const found = troublesOf(all, elsewhere);
      expect(new Set(found.keys()).isSubsetOf(new Set(all.map(({ testId }) => testId)))).toBe(true);
      expect(explained(all.toReversed(), elsewhere)).toEqual(new Set(found.keys()));
      for (const { sign, changes, isOnDefaultBranch } of found.values())
        expect(changes + (isOnDefaultBranch ? 1 : 0)).toBeGreaterThanOrEqual(sign === 'same_failures' ? 2 : 0);
    }),
  );
});
