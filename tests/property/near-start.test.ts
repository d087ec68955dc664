/**
 * What was believed some passes ago, and what is believed if one more had come, follow from what is believed now
 * (src/domain/counted-passes.ts).
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { newBelief } from '../../src/domain/belief.ts';
import { BeliefCourse } from '../../src/domain/belief-course.ts';
import { foldBelief } from '../../src/domain/belief-fold.ts';
import { areAmongCounted, isCounting } from '../../src/domain/counted-passes.ts';
import { comparePositions, type JudgedExecution } from '../../src/domain/execution.ts';
import { type RunTrouble, runTroubleOf } from '../../src/domain/run-trouble.ts';
import { summaryOf } from '../../src/domain/test-state.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';
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

interface Event {
  at: JudgedExecution;
  isContradiction: boolean;
  trouble: RunTrouble;
}

interface Place extends Event {
  /** After it. */
  course: { belief: BeliefCourse['belief']; at: BeliefCourse['at'] };
}

/** @param unit how far apart they may be, in milliseconds */
function eventsOf(steps: readonly StepOf[], unit = MINUTE_MS): Event[] {
  let [commit, finishedAt] = [0, BEGUN];
  return steps.map(({ kind, isNewCommit, minutes, others }, i) => {
    if (isNewCommit) commit++;
    finishedAt += minutes * unit;
    const at: JudgedExecution = {
      ...{ executionId: BigInt(i + 1), runId: String(i).padStart(4, '0'), runAttempt: 1, commit: `c${commit}` },
      ...{ finishedAt, status: kind === 'failed' ? 'failed' : 'passed' },
      ...{ isFlakyWithinRun: kind === 'retried', isRetried: kind === 'retried' },
    };
    return { at, isContradiction: kind === 'contradicted', trouble: troubleOf(others) };
  });
}

/** A course with the places that it passed. */
function courseOf(events: readonly Event[]): { course: BeliefCourse; places: Place[] } {
  const course = new BeliefCourse({ belief: newBelief(), at: null });
  const places = events.map((event): Place => {
    const { at, isContradiction, trouble } = event;
    if (isContradiction) {
      const failure = { executionId: `p${at.executionId}`, commit: at.commit, finishedAt: at.finishedAt };
      course.contradict({ at, failure, run: '' }, trouble);
    } else course.add(at, trouble);
    return { ...event, course: { belief: course.belief, at: course.at } };
  });
  return { course, places };
}

const executionsOf = (events: readonly Event[]): JudgedExecution[] =>
  events.filter(({ isContradiction }) => !isContradiction).map(({ at }) => at);

test('the belief before a moment is what it was, wherever it follows from the end', () => {
  let found = 0;
  let asked = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), fc.nat(), fc.nat({ max: 6 }), (steps, cut, kept) => {
      const { course: end, places } = courseOf(eventsOf(steps));
      const moment = places[cut % places.length]?.at.finishedAt as number;
      const executions = executionsOf(places);
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

test('a late pass among those that were counted changes only how many there are', () => {
  let counted = 0;
  const life = fc.array(step, { minLength: 1, maxLength: 90 });
  const place = fc.record({ after: fc.nat(), commit: fc.nat({ max: 60 }) });
  fc.assert(
    fc.property(life, fc.constantFrom(6, 24, 60), place, (steps, hours, { after, commit }) => {
      const events = eventsOf(steps, (hours * HOUR_MS) / 3);
      const i = after % events.length;
      const one = (events[i] as Event).at;
      const late: JudgedExecution = {
        ...{ ...one, executionId: 1_000n, runId: `${one.runId}/late`, commit: `c${commit}`, status: 'passed' },
        ...{ isFlakyWithinRun: false, isRetried: false },
      };
      const { belief, at, changes } = courseOf(events).course;
      const isEarlier = at !== null && comparePositions(late, at) < 0;
      const { days } = summaryOf(executionsOf(events), null);
      if (!isEarlier || !isCounting(belief, 1, (on) => on === late.commit)) return;
      if (!areAmongCounted(belief, days, late.finishedAt)) return;
      counted++;
      const all = [...events, { at: late, isContradiction: false, trouble: troubleOf(0) }];
      const { course } = courseOf(all.toSorted((one, other) => comparePositions(one.at, other.at)));
      expect(course.belief).toEqual({ ...belief, passes: belief.passes + 1 });
      expect(course.changes).toEqual(changes);
    }),
    { numRuns: 5_000 },
  );
  // Else the property would say nothing.
  expect(counted).toBeGreaterThan(100);
});

test('passes of a flaky test are counted until it recovers', () => {
  const pass = { kind: 'passed', isNewCommit: true, minutes: 1, others: 0 } as const;
  const alone: StepOf = { ...pass, kind: 'failed' };
  const { course } = courseOf(
    eventsOf([...Array.from({ length: 9 }, () => pass), alone, pass, alone, pass, pass, pass]),
  );
  const isCounted = (passes: number): boolean => isCounting(course.belief, passes, () => false);
  let [counted, { belief }] = [0, course];
  while (belief.status === 'flaky') {
    expect(isCounted(counted)).toBe(true);
    counted++;
    const execution = { executionId: '', result: 'passed' as const, finishedAt: BEGUN + DAY_MS, commit: '' };
    belief = foldBelief(belief, execution);
  }
  expect(counted).toBeGreaterThan(100);
  expect([isCounted(counted), isCounted(counted + 1)]).toEqual([false, false]);
});

test('nothing is known of a late pass on a day that is no longer counted, or if it may have ended being flaky', () => {
  const pass = { kind: 'passed', isNewCommit: true, minutes: 1, others: 0 } as const;
  const passes = (count: number): StepOf[] => Array.from({ length: count }, () => pass);
  const alone: StepOf = { ...pass, kind: 'failed' };
  const daily = eventsOf([...passes(50), { ...alone, others: 40 }, ...passes(40)], DAY_MS);
  const { belief } = courseOf(daily).course;
  const { days } = summaryOf(executionsOf(daily), null);
  const onDay = (i: number): boolean => areAmongCounted(belief, days, (daily[i] as Event).at.finishedAt);
  expect([onDay(49), onDay(55), onDay(61), onDay(90)]).toEqual([false, false, true, true]);

  const recovered = eventsOf([...passes(9), alone, pass, alone, ...passes(500)], HOUR_MS);
  const { course } = courseOf(recovered);
  expect(course.changes.map(({ after }) => after)).toEqual(['flaky', 'healthy']);
  const { at } = recovered.at(-2) as Event;
  expect(areAmongCounted(course.belief, summaryOf(executionsOf(recovered), null).days, at.finishedAt)).toBe(false);
});

test('nothing is known without the last execution, and none before the moment', () => {
  const { course: end, places } = courseOf(
    eventsOf(Array.from({ length: 9 }, () => ({ kind: 'passed', isNewCommit: false, minutes: 1, others: 0 }) as const)),
  );
  const executions = places.map(({ at }) => at);
  const moment = executions[5]?.finishedAt as number;
  expect(nearStart(end, executions, moment)?.belief.passes).toBe((places[4] as Place).course.belief.passes);
  expect(nearStart(end, executions.slice(0, -1), moment)).toBeUndefined();
  expect(nearStart(end, executions.slice(5), moment)).toBeUndefined();
});
