/**
 * Infrastructure trouble (design §7): a run in which much fails at once says more about the machine it ran on than about its
 * tests. Its failures count in statistics, but are evidence against a test only once a later run fails for the same test.
 *
 * A run is one attempt of a pipeline and job, and of it what finished on one UTC day: run ids that never change make no endless run.
 * Pure: the same executions in any order give the same answers.
 */
import { attemptOf, comparePositions, type JudgedExecution } from './execution.ts';
import {
  OUTAGE_SHARE_MIN,
  PASSED_RECENTLY_MS,
  TROUBLE_REACH_MS,
  TROUBLE_SHARE_MIN,
  TROUBLE_TESTS_MIN,
} from './judgement-constants.ts';
import { DAY_MS } from './time.ts';

/**
 * `partial`: at least {@link TROUBLE_TESTS_MIN} tests that passed before fail, and they are {@link TROUBLE_SHARE_MIN} of the run.
 * `total`: they are {@link OUTAGE_SHARE_MIN} of it.
 */
export type Trouble = 'none' | 'partial' | 'total';

/** How often a run passed and failed; skipped executions do not count. */
export interface RunTotals {
  /** When the first of its executions finished; milliseconds since the epoch. */
  startedAt: number;
  passed: number;
  failed: number;
}

/** A test that fails in a run, and its newest results before the run, no older than {@link TROUBLE_REACH_MS}. */
export interface FailingTest {
  failures: number;
  lastPassAt: number | null;
  lastFailureAt: number | null;
}

/** Whether the run's totals alone leave room for trouble: most runs are ruled out without a look at their tests. */
export function mayBeTroubled({ passed, failed }: RunTotals): boolean {
  return failed >= TROUBLE_TESTS_MIN && failed >= TROUBLE_SHARE_MIN * (failed + passed);
}

export function troubleOf(run: RunTotals, failing: Iterable<FailingTest>): Trouble {
  let tests = 0;
  let failures = 0;
  for (const test of failing) {
    if (!passedBefore(test, run.startedAt)) continue;
    tests++;
    failures += test.failures;
  }
  if (tests < TROUBLE_TESTS_MIN) return 'none';
  const share = failures / (failures + run.passed);
  if (share >= OUTAGE_SHARE_MIN) return 'total';
  return share >= TROUBLE_SHARE_MIN ? 'partial' : 'none';
}

function passedBefore({ lastPassAt, lastFailureAt }: FailingTest, startedAt: number): boolean {
  if (lastPassAt === null) return false;
  return lastPassAt >= startedAt - PASSED_RECENTLY_MS || lastFailureAt === null || lastPassAt >= lastFailureAt;
}

/** The day of an execution, counted from the epoch in UTC. */
export const dayOf = (at: number): number => Math.floor(at / DAY_MS);

/** Names a run within its pipeline and job. A run that spans midnight counts as two: totals of runs are kept by UTC day. */
export const runKey = (run: Pick<JudgedExecution, 'runId' | 'runAttempt'> & { day: number }): string =>
  `${run.day}/${attemptOf(run)}`;

/** The {@link runKey} of an execution's run. */
export const runKeyOf = (execution: JudgedExecution): string =>
  runKey({ day: dayOf(execution.finishedAt), runId: execution.runId, runAttempt: execution.runAttempt });

/**
 * `pending`: no later run has decided yet. `held_back`: a later run passed, or none came in time; no evidence. `released`: the
 * next run failed too; evidence like any other.
 */
export type Hold = 'pending' | 'held_back' | 'released';

/** Whether an execution shows trouble of its own test. */
export const isTrouble = (execution: JudgedExecution): boolean =>
  execution.status === 'failed' || (execution.status === 'passed' && execution.isFlakyWithinRun);

/**
 * What becomes of the failures and flaky passes of one identity in troubled runs; other executions are not in the answer.
 * A later run in which everything fails confirms nothing; a pass always counts, whatever else failed beside it.
 *
 * @param executions of one identity: all from the first that is asked about on.
 * @param troubles by {@link runKeyOf}; runs that are not in it have none.
 */
export function holdsOf(
  executions: readonly JudgedExecution[],
  troubles: ReadonlyMap<string, Trouble>,
): Map<bigint, Hold> {
  const holds = new Map<bigint, Hold>();
  if (troubles.size === 0) return holds;
  const ordered = executions.filter((execution) => execution.status !== 'skipped').sort(comparePositions);
  const troubleIn = (execution: JudgedExecution): Trouble => troubles.get(runKeyOf(execution)) ?? 'none';
  for (const [i, execution] of ordered.entries()) {
    if (!isTrouble(execution) || troubleIn(execution) === 'none') continue;
    const decider = ordered.find(
      (later, j) =>
        j > i && attemptOf(later) !== attemptOf(execution) && !(isTrouble(later) && troubleIn(later) === 'total'),
    );
    if (!decider) holds.set(execution.executionId, 'pending');
    else {
      const isInTime = decider.finishedAt - execution.finishedAt <= TROUBLE_REACH_MS;
      holds.set(execution.executionId, decider.status === 'failed' && isInTime ? 'released' : 'held_back');
    }
  }
  return holds;
}

/** The executions that prove nothing. */
export function heldBack(holds: ReadonlyMap<bigint, Hold>): Set<bigint> {
  return new Set([...holds].flatMap(([id, hold]) => (hold === 'released' ? [] : [id])));
}
