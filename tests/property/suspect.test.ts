/**
 * A suspect (src/domain/suspect.ts): executions that arrive in passes, in whatever order, leave what all of them leave at once,
 * but for those that are reported as too late.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type BeliefAt, unknownBelief } from '../../src/domain/belief.ts';
import type { Contradiction } from '../../src/domain/contradictions.ts';
import { comparePositions, isTrouble, type JudgedExecution, runKeyOf } from '../../src/domain/execution.ts';
import { followCourse, type JudgedRun, meaningOf, runNameOf } from '../../src/domain/judge-runs.ts';
import { NOTHING_RAN_BEFORE } from '../../src/domain/run-trouble.ts';
import {
  afterCourse,
  beliefOfPasses,
  flakyChanges,
  newSuspect,
  startOf,
  withExecutions,
} from '../../src/domain/suspect.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';

const BEGUN = Date.UTC(2026, 0, 29);
const JOB = 'CI\0unit';
/** A suspect keeps executions of its last day, and no more of them than this. */
const KEPT_MAX = 200;

interface History {
  start: BeliefAt;
  /** In the order of finishing. */
  executions: JudgedExecution[];
  /** In the order of arrival. */
  passes: JudgedExecution[][];
  contradictions: Contradiction[];
  runs: ReadonlyMap<string, Pick<JudgedRun, 'meaning'>>;
}

/** Rows of executions: some are long, some of their executions finish together, some arrive long after others. */
const scenarios = fc.record({
  passesBefore: fc.constantFrom(0, 0, 1, 700),
  rows: fc.array(
    fc.record({
      hours: fc.constantFrom(0, 0, 1, 1, 5, 30),
      times: fc.constantFrom(1, 1, 1, 3, 90),
      result: fc.constantFrom('passed', 'passed', 'passed', 'passed', 'failed', 'retried', 'contradicted'),
      isNewCommit: fc.boolean(),
      unexpected: fc.constantFrom(0, 0, 3, 40),
      lateHours: fc.constantFrom(0, 0, 0, 0, 2, 20, 50),
    }),
    { minLength: 1, maxLength: 25 },
  ),
  size: fc.integer({ min: 1, max: 60 }),
});

type Scenario = typeof scenarios extends fc.Arbitrary<infer S> ? S : never;

function historyOf({ passesBefore, rows, size }: Scenario): History {
  let [at, commit, id] = [BEGUN, 0, 1_000n];
  const arriving: { execution: JudgedExecution; arrivesAt: number }[] = [];
  const contradictions: Contradiction[] = [];
  const runs = new Map<string, Pick<JudgedRun, 'meaning'>>();
  for (const { hours, times, result, isNewCommit, unexpected, lateHours } of rows) {
    at += hours * HOUR_MS;
    if (isNewCommit) commit++;
    for (let i = 0; i < times; i++) {
      at += i === 0 ? 0 : 60_000;
      id++;
      const execution: JudgedExecution = {
        executionId: id,
        status: result === 'failed' ? 'failed' : 'passed',
        finishedAt: at,
        // Neither in the order of time nor of ids.
        runId: `r${(id * 7n) % 5n}-${id}`,
        runAttempt: 1,
        commit: `c${commit}`,
        isFlakyWithinRun: result === 'retried',
        isRetried: result === 'retried',
      };
      const run = runKeyOf(execution);
      const isOnDefaultBranch = result !== 'contradicted';
      const count = { place: JOB, executions: 150, unexpected: unexpected + 1, isOnDefaultBranch };
      runs.set(runNameOf(JOB, run), { meaning: meaningOf(count, NOTHING_RAN_BEFORE) });
      if (isOnDefaultBranch) arriving.push({ execution, arrivesAt: at + lateHours * HOUR_MS });
      else {
        const failure = { executionId: String(id), commit: `p${id}`, finishedAt: at };
        contradictions.push({ at: execution, failure, run });
      }
    }
  }
  const executions = arriving.map(({ execution }) => execution).sort(comparePositions);
  const arrived = arriving.sort((one, other) => one.arrivesAt - other.arrivesAt).map(({ execution }) => execution);
  const passes = Array.from({ length: Math.ceil(arrived.length / size) }, (_, i) =>
    arrived.slice(i * size, (i + 1) * size),
  );
  const before = { finishedAt: BEGUN + 3 * HOUR_MS, runId: 'r', runAttempt: 1, executionId: 1n };
  const start = beliefOfPasses({ passes: passesBefore, at: before, commit: 'c0' }) ?? unknownBelief();
  return { start, executions, passes, contradictions, runs };
}

/** The state of one identity after passes of the evaluation. */
function evaluated({ start, contradictions, runs }: History, passes: readonly (readonly JudgedExecution[])[]) {
  let suspect = newSuspect(start);
  const flaky = new Set<string>();
  const tooLate = new Set<JudgedExecution>();
  for (const added of passes) {
    const found = withExecutions(suspect, added);
    for (const one of found.tooLate) tooLate.add(one);
    const course = followCourse({ ...startOf(found.suspect), place: JOB, clues: contradictions }, runs);
    for (const { executionId, isFlaky } of flakyChanges(found.suspect, course.flaky))
      if (isFlaky) flaky.add(executionId);
      else flaky.delete(executionId);
    suspect = afterCourse(found.suspect, course);
  }
  return { suspect, flaky, tooLate };
}

/** The executions that each pass finds too late, by the rule as it is written down. */
function tooLateIn({ start, passes, contradictions }: History): Set<JudgedExecution> {
  const tooLate = new Set<JudgedExecution>();
  const taken: JudgedExecution[] = [];
  let last = start.at;
  for (const added of passes) {
    const edge = last;
    const isBehind = (at: JudgedExecution | Contradiction['at']) => edge !== null && comparePositions(at, edge) <= 0;
    const isFirst = (at: Contradiction['at']) => start.at === null || comparePositions(at, start.at) > 0;
    const wentWrong =
      taken.some((one) => isBehind(one) && isTrouble(one)) ||
      contradictions.some(({ at }) => isBehind(at) && isFirst(at));
    for (const one of added) if (isBehind(one) && (wentWrong || isTrouble(one))) tooLate.add(one);
    taken.push(...added.filter((one) => !tooLate.has(one)));
    taken.sort(comparePositions);
    const newest = taken.at(-1)?.finishedAt ?? 0;
    const left = taken
      .filter(({ finishedAt }, i) => finishedAt < newest - DAY_MS || i < taken.length - KEPT_MAX)
      .at(-1);
    if (left && (last === null || comparePositions(left, last) > 0)) last = left;
  }
  return tooLate;
}

/** A flaky test fails in a row that is longer than the evidence kept, breaks, and passes again after all of it has left `recent`. */
const row = { hours: 0, times: 1, result: 'passed', isNewCommit: false, unexpected: 0, lateHours: 0 } as const;
const longBreak: Scenario = {
  passesBefore: 0,
  rows: [row, row, { ...row, times: 90, result: 'failed' }, { ...row, hours: 30, times: 90 }],
  size: 1,
};

/** The stored state of a suspect, and which executions count as flaky. */
const stateOf = ({ suspect, flaky }: ReturnType<typeof evaluated>) => ({
  ...suspect,
  before: placed(suspect.before),
  after: placed(suspect.after),
  allFlaky: [...flaky].sort(),
});
const placed = ({ at, belief }: BeliefAt) => ({ at: at && [at.finishedAt, at.runId, at.executionId], belief });

test('executions in any order, in any number of passes, leave what all that are not too late leave at once', () => {
  fc.assert(
    fc.property(scenarios, (scenario) => {
      const history = historyOf(scenario);
      fc.pre(history.passes.length > 0);
      const inPasses = evaluated(history, history.passes);
      const inTime = history.executions.filter((one) => !inPasses.tooLate.has(one));
      const atOnce = evaluated(history, [inTime]);
      expect(atOnce.tooLate.size).toBe(0);
      expect(stateOf(inPasses)).toEqual(stateOf(atOnce));
    }),
    { numRuns: 100, examples: [[longBreak]] },
  );
});

test('what belongs before the executions that are kept is too late, but for a pass among nothing but passes', () => {
  fc.assert(
    fc.property(scenarios, (scenario) => {
      const history = historyOf(scenario);
      expect(evaluated(history, history.passes).tooLate).toEqual(tooLateIn(history));
    }),
    { numRuns: 100 },
  );
});
