/**
 * Regressions on the default branch, told with all that is known today: what a quarantine may have hidden. Pure.
 *
 * A *regression* is a row of failures of one test in one pipeline and CI job, without a pass in between, none of which its
 * run caused, or passed on the same commit, that is either
 *
 * - `new_failure`: on at least {@link NEW_FAILURE_COMMITS_MIN} commits, and the default branch had shown none of its failure
 *   groups before the first of these commits; or
 * - `lasting`: on at least {@link LASTING_COMMITS_MIN} commits, and on so many that chance hardly explains it: a test
 *   that fails as often as it does outside of the row would in all its executions have such a row with a probability of
 *   {@link LUCK_PROBABILITY_MAX} at most.
 *
 * A single red commit is none: it cannot be told from a flaky failure.
 */
import { comparePositions, type JudgedExecution } from './execution.ts';

const NEW_FAILURE_COMMITS_MIN = 2;
const LASTING_COMMITS_MIN = 3;
/** The probability that a lasting row of failures is luck may be at most this. */
const LUCK_PROBABILITY_MAX = 0.05;
/** Bounds of how often a test is taken to fail otherwise. */
const FAILURE_SHARE_MIN = 0.01;
const FAILURE_SHARE_MAX = 0.5;

export const REGRESSION_KINDS = ['new_failure', 'lasting'] as const;

export interface Regression {
  kind: (typeof REGRESSION_KINDS)[number];
  /** The commit of the first failure. */
  commit: string;
  /** Commits on which it failed. */
  commits: number;
  firstFailedAt: number;
  lastFailedAt: number;
  /** The group of each failure; undefined for one without details. */
  failureIds: readonly (string | undefined)[];
  /** When the test passed again, and on which commit; null: not by the end. */
  fixedAt: number | null;
  fixedBy: string | null;
}

/** When and on which commit each failure group of a test was first seen, in any of its pipelines and CI jobs. */
export type FirstSeen = ReadonlyMap<string, Pick<JudgedExecution, 'finishedAt' | 'commit'>>;

export function firstSeenOf(
  executions: readonly JudgedExecution[],
  fingerprints: ReadonlyMap<bigint, string>,
): FirstSeen {
  const seen = new Map<string, JudgedExecution>();
  for (const execution of executions) {
    const id = fingerprints.get(execution.executionId);
    const first = id === undefined ? undefined : seen.get(id);
    if (id !== undefined && (!first || comparePositions(execution, first) < 0)) seen.set(id, execution);
  }
  return seen;
}

/**
 * The regressions of one identity.
 *
 * @param executions in order.
 * @param heldBack ids of failures that their runs caused.
 */
export function regressionsOf(
  executions: readonly JudgedExecution[],
  heldBack: ReadonlySet<bigint>,
  fingerprints: ReadonlyMap<bigint, string>,
  firstSeen: FirstSeen,
): Regression[] {
  const regressions: Regression[] = [];
  const evidence = executions.filter(({ executionId, status }) => status !== 'skipped' && !heldBack.has(executionId));
  const passed = new Set(
    evidence.flatMap(({ status, commit }) => (status === 'passed' && commit !== '' ? [commit] : [])),
  );
  const isFlaky = (one: JudgedExecution): boolean => one.isFlakyWithinRun || passed.has(one.commit);
  const failures = evidence.filter(({ status }) => status === 'failed').length;
  let row: JudgedExecution[] = [];
  const end = (fix: JudgedExecution | null): void => {
    const failureIds = row.map(({ executionId }) => fingerprints.get(executionId));
    const kind = row.some(isFlaky)
      ? undefined
      : kindOf(row, {
          isNew: failureIds.every((id) => isNewIn(row, id === undefined ? undefined : firstSeen.get(id))),
          executions: evidence.length,
          failuresElsewhere: failures - row.length,
        });
    const [first] = row;
    const last = row.at(-1);
    if (kind && first && last)
      regressions.push({
        kind,
        commit: first.commit,
        commits: commitsOf(row),
        firstFailedAt: first.finishedAt,
        lastFailedAt: last.finishedAt,
        failureIds,
        fixedAt: fix?.finishedAt ?? null,
        fixedBy: fix?.commit || null,
      });
    row = [];
  };
  for (const execution of evidence) {
    if (execution.status === 'passed') end(execution);
    else row.push(execution);
  }
  end(null);
  return regressions;
}

interface RowEvidence {
  /** Whether the default branch had shown none of its failure groups before. */
  isNew: boolean;
  /** Executions of the identity, and how many of its failures are not in the row. */
  executions: number;
  failuresElsewhere: number;
}

function kindOf(
  row: readonly JudgedExecution[],
  { isNew, executions, failuresElsewhere }: RowEvidence,
): Regression['kind'] | undefined {
  const commits = commitsOf(row);
  if (isNew && commits >= NEW_FAILURE_COMMITS_MIN) return 'new_failure';
  const share = failuresElsewhere / Math.max(1, executions - row.length);
  const p = Math.min(Math.max(share, FAILURE_SHARE_MIN), FAILURE_SHARE_MAX);
  return commits >= LASTING_COMMITS_MIN && executions * p ** commits <= LUCK_PROBABILITY_MAX ? 'lasting' : undefined;
}

const commitsOf = (row: readonly JudgedExecution[]): number =>
  new Set(row.map(({ commit }) => commit).filter((commit) => commit !== '')).size;

/** Another CI job may have shown the same regression a little earlier, on the same commit. */
function isNewIn([first]: readonly JudgedExecution[], seen: ReturnType<FirstSeen['get']>): boolean {
  if (!first || !seen) return false;
  return seen.finishedAt >= first.finishedAt || (first.commit !== '' && seen.commit === first.commit);
}
