/** What is counted without a look at the history of a test is what its history gives. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { comparePositions, type JudgedExecution } from '../../src/domain/execution.ts';
import { followCourse } from '../../src/domain/judge-runs.ts';
import { emptySummary } from '../../src/domain/test-state.ts';
import { countCalm, maybeCalm } from '../../src/evaluation/calm.ts';
import { ExecutionColumns } from '../../src/evaluation/execution-columns.ts';
import { NewExecutions } from '../../src/evaluation/new-executions.ts';
import type { TestNews } from '../../src/evaluation/news.ts';
import { identityKey } from '../../src/evaluation/store.ts';
import { type StoredBelief, unknownBelief, writeBelief } from '../../src/postgres/belief-text.ts';
import type { Checkpoints } from '../../src/postgres/health-checkpoints.ts';
import type { IdentityRecord } from '../../src/postgres/test-states.ts';

const IDENTITY = { testId: 'sums', pipelineName: 'CI', jobName: 'unit' };
const BEGUN = Date.UTC(2026, 0, 5);

const executions = fc.uniqueArray(
  fc.record({
    executionId: fc.bigInt({ min: 1n, max: 500n }),
    status: fc.constantFrom('passed' as const, 'passed' as const, 'passed' as const, 'skipped' as const),
    // Several finish at the same moment.
    finishedAt: fc.nat({ max: 30 }).map((hours) => BEGUN + hours * 3_600_000),
    runId: fc.constantFrom('1', '2', '10'),
    runAttempt: fc.constantFrom(1, 2),
    commit: fc.constantFrom('', 'a', 'b'),
    isFlakyWithinRun: fc.constant(false),
    isRetried: fc.constant(false),
  }),
  { selector: ({ executionId }) => executionId, minLength: 1, maxLength: 30 },
);

function newsOf(batch: readonly JudgedExecution[]): TestNews {
  const columns = new ExecutionColumns();
  const identity = new NewExecutions(columns, IDENTITY.testId, IDENTITY.pipelineName, IDENTITY.jobName);
  for (const execution of batch) {
    columns.beginLine({ ...IDENTITY, ...execution, framework: '', frameworkVersion: '', language: '' });
    identity.add(execution, '', '');
  }
  return { name: 'sums', identities: [identity], failures: new Map(), since: 0, until: 0, hasTrouble: false };
}

/** The belief that the whole history up to some place gives. */
function followed(history: readonly JudgedExecution[]): StoredBelief {
  const { at, belief } = followCourse(
    { ...unknownBelief(), place: '', executions: history, contradictions: [] },
    new Map(),
  );
  return { at, belief };
}

test('passes are counted in whatever order they arrive, and checkpoints know of those before them', () => {
  fc.assert(
    fc.property(executions, fc.nat(), fc.array(fc.nat({ max: 5 }), { maxLength: 30 }), (all, older, sizes) => {
      let record: IdentityRecord | undefined;
      let checkpoints: Checkpoints | undefined;
      const arrived: JudgedExecution[] = [];
      for (let i = 0; arrived.length < all.length; i++) {
        const batch = all.slice(arrived.length, arrived.length + 1 + (sizes[i] ?? 0));
        arrived.push(...batch);
        const records = record ? [record] : [];
        const calm = maybeCalm(IDENTITY.testId, newsOf(batch), records);
        const counted =
          calm &&
          countCalm(calm, {
            checkpoints: new Map(checkpoints ? [[identityKey(checkpoints), checkpoints]] : []),
            contradicted: new Set(),
          });
        if (!counted) throw new Error('a test that has only passed is calm');
        const [belief] = [...counted.beliefs.values(), counted.records[0]?.belief ?? unknownBelief()];
        expect(belief && writeBelief(belief)).toBe(writeBelief(followed(arrived)));
        for (const place of [...counted.checkpoints].flatMap((row) => [row.older, row.newer])) {
          const upTo = arrived.filter((one) => place.at && comparePositions(one, place.at) <= 0);
          expect(writeBelief(place)).toBe(writeBelief(followed(upTo)));
        }
        checkpoints = counted.checkpoints[0] ?? checkpoints;
        // As a checkpoint is taken: of what was known.
        if (record?.belief.at && (i + older) % 3 === 0)
          checkpoints = {
            ...IDENTITY,
            baseline: unknownBelief(),
            older: checkpoints?.newer ?? unknownBelief(),
            newer: counted.records[0]?.belief ?? unknownBelief(),
          };
        record = {
          ...IDENTITY,
          health: 'healthy',
          belief: belief ?? unknownBelief(),
          summary: emptySummary,
          checkpointAt: 0,
        };
      }
    }),
  );
});

test('a test about which a commit contradicts itself, or that has ever failed, is not calm when passes come late', () => {
  const pass = (hours: number): JudgedExecution => ({
    ...{ executionId: BigInt(hours), status: 'passed', finishedAt: BEGUN + hours * 3_600_000, runId: `${hours}` },
    ...{ runAttempt: 1, commit: `c${hours}`, isFlakyWithinRun: false, isRetried: false },
  });
  const first = maybeCalm(IDENTITY.testId, newsOf([pass(1)]), []);
  const context = { checkpoints: new Map(), contradicted: new Set([IDENTITY.testId]) };
  expect(first && countCalm(first, context)).toBeUndefined();
  const { at, belief } = followed([pass(1), pass(9)]);
  const failed = { at, belief: { ...belief, trouble: { at: BEGUN, share: 0.5 } } };
  const record = { ...IDENTITY, health: 'healthy' as const, belief: failed, summary: emptySummary, checkpointAt: 0 };
  expect(maybeCalm(IDENTITY.testId, newsOf([pass(5)]), [record])).toBeUndefined();
  expect(maybeCalm(IDENTITY.testId, newsOf([pass(10)]), [record])).toBeDefined();
});
