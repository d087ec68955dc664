/** Which failures of a change trouble explains, whatever runs around it. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type AskedRun, NEARBY_MS, type NearbyRun, troubledTests } from '../../src/domain/trouble-elsewhere.ts';

const TESTS = Array.from({ length: 30 }, (_, i) => `t${i}`);
const someTests = fc.subarray(TESTS).map((some) => new Set(some));
const moment = fc.integer({ min: -2 * NEARBY_MS, max: 2 * NEARBY_MS });
const nearby: fc.Arbitrary<NearbyRun> = fc
  .record({
    origin: fc.constantFrom(null, 'own', 'b', 'c', 'd'),
    startedAt: moment,
    failedTests: someTests,
    more: fc.nat({ max: 10 }),
    passed: fc.nat({ max: 100 }),
  })
  .map(({ more, ...run }) => ({ ...run, endedAt: run.startedAt + 1_000, failed: run.failedTests.size + more }));
const asked: fc.Arbitrary<AskedRun> = fc
  .tuple(someTests, fc.option(fc.subarray(TESTS)), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([failedTests, again, share]) => ({
    origin: 'own',
    startedAt: 0,
    endedAt: 1_000,
    share,
    failedTests,
    passedAgain: again && failedTests.intersection(new Set(again)),
  }));
const around = fc.array(nearby, { maxLength: 6 });

test('what only one change shows, and never passes on it, is never explained: however much of the tests it breaks', () => {
  fc.assert(
    fc.property(asked, around, (run, runs) => {
      const own = runs.map((one): NearbyRun => ({ ...one, origin: 'own' }));
      const clean = runs.map((one): NearbyRun => ({ ...one, failedTests: new Set(), failed: 0 }));
      expect(troubledTests({ ...run, passedAgain: null }, [...own, ...clean]).size).toBe(0);
    }),
  );
});

test('one other change that fails alike explains nothing: it may be based on this one', () => {
  fc.assert(
    fc.property(asked, around, (run, runs) => {
      const other = runs.map((one): NearbyRun => ({ ...one, origin: 'b' }));
      expect(troubledTests({ ...run, passedAgain: null }, other).size).toBe(0);
    }),
  );
});

test('more runs that fail elsewhere never make a failure the doing of the change', () => {
  fc.assert(
    fc.property(asked, around, nearby, (run, runs, more) => {
      expect(troubledTests(run, runs).isSubsetOf(troubledTests(run, [...runs, more]))).toBe(true);
    }),
  );
});

test('explained are failures of the run only, and the order of others does not matter', () => {
  fc.assert(
    fc.property(asked, around, (run, runs) => {
      const explained = troubledTests(run, runs);
      expect(explained.isSubsetOf(run.failedTests)).toBe(true);
      expect(troubledTests(run, runs.toReversed())).toEqual(explained);
    }),
  );
});

test('the default branch tells nothing once it runs after the change, which may have been merged', () => {
  fc.assert(
    fc.property(asked, around, (run, runs) => {
      const after = runs.map((one): NearbyRun => ({ ...one, origin: null, startedAt: 1_001, endedAt: 2_000 }));
      expect(troubledTests({ ...run, passedAgain: null }, after).size).toBe(0);
    }),
  );
});
