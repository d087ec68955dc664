/**
 * What a test does in its other legs and CI jobs on the commit on which it fails: evidence of whether it is broken, before
 * it has run again. Of the default branch only, and of the first failure of a row only: after the second, its own results
 * say more.
 */
import type { WeighedPlace } from './belief.ts';
import { comparePositions, type JudgedExecution, type Position } from './execution.ts';
import { monthOf } from './retention.ts';
import { DAY_MS } from './time.ts';

/** The newest results of the other legs on the commit. */
export interface Seen {
  /** Whether it passed in one of them. */
  passed: boolean;
  /** In how many it failed: {@link FAILED_MAX} stands for more. */
  failed: number;
}

/** Another leg showed something about a failure. */
export interface Elsewhere {
  /** The execution that showed it; that of the failure, if it was known by then. */
  at: Position;
  failure: WeighedPlace;
  before: Seen;
  after: Seen;
}

const FAILED_MAX = 2;
const NOTHING: Seen = { passed: false, failed: 0 };
/** Results of the commit that come later say nothing: the test has run again by then. */
export const REACH_MS = 3 * DAY_MS;

/**
 * How many times likelier each makes it that the failure is a break. Learned on the first year of
 * dask/distributed, so that as many fail again as it says; docs/judgement-quality.md has how right that is on the second.
 */
const FACTORS = { passed: [0.04, 0.75, 40], notPassed: [1, 4, 15] } as const;

const factorOf = ({ passed, failed }: Seen): number => FACTORS[passed ? 'passed' : 'notPassed'][failed] ?? 1;

/** How many times likelier what was shown makes it that the failure is a break. */
export const breakFactor = ({ before, after }: Pick<Elsewhere, 'before' | 'after'>): number =>
  factorOf(after) / factorOf(before);

/**
 * What other legs show about each failure. The fold takes in what is said of the first of a row. Months leave as a whole, so each is looked at
 * alone.
 *
 * @param legs by leg: executions of one test on the default branch, in any order
 */
export function elsewhereOf(legs: ReadonlyMap<string, readonly JudgedExecution[]>): Map<string, Elsewhere[]> {
  const found = new Map<string, Elsewhere[]>();
  if (legs.size < 2) return found;
  const all = [...legs].flatMap(([leg, executions]) =>
    executions
      .filter(({ commit, status }) => commit !== '' && status !== 'skipped')
      .map((execution) => ({ leg, execution })),
  );
  const onCommits = Map.groupBy(all, ({ execution: { commit, finishedAt } }) => `${monthOf(finishedAt)} ${commit}`);
  for (const results of onCommits.values()) {
    if (!results.some(({ execution }) => execution.status === 'failed')) continue;
    results.sort((one, other) => comparePositions(one.execution, other.execution));
    for (const { leg, execution } of results) {
      if (execution.status !== 'failed') continue;
      const known = found.get(leg) ?? [];
      found.set(leg, known);
      known.push(...shownAbout(leg, execution, results));
    }
  }
  return found;
}

interface LegResult {
  leg: string;
  execution: JudgedExecution;
}

/** @param results in order */
function shownAbout(leg: string, failure: JudgedExecution, results: readonly LegResult[]): Elsewhere[] {
  const shown: Elsewhere[] = [];
  const newest = new Map<string, boolean>();
  let before = NOTHING;
  for (const { leg: other, execution } of results) {
    const order = comparePositions(execution, failure);
    if (order > 0 && (other === leg || execution.finishedAt - failure.finishedAt > REACH_MS)) break;
    if (other !== leg) newest.set(other, execution.status === 'failed');
    if (order < 0) continue;
    const after = seenIn([...newest.values()]);
    if (after.passed === before.passed && after.failed === before.failed) continue;
    const { finishedAt, runId, runAttempt, executionId } = execution;
    const last = shown.at(-1);
    // One moment has one change.
    if (last?.at.finishedAt === finishedAt) shown.pop();
    shown.push({
      at: { finishedAt, runId, runAttempt, executionId },
      failure: { executionId: String(failure.executionId), commit: failure.commit, finishedAt: failure.finishedAt },
      before: last?.at.finishedAt === finishedAt ? last.before : before,
      after,
    });
    before = after;
  }
  return shown;
}

/** @param failed of each other leg that has a result, whether its newest one failed */
export function seenIn(failed: readonly boolean[]): Seen {
  const count = failed.filter(Boolean).length;
  return { passed: count < failed.length, failed: Math.min(FAILED_MAX, count) };
}
