/**
 * Failures that come back: a test that fails once, passes on the next commit, and does the same again some days later
 * with the same message, is not broken twice by chance.
 */
import { comparePositions, type JudgedExecution } from './execution.ts';
import { isAmbiguous } from './flakiness.ts';
import { REPEATED_FAILURE_EXECUTIONS, REPEATED_FAILURE_MS } from './judgement-constants.ts';

/**
 * How far an execution can be from those that decide whether it is a repetition: its counterpart, the neighbour that
 * isolates the counterpart, and what makes that neighbour ambiguous. An evaluation reads no further.
 */
export const REPETITION_REACH_EXECUTIONS = 3 * REPEATED_FAILURE_EXECUTIONS;
export const REPETITION_REACH_MS = 3 * REPEATED_FAILURE_MS;

/**
 * Failures of one identity that are isolated (the nearest execution of another commit passed, before and after) and
 * have a counterpart: another such failure on another commit with the same fingerprint. Whatever decides is within
 * {@link REPEATED_FAILURE_MS} and {@link REPEATED_FAILURE_EXECUTIONS}. Held-back failures, unknown commits and commits
 * on which one attempt has both results are not evidence, neither as failures nor as neighbours.
 *
 * @param executions In any order; skipped ones are ignored.
 * @param fingerprints The failure group of each failed execution; one without a group has no counterpart.
 */
export function repeatedFailures(
  executions: readonly JudgedExecution[],
  heldBack: ReadonlySet<bigint>,
  fingerprints: ReadonlyMap<bigint, string>,
): Set<bigint> {
  const history = new History(executions, heldBack);
  const isolated = history.ordered.flatMap((execution, i) => {
    const fingerprint = fingerprints.get(execution.executionId);
    return fingerprint !== undefined && history.isIsolated(i) ? [{ i, execution, fingerprint }] : [];
  });
  const repeated = new Set<bigint>();
  for (const [later, one] of isolated.entries())
    for (let earlier = later - 1; earlier >= 0; earlier--) {
      const other = isolated[earlier] as (typeof isolated)[number];
      if (!history.isNear(other.i, one.i)) break;
      if (other.fingerprint !== one.fingerprint || other.execution.commit === one.execution.commit) continue;
      repeated.add(one.execution.executionId).add(other.execution.executionId);
    }
  return repeated;
}

class History {
  readonly ordered: readonly JudgedExecution[];
  readonly #evidence = new Map<number, boolean>();

  constructor(
    executions: readonly JudgedExecution[],
    private readonly heldBack: ReadonlySet<bigint>,
  ) {
    this.ordered = executions.filter((execution) => execution.status !== 'skipped').sort(comparePositions);
  }

  isNear(i: number, j: number): boolean {
    if (Math.abs(i - j) > REPEATED_FAILURE_EXECUTIONS) return false;
    return Math.abs(this.#at(i).finishedAt - this.#at(j).finishedAt) <= REPEATED_FAILURE_MS;
  }

  isIsolated(i: number): boolean {
    return (
      this.#at(i).status === 'failed' &&
      this.#isEvidence(i) &&
      this.#neighbour(i, -1)?.status === 'passed' &&
      this.#neighbour(i, 1)?.status === 'passed'
    );
  }

  /** The nearest execution of another commit that is evidence. */
  #neighbour(i: number, step: 1 | -1): JudgedExecution | undefined {
    for (let j = i + step; j >= 0 && j < this.ordered.length && this.isNear(i, j); j += step)
      if (this.#at(j).commit !== this.#at(i).commit && this.#isEvidence(j)) return this.#at(j);
    return undefined;
  }

  /** Considers only what is near the execution, so that the answer does not depend on the rest of the history. */
  #isEvidence(i: number): boolean {
    const known = this.#evidence.get(i);
    if (known !== undefined) return known;
    const { commit, executionId } = this.#at(i);
    let isEvidence = commit !== '' && !this.heldBack.has(executionId);
    if (isEvidence) {
      const onCommit = [this.#at(i)];
      for (const step of [-1, 1])
        for (let j = i + step; j >= 0 && j < this.ordered.length && this.isNear(i, j); j += step)
          if (this.#at(j).commit === commit && !this.heldBack.has(this.#at(j).executionId)) onCommit.push(this.#at(j));
      isEvidence = !isAmbiguous(onCommit);
    }
    this.#evidence.set(i, isEvidence);
    return isEvidence;
  }

  #at(i: number): JudgedExecution {
    return this.ordered[i] as JudgedExecution;
  }
}
