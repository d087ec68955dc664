/** How sure a health is. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Belief, newBelief, verdictOf } from '../../src/domain/belief.ts';
import { foldBelief } from '../../src/domain/belief-fold.ts';
import { confidenceOfTest, healthConfidence, LEVELS } from '../../src/domain/health-confidence.ts';
import { HEALTHS } from '../../src/domain/status.ts';

const at = { finishedAt: 0, runId: '1', runAttempt: 1, executionId: 1n };

function after(history: string, belief = newBelief()): Belief {
  let folded = belief;
  for (const [i, char] of [...history].entries()) {
    const result = char === 'F' ? 'failed' : char === 'R' ? 'retried' : 'passed';
    folded = foldBelief(folded, { executionId: `${i}`, result, finishedAt: i * 3_600_000, commit: `c${i >> 1}` });
  }
  return folded;
}
const histories = fc.string({ unit: fc.constantFrom('.', '.', '.', '.', 'F', 'R'), maxLength: 80 });
const of = (belief: Belief) => healthConfidence(verdictOf(belief).status, { at, belief });

test('a test that was not judged has no probability', () =>
  expect(healthConfidence('healthy', { at: null, belief: newBelief() })).toEqual({
    probability: null,
    confidence: 'low',
    hasEnoughRuns: false,
  }));

test('a test that has only passed is not known at first, then surely healthy', () => {
  const known = [1, 20, 44, 45, 258, 259].map((passes) => {
    const { confidence, hasEnoughRuns } = of(after('.'.repeat(passes)));
    return [passes, confidence, hasEnoughRuns];
  });
  expect(known).toEqual([
    [1, 'low', false],
    [20, 'low', false],
    [44, 'low', false],
    [45, 'medium', true],
    [258, 'medium', true],
    [259, 'high', true],
  ]);
});

test('a higher level always means a higher probability of the same health', () => {
  fc.assert(
    fc.property(histories, histories, (one, other) => {
      const [a, b] = [after(one), after(other)];
      fc.pre(a.status === b.status);
      const [first, second] = [of(a), of(b)];
      const isHigher = LEVELS.indexOf(first.confidence) > LEVELS.indexOf(second.confidence);
      if (isHigher) expect(first.probability ?? 0).toBeGreaterThanOrEqual(second.probability ?? 0);
      expect(first.probability).toBeLessThanOrEqual(1);
      expect(first.hasEnoughRuns || first.confidence === 'low').toBe(true);
    }),
  );
});

test('of a test counts the likeliest of its unhealthy identities, and the least likely of healthy ones', () => {
  fc.assert(
    fc.property(fc.array(histories, { minLength: 1, maxLength: 4 }), (all) => {
      const identities = all.map((history) => {
        const belief = after(history);
        return { at, belief, health: belief.status };
      });
      const health = HEALTHS.findLast((one) => identities.some((identity) => identity.health === one)) ?? 'healthy';
      const among = identities.filter((one) => one.health === health).map((one) => of(one.belief).probability ?? 0);
      const wanted = health === 'healthy' ? Math.min(...among) : Math.max(...among);
      expect(confidenceOfTest(health, identities).probability).toBe(wanted);
    }),
  );
});

test('where flaky tests are not looked for, one that is flaky is as healthy as it is not broken', () => {
  const belief = after('F.F.F.F.F.');
  expect(belief.status).toBe('flaky');
  expect(healthConfidence('healthy', { at, belief }).probability).toBeGreaterThan(0.9);
});
