/** When a CI job is said to have run far fewer tests than it uses to. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { USUAL_RUNS_MIN, type UsualTests, usualIfFewer } from '../../src/domain/usual-tests.ts';

const usual: fc.Arbitrary<UsualTests> = fc
  .record({ runs: fc.nat(100), lowerQuartile: fc.nat(1_000), more: fc.nat(1_000) })
  .map(({ more, ...one }) => ({ ...one, median: one.lowerQuartile + more }));
const first = (ran: number) => ({ ran, runAttempt: 1 });

test('12 tests of about 400 are far fewer, 390 are not', () => {
  const job = { runs: 30, lowerQuartile: 395, median: 400 };
  expect(usualIfFewer(first(12), job)).toBe(400);
  expect(usualIfFewer(first(0), job)).toBe(400);
  expect(usualIfFewer(first(390), job)).toBeNull();
});

test('nothing is said of a job that has hardly run, is not known, or has few tests', () => {
  expect(usualIfFewer(first(1), undefined)).toBeNull();
  expect(usualIfFewer(first(1), { runs: USUAL_RUNS_MIN - 1, lowerQuartile: 400, median: 400 })).toBeNull();
  expect(usualIfFewer(first(1), { runs: 50, lowerQuartile: 5, median: 5 })).toBeNull();
});

test('nothing is said of a later attempt, which may run only what failed', () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.integer({ min: 2, max: 9 }), usual, (ran, runAttempt, job) => {
      expect(usualIfFewer({ ran, runAttempt }, job)).toBeNull();
    }),
  );
});

test('what is said is the usual number, more than twice as many as ran, and more tests never turn silence into a word', () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.nat(100), usual, (ran, more, job) => {
      const said = usualIfFewer(first(ran), job);
      if (said === null) expect(usualIfFewer(first(ran + more), job)).toBeNull();
      else expect(said).toBeGreaterThan(2 * ran);
    }),
  );
});

test('a job of which every other run chooses its tests is not told that it ran fewer', () => {
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 1_000 }), fc.integer({ min: 1, max: 9 }), (whole, part) => {
      expect(usualIfFewer(first(part), { runs: 40, lowerQuartile: part, median: whole })).toBeNull();
    }),
  );
});
