import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { monthOf } from '../../src/domain/retention.ts';
import {
  emptySummary,
  executionsOf,
  mergeSummaries,
  RATIO_DAYS,
  recentCounts,
  type SummarisedExecution,
  withoutMonth,
} from '../../src/domain/test-state.ts';
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
/** A history, and the same in another order, cut into blocks. */
const shuffled = history.chain((all) =>
  fc.tuple(
    fc.constant(all),
    fc.shuffledSubarray(all, { minLength: all.length }),
    fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 10 }),
  ),
);

describe('the summary of an identity', () => {
  test('is the same in whatever order and however many blocks the executions arrive', () => {
    fc.assert(
      fc.property(shuffled, ([all, other, sizes]) => {
        let summary = emptySummary;
        let from = 0;
        for (let i = 0; from < other.length; i++) {
          const size = sizes[i % sizes.length] ?? 1;
          summary = mergeSummaries(summary, summaryOfAll(other.slice(from, from + size)));
          from += size;
        }
        expect(summary).toEqual(summaryOfAll(all));
      }),
    );
  });

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

  test('without a month is the summary of the executions after it', () => {
    fc.assert(
      fc.property(history, fc.integer({ min: 0, max: 90 }), (all, day) => {
        const month = monthOf(START + day * DAY_MS);
        const kept = all.filter((one) => monthOf(one.finishedAt) > month);
        const { days, ...left } = withoutMonth(summaryOfAll(all), month);
        const { days: daysKept, ...expected } = summaryOfAll(kept);
        expect(left).toEqual(expected);
        // What is kept may have more days than the newest of all leaves room for; no ratio asks for them.
        expect(days).toEqual(kept.length === 0 ? [] : daysKept);
      }),
    );
  });
});
