/** What is remembered of courses that were judged lately (src/evaluation/recent-courses.ts). */
import { expect, test } from 'bun:test';
import { emptySummary } from '../../src/domain/test-state.ts';
import { RecentCourses, type StoredEnd } from '../../src/evaluation/recent-courses.ts';
import type { IdentifiedExecution } from '../../src/evaluation/store.ts';
import { unknownBelief } from '../../src/postgres/belief-text.ts';

const IDENTITY = { testId: 't', pipelineName: 'CI', jobName: 'unit' };

const executionAt = (finishedAt: number): IdentifiedExecution => ({
  ...{ ...IDENTITY, executionId: BigInt(finishedAt), status: 'passed', finishedAt, runId: 'r', runAttempt: 1 },
  ...{ commit: 'c', isFlakyWithinRun: false, isRetried: false },
});

/** Executions at each of these moments, the first included and the last not. */
const between = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => executionAt(from + i));

/** What is stored after everything up to a moment. */
function storedAt(moment: number): StoredEnd {
  const { executionId, finishedAt } = executionAt(moment);
  const at = { finishedAt, runId: 'r', runAttempt: 1, executionId };
  return {
    belief: { at, belief: unknownBelief().belief },
    summary: { ...emptySummary, months: [202601, moment] },
  };
}

/** The course from 1 on, judged at 100, and continued up to 200, 300, … */
function continued(to: number): RecentCourses {
  const recent = new RecentCourses();
  const first = between(1, 101);
  const course = { isContinued: false, added: first, recent: [{ start: unknownBelief(), executions: first }] } as const;
  recent.judged('r', 'k', course, { before: undefined, after: storedAt(100) });
  for (let at = 100; at < to; at += 100)
    recent.add('r', 'k', between(at + 1, at + 101), { before: storedAt(at), after: storedAt(at + 100) });
  return recent;
}

const found = (recent: RecentCourses, stored: StoredEnd, moment: number) => {
  const course = recent.find('r', 'k', stored, moment);
  return course && [course.start.at?.finishedAt, course.executions.at(0)?.finishedAt, course.executions.length];
};

test('the shortest course is found that starts before a moment', () => {
  const recent = continued(300);
  expect(found(recent, storedAt(300), 250)).toEqual([200, 201, 100]);
  expect(found(recent, storedAt(300), 200)).toEqual([100, 101, 200]);
  expect(found(recent, storedAt(300), 50)).toEqual([undefined, 1, 300]);
});

test('nothing is found once something else is stored, or before what is remembered', () => {
  expect(found(continued(300), storedAt(299), 250)).toBeUndefined();
  const long = continued(1_500);
  expect(found(long, storedAt(1_500), 1_450)).toEqual([1_400, 1_401, 100]);
  expect(found(long, storedAt(1_500), 50)).toBeUndefined();
});

test('what belongs among the parts joins them, and what belongs before them ends the memory', () => {
  const recent = continued(300);
  recent.add('r', 'k', [executionAt(150)], { before: storedAt(300), after: storedAt(301) });
  expect(found(recent, storedAt(301), 250)).toEqual([undefined, 1, 301]);
  const later = continued(1_500);
  later.add('r', 'k', [executionAt(2)], { before: storedAt(1_500), after: storedAt(1_501) });
  expect(later.has('r', 'k')).toBe(false);
});

test('a course that starts over keeps the parts before its start', () => {
  const recent = continued(300);
  const again = recent.find('r', 'k', storedAt(300), 250);
  if (!again) throw new Error('nothing is remembered');
  const course = { isContinued: false, added: [], recent: [again] } as const;
  recent.judged('r', 'k', course, { before: storedAt(300), after: storedAt(302) });
  expect(found(recent, storedAt(302), 250)).toEqual([200, 201, 100]);
  expect(found(recent, storedAt(302), 150)).toEqual([100, 101, 200]);
});
