/** When reruns of a test have shown enough. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { RERUNS_MAX } from '../../src/domain/change-claim.ts';
import { isDecided, rerunDecision } from '../../src/domain/rerun-decision.ts';

const rate = fc.oneof(fc.constant(null), fc.double({ min: 0, max: 1, noNaN: true }));
const some = fc.integer({ min: 1, max: RERUNS_MAX });

test('a failure and a pass of the same code are flaky for sure, whatever the rate', () => {
  fc.assert(
    fc.property(some, some, rate, (failures, passes, one) => {
      expect(rerunDecision({ failures, passes }, one)).toEqual({ verdict: 'flaky', probability: 1 });
    }),
  );
});

test('each further run of the same result makes the verdict surer, and none makes it certain', () => {
  fc.assert(
    fc.property(some, rate, (count, one) => {
      for (const seen of [(n: number) => ({ failures: n, passes: 0 }), (n: number) => ({ failures: 0, passes: n })]) {
        const [before, after] = [rerunDecision(seen(count), one), rerunDecision(seen(count + 1), one)];
        expect(after.verdict).toBe(before.verdict);
        expect(after.probability).toBeGreaterThanOrEqual(before.probability);
        expect(after.probability).toBeLessThanOrEqual(1);
      }
    }),
  );
});

test('the more often a test fails where it is flaky, the more failures and the fewer passes it takes', () => {
  const runsFor = (seen: (n: number) => { failures: number; passes: number }, one: number | null): number => {
    let count = 1;
    while (!isDecided(seen(count), rerunDecision(seen(count), one), 0.95)) count++;
    return count;
  };
  const failing = (n: number) => ({ failures: n, passes: 0 });
  const passing = (n: number) => ({ failures: 0, passes: n });
  expect([0.05, 0.2, 0.5, 0.85, null].map((one) => runsFor(failing, one))).toEqual([2, 2, 5, 20, 3]);
  expect([0.05, 0.2, 0.5, 0.85].map((one) => runsFor(passing, one))).toEqual([59, 14, 5, 2]);
  expect(rerunDecision({ failures: 0, passes: 0 }, null)).toEqual({ verdict: null, probability: 0 });
});
