import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { RATIO_DAYS, recentCounts } from '../../src/domain/ratio-window.ts';
import { executionsOf, type SummarisedExecution } from '../../src/domain/test-state.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { summaryOfAll } from '../support/summary.ts';

const START = Date.UTC(2026, 7, 20);
/** Few times, so that several executions finish at the same one. */
const execution: fc.Arbitrary<SummarisedExecution> = fc.record({
  executionId: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
  status: fc.constantFrom('passed', 'failed', 'skipped'),
  finishedAt: fc.integer({ min: 0, max: 90 * 4 }).map((quarter) => START + quarter * 6 * HOUR_MS),
  framework: fc.constantFrom('', 'vitest'),
  frameworkVersion: fc.constantFrom('', '3.2.4'),
  language: fc.constantFrom('', 'javascript'),
  filepath: fc.constantFrom('', 'src/sums.test.ts'),
  function: fc.constantFrom('', 'sums'),
});
const history = fc.uniqueArray(execution, { selector: (one) => one.executionId, maxLength: 60 });
describe('the summary of an identity', () => {
  test('counts what is retained, and the passes and failures of the last 30 days', () => {
    fc.assert(
      fc.property(history, fc.integer({ min: 0, max: 40 }), (all, later) => {
        const summary = summaryOfAll(all);
        const newest = Math.max(START, ...all.map((one) => one.finishedAt));
        const now = newest + later * DAY_MS;
        const first = (Math.floor(now / DAY_MS) - RATIO_DAYS + 1) * DAY_MS;
        const recent = all.filter((one) => one.finishedAt >= first);
        expect(executionsOf(summary)).toBe(all.length);
        expect(recentCounts([summary], now)).toEqual({
          passed: recent.filter((one) => one.status === 'passed').length,
          failed: recent.filter((one) => one.status === 'failed').length,
        });
      }),
    );
  });
});
