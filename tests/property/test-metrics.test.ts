/** Figures about an identity, from whatever its days hold. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { newBelief } from '../../src/domain/belief.ts';
import { LEVELS } from '../../src/domain/health-confidence.ts';
import { HEALTHS } from '../../src/domain/status.ts';
import { failedPpm, levelRank, metricsOf } from '../../src/domain/test-metrics.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { dayCounts } from '../support/counts.ts';

const days = fc.array(fc.tuple(fc.integer({ min: 2, max: 30 }), fc.nat({ max: 60 }), fc.nat({ max: 20 })), {
  maxLength: 6,
});
const health = fc.constantFrom(...HEALTHS);
/** All days above are within the window. */
const NOW = 31 * DAY_MS;
const belief = { at: null, belief: newBelief() };

test('only an unhealthy test has an impact, and its share of failures is from nothing to everything', () => {
  fc.assert(
    fc.property(days, health, (of, is) => {
      const metrics = metricsOf(
        { days: dayCounts(of), lastFailureAt: null },
        { health: is, ownFailureAt: 0, belief },
        NOW,
      );
      expect(metrics.impact === null).toBe(is === 'healthy');
      expect(metrics.failures).toBeLessThanOrEqual(metrics.executions);
      expect(failedPpm(metrics)).toBeGreaterThanOrEqual(0);
      expect(failedPpm(metrics)).toBeLessThanOrEqual(1_000_000);
    }),
  );
});

test('more failures never lower the impact', () => {
  fc.assert(
    fc.property(days, health, fc.nat({ max: 50 }), fc.nat({ max: 50 }), (of, is, passed, failed) => {
      const before = metricsOf(
        { days: dayCounts(of), lastFailureAt: null },
        { health: is, ownFailureAt: 0, belief },
        NOW,
      );
      const after = metricsOf(
        { days: dayCounts([...of, [31, passed, failed]]), lastFailureAt: null },
        { health: is, ownFailureAt: 0, belief },
        NOW,
      );
      expect(levelRank(after.impact)).toBeGreaterThanOrEqual(levelRank(before.impact));
    }),
  );
});

test('counts cover the last 30 UTC days, whenever the test last ran', () => {
  fc.assert(
    fc.property(days, health, fc.nat({ max: 60 }), (of, is, today) => {
      const { executions, failures } = metricsOf(
        { days: dayCounts(of), lastFailureAt: null },
        { health: is, ownFailureAt: 0, belief },
        today * DAY_MS,
      );
      const recent = of.filter(([day]) => day > today - 30 && day <= today);
      expect(failures).toBe(recent.reduce((sum, [, , failed]) => sum + failed, 0));
      expect(executions - failures).toBe(recent.reduce((sum, [, passed]) => sum + passed, 0));
    }),
  );
});

test('levels rank from low to high, above none', () => {
  expect([null, ...LEVELS].map(levelRank)).toEqual([0, 1, 2, 3]);
});
