/** The rules before the filter (former-rules.ts): which executions of a test are no evidence, and which are flaky. */
import { DAY_MS } from '../../src/domain/time.ts';

/** A test passed before a run if it passed this lately before it, or if its newest result was a pass. */
const PASSED_RECENTLY_MS = 1.5 * DAY_MS;
/** A run is troubled if so many tests that passed before fail in it, and so large a part of it; from 90 % on, totally. */
const TROUBLE_TESTS_MIN = 10;
const TROUBLE_SHARE_MIN = 0.3;
const OUTAGE_SHARE_MIN = 0.9;
/** Results count for so long before a run, and a failure in a troubled run is confirmed within so long. */
const REACH_MS = 14 * DAY_MS;
/** Two failures of one kind are flaky, and passes isolate a failure, if they are no further apart. */
const NEAR_MS = 14 * DAY_MS;
export const NEAR_EXECUTIONS = 50;

export interface FormerRun {
  at: number;
  commit: string;
  trouble: 'none' | 'partial' | 'total';
}

/** What a test did in a run. */
export interface FormerExecution {
  run: FormerRun;
  /** `retried`: passed after failed attempts within the run. */
  result: 'passed' | 'retried' | 'failed';
  /** Of a failure, normalised: failures of one message are of one kind. */
  message: string;
}

/** When a test last passed and failed before a run, or minus infinity. */
export interface LastResults {
  passedAt: number;
  failedAt: number;
}

export function troubleOf(at: number, passed: number, failing: readonly LastResults[]): FormerRun['trouble'] {
  const failed = failing.length;
  if (failed < TROUBLE_TESTS_MIN || failed < TROUBLE_SHARE_MIN * (failed + passed)) return 'none';
  const unexpected = failing.filter(
    ({ passedAt, failedAt }) =>
      passedAt >= at - PASSED_RECENTLY_MS || (passedAt >= at - REACH_MS && passedAt >= failedAt),
  ).length;
  const share = unexpected / (unexpected + passed);
  if (unexpected < TROUBLE_TESTS_MIN || share < TROUBLE_SHARE_MIN) return 'none';
  return share >= OUTAGE_SHARE_MIN ? 'total' : 'partial';
}

/**
 * What went wrong in troubled runs, and the next run has not confirmed (one in which everything fails confirms nothing).
 *
 * @param executions Of one test, in order of time.
 */
export function heldBackOf(executions: readonly FormerExecution[]): Set<FormerExecution> {
  const isTotal = ({ run, result }: FormerExecution): boolean => result !== 'passed' && run.trouble === 'total';
  const held = executions.filter((one, i) => {
    if (one.result === 'passed' || one.run.trouble === 'none') return false;
    const decider = executions.find((later, j) => j > i && later.run !== one.run && !isTotal(later));
    return decider?.result !== 'failed' || decider.run.at - one.run.at > REACH_MS;
  });
  return new Set(held);
}

/** Flaky executions: retried within the run, contradicted by a pass on the same commit, or repeated. */
export function flakyOf(
  executions: readonly FormerExecution[],
  held: ReadonlySet<FormerExecution>,
): Set<FormerExecution> {
  const evidence = executions.filter((one) => !held.has(one));
  const passed = new Set(evidence.flatMap(({ run, result }) => (result === 'failed' ? [] : [run.commit])));
  const flaky = evidence.filter(
    ({ run, result }) => result === 'retried' || (result === 'failed' && passed.has(run.commit)),
  );
  return new Set([...flaky, ...repeatedOf(executions, held)]);
}

/** Failures of one message on two commits, each between passes on the nearest other commits. */
function repeatedOf(executions: readonly FormerExecution[], held: ReadonlySet<FormerExecution>): FormerExecution[] {
  const at = (i: number): FormerExecution => executions[i] as FormerExecution;
  const isNear = (i: number, j: number): boolean =>
    Math.abs(i - j) <= NEAR_EXECUTIONS && Math.abs(at(i).run.at - at(j).run.at) <= NEAR_MS;
  const isPassedBeside = (i: number, step: 1 | -1): boolean => {
    for (let j = i + step; j >= 0 && j < executions.length && isNear(i, j); j += step)
      if (at(j).run.commit !== at(i).run.commit && !held.has(at(j))) return at(j).result !== 'failed';
    return false;
  };
  const isCounterpart = (i: number, j: number): boolean =>
    isNear(i, j) && at(i).message === at(j).message && at(i).run.commit !== at(j).run.commit;
  const isolated = executions.flatMap((one, i) =>
    one.result === 'failed' && !held.has(one) && isPassedBeside(i, -1) && isPassedBeside(i, 1) ? [i] : [],
  );
  return isolated.filter((i) => isolated.some((j) => isCounterpart(i, j))).map(at);
}
