/** Executions of one identity, in any order: many finish together, on few days or over many months. */
import fc from 'fast-check';
import type { TalliedExecution } from '../../src/domain/identity-tally.ts';
import { STATUSES } from '../../src/domain/status.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';

const BEGUN = Date.UTC(2025, 10, 20);
/** Ids of which the order depends on whether code points or halves of them are compared. */
const RUN_IDS = ['1', '10', '9', 'a b', 'a', 'é', '\uFFFD', '\u{1F600}'];

export const tallied = (maxLength: number): fc.Arbitrary<TalliedExecution[]> =>
  fc.constantFrom(1, 3, 100, 1_200).chain((days) =>
    fc.uniqueArray(
      fc.record({
        status: fc.constantFrom('passed', 'passed', ...STATUSES),
        finishedAt: fc
          .tuple(fc.nat({ max: days - 1 }), fc.constantFrom(0, 0, 9, 23))
          .map(([day, hour]) => BEGUN + day * DAY_MS + hour * HOUR_MS),
        runId: fc.constantFrom(...RUN_IDS),
        runAttempt: fc.constantFrom(1, 2, 10),
        executionId: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        commit: fc.constantFrom('', 'a1', 'b2'),
        hasFailures: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true)),
        isFlakyWithinRun: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true)),
      }),
      { selector: ({ executionId }) => executionId, maxLength, size: 'max' },
    ),
  );
