/**
 * Infrastructure trouble: a run in which much fails at once says more about the machine it ran on than about its tests.
 * Its failures count in statistics, but they are evidence against a test only once the test fails in a later run too.
 *
 * Here a run is one attempt of a pipeline and CI job, limited to what finished on one UTC day, so that a run id that
 * never changes does not make one endless run. Pure: the same executions in any order give the same answers.
 */
import { attemptOf, comparePositions, isTrouble, type JudgedExecution, runKeyOf } from './execution.ts';
import {
  OUTAGE_SHARE_MIN,
  PASSED_RECENTLY_MS,
  TROUBLE_REACH_MS,
  TROUBLE_SHARE_MIN,
  TROUBLE_TESTS_MIN,
} from './judgement-constants.ts';

/**
 * `partial`: at least {@link TROUBLE_TESTS_MIN} tests that passed before fail, and their share of the run is at least
 * {@link TROUBLE_SHARE_MIN}. `total`: the share is at least {@link OUTAGE_SHARE_MIN}.
 */
export type Trouble = 'none' | 'partial' | 'total';

/** How often a run passed and failed; skipped executions do not count. */
export interface RunTotals {
  /** When the first of its executions finished; milliseconds since the epoch. */
  startedAt: number;
  passed: number;
  failed: number;
}

/** A test that fails in a run, with its newest results in the {@link TROUBLE_REACH_MS} before the run. */
export interface FailingTest {
  failures: number;
  lastPassAt: number | null;
  lastFailureAt: number | null;
}

/** Whether the run's totals allow for trouble: they rule most runs out, without reading their tests. */
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

/**
 * `pending`: no later run has decided yet. `held_back`: a later run passed, or failed too late, so it is not evidence.
 * `released`: the next run failed too, so it is evidence like any other.
 */
export type Hold = 'pending' | 'held_back' | 'released';

/**
 * Decides about the failures and flaky passes of one identity in troubled runs; the result has no other executions. A
 * later run in which everything fails confirms nothing. A pass always counts, whatever else failed in its run.
 *
 * @param executions Of one identity: the first to decide about and all that follow.
 * @param troubles By {@link runKeyOf}; other runs are not troubled.
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

/** The executions that are not evidence. */
export function heldBack(holds: ReadonlyMap<bigint, Hold>): Set<bigint> {
  return new Set([...holds].flatMap(([id, hold]) => (hold === 'released' ? [] : [id])));
}
