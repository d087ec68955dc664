/**
 * Clues of other legs: what a test did in its other legs and CI jobs on the commit on which it fails. They tell a break from a
 * lucky strike before the test has run again. Only on the default branch, and only for the first failure of a row: after the
 * second, its own results say more.
 */
import type { WeighedPlace } from './belief.ts';
import { comparePositions, type JudgedExecution, type Position } from './execution.ts';
import { monthOf } from './retention.ts';
import { DAY_MS } from './time.ts';

/** The newest results of the other legs on the commit. */
export interface OtherLegs {
  /** Whether it passed in one of them. */
  passed: boolean;
  /** In how many it failed: {@link FAILED_MAX} stands for more. */
  failed: number;
}

/** Another leg showed something about a failure. */
export interface OtherLegsClue {
  /** The execution that showed it; that of the failure, if it was known by then. */
  at: Position;
  failure: WeighedPlace;
  before: OtherLegs;
  after: OtherLegs;
}

const FAILED_MAX = 2;
/** Results of the commit that come later say nothing: the test has run again by then. */
export const OTHER_LEGS_MS = 3 * DAY_MS;

/**
 * How many times likelier each makes it that the failure is a break: where it passed, and where it did not, by how many
 * failed. Learned on the first half of the runs of dask/distributed; docs/judgement-quality.md has how right that is on
 * the second.
 */
const FACTORS = { passed: [0.04, 0.75, 40], notPassed: [1, 4, 15] } as const;

const factorOf = ({ passed, failed }: OtherLegs): number => FACTORS[passed ? 'passed' : 'notPassed'][failed] ?? 1;

/** How many times likelier a clue makes it that the failure is a break. */
export const breakFactor = ({ before, after }: Pick<OtherLegsClue, 'before' | 'after'>): number =>
  factorOf(after) / factorOf(before);

/**
 * By leg: the clues about each of its failures. The fold takes in those about the first failure of a row. Months leave as a
 * whole, so each is looked at alone.
 *
 * @param legs by leg: executions of one test on the default branch, in any order
 */
export function otherLegsClues(legs: ReadonlyMap<string, readonly JudgedExecution[]>): Map<string, OtherLegsClue[]> {
  const found = new Map<string, OtherLegsClue[]>();
  const all = [...legs].flatMap(([leg, executions]) =>
    executions
      .filter(({ commit, status }) => commit !== '' && status !== 'skipped')
      .map((execution) => ({ leg, execution })),
  );
  const onCommits = Map.groupBy(all, ({ execution: { commit, finishedAt } }) => `${monthOf(finishedAt)} ${commit}`);
  for (const results of onCommits.values()) {
    results.sort((one, other) => comparePositions(one.execution, other.execution));
    for (const { leg, execution } of results) {
      if (execution.status !== 'failed') continue;
      const known = found.get(leg) ?? [];
      found.set(leg, known);
      known.push(...cluesAbout(leg, execution, results));
    }
  }
  return found;
}

interface LegResult {
  leg: string;
  execution: JudgedExecution;
}

/** @param results on the commit, in order */
function cluesAbout(leg: string, failure: JudgedExecution, results: readonly LegResult[]): OtherLegsClue[] {
  const clues: OtherLegsClue[] = [];
  const newest = new Map<string, boolean>();
  let failed = 0;
  let before = otherLegsOf(0, 0);
  for (const { leg: other, execution } of results) {
    const order = comparePositions(execution, failure);
    if (order > 0 && (other === leg || execution.finishedAt - failure.finishedAt > OTHER_LEGS_MS)) break;
    if (other !== leg) {
      const isFailed = execution.status === 'failed';
      failed += Number(isFailed) - Number(newest.get(other) ?? false);
      newest.set(other, isFailed);
    }
    if (order < 0) continue;
    const after = otherLegsOf(newest.size, failed);
    if (after.passed === before.passed && after.failed === before.failed) continue;
    const { finishedAt, runId, runAttempt, executionId } = execution;
    // A moment has one clue about a failure.
    const sameMoment = clues.at(-1)?.at.finishedAt === finishedAt ? clues.pop() : undefined;
    clues.push({
      at: { finishedAt, runId, runAttempt, executionId },
      failure: { executionId: String(failure.executionId), commit: failure.commit, finishedAt: failure.finishedAt },
      before: sameMoment?.before ?? before,
      after,
    });
    before = after;
  }
  return clues;
}

/**
 * @param legs other legs with a result
 * @param failed how many of them failed last
 */
export const otherLegsOf = (legs: number, failed: number): OtherLegs => ({
  passed: failed < legs,
  failed: Math.min(FAILED_MAX, failed),
});
