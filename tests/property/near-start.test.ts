/** What was believed some passes ago follows from what is believed now (src/domain/before-passes.ts). */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { newBelief } from '../../src/domain/belief.ts';
import { BeliefCourse } from '../../src/domain/belief-course.ts';
import { comparePositions, type JudgedExecution } from '../../src/domain/execution.ts';
import { type RunTrouble, runTroubleOf } from '../../src/domain/run-trouble.ts';
import { MINUTE_MS } from '../../src/domain/time.ts';
import { mayStartNear, nearStart } from '../../src/evaluation/near-start.ts';

const BEGUN = Date.UTC(2026, 0, 5);
const NONE = { executions: 0, unexpected: 0 };
const troubleOf = (others: number): RunTrouble =>
  runTroubleOf(
    { executions: 150, unexpected: others + 1, isOnDefaultBranch: true },
    { hour: NONE, day: NONE, usual: NONE },
    true,
  );

const step = fc.record({
  kind: fc.oneof(
    { weight: 14, arbitrary: fc.constant('passed' as const) },
    { weight: 2, arbitrary: fc.constant('failed' as const) },
    fc.constantFrom('retried' as const, 'contradicted' as const),
  ),
  isNewCommit: fc.boolean(),
  // Several finish at the same time.
  minutes: fc.nat({ max: 3 }),
  others: fc.constantFrom(0, 0, 0, 40),
});

type StepOf = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Place {
  at: JudgedExecution;
  /** After it. */
  course: { belief: BeliefCourse['belief']; at: BeliefCourse['at'] };
}

/** A course with the places that it passed. */
function courseOf(steps: readonly StepOf[]): Place[] {
  const course = new BeliefCourse({ belief: newBelief(), at: null });
  const places: Place[] = [];
  let [commit, at] = [0, BEGUN];
  for (const [i, { kind, isNewCommit, minutes, others }] of steps.entries()) {
    if (isNewCommit) commit++;
    at += minutes * MINUTE_MS;
    const execution: JudgedExecution = {
      ...{ executionId: BigInt(i + 1), runId: String(i).padStart(4, '0'), runAttempt: 1, commit: `c${commit}` },
      ...{ finishedAt: at, status: kind === 'failed' ? 'failed' : 'passed' },
      ...{ isFlakyWithinRun: kind === 'retried', isRetried: kind === 'retried' },
    };
    if (kind === 'contradicted') {
      const failure = { executionId: `p${i}`, commit: `c${commit}`, finishedAt: at };
      course.contradict({ at: execution, failure, run: '' } as never, troubleOf(others));
    } else course.add(execution, troubleOf(others));
    places.push({ at: execution, course: { belief: course.belief, at: course.at } });
  }
  return places;
}

test('the belief before a moment is what it was, wherever it follows from the end', () => {
  let found = 0;
  let asked = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), fc.nat(), fc.nat({ max: 6 }), (steps, cut, kept) => {
      const places = courseOf(steps);
      const { course: end } = places.at(-1) as Place;
      const moment = places[cut % places.length]?.at.finishedAt as number;
      const executions = places.filter((_, i) => steps[i]?.kind !== 'contradicted').map(({ at }) => at);
      // All since the moment, and the last few before it.
      const before = executions.filter(({ finishedAt }) => finishedAt < moment).slice(-kept - 1);
      const read = [...executions.filter(({ finishedAt }) => finishedAt >= moment), ...before];
      const start = nearStart(end, read, moment);
      asked++;
      if (!start) return;
      found++;
      expect(mayStartNear(end, moment)).toBe(true);
      const then = places.findLast(({ at }) => at.finishedAt < moment) as Place;
      expect(start.belief).toEqual(then.course.belief);
      expect(comparePositions(start.at as JudgedExecution, then.course.at as JudgedExecution)).toBe(0);
    }),
    { numRuns: 3_000 },
  );
  // Else the property would say nothing.
  expect(found / asked).toBeGreaterThan(0.1);
});

test('nothing is known without the last execution, and none before the moment', () => {
  const places = courseOf(
    Array.from({ length: 9 }, () => ({ kind: 'passed', isNewCommit: false, minutes: 1, others: 0 }) as const),
  );
  const { course: end } = places.at(-1) as Place;
  const executions = places.map(({ at }) => at);
  const moment = executions[5]?.finishedAt as number;
  expect(nearStart(end, executions, moment)?.belief.passes).toBe((places[4] as Place).course.belief.passes);
  expect(nearStart(end, executions.slice(0, -1), moment)).toBeUndefined();
  expect(nearStart(end, executions.slice(5), moment)).toBeUndefined();
});
