/** The belief about one identity as it changes: what each failure was put down to, and when its health changed. */
import { type Belief, foldBelief, foldContradiction } from './belief.ts';
import type { Contradiction } from './contradictions.ts';
import { isTrouble, type JudgedExecution, type Position } from './execution.ts';
import type { RunTrouble } from './run-trouble.ts';
import type { Health } from './status.ts';

/**
 * What explains a failure best, or a pass after failed attempts: the test itself (it is flaky), a change that broke it, or
 * its run. An execution that the test explains counts as flaky once the test is called flaky.
 */
export type Explanation = 'test' | 'change' | 'run';

/** An execution that changed the health of its identity. */
export interface BeliefChange {
  at: Position;
  /** Empty when unknown. */
  commit: string;
  before: Health;
  after: Health;
}

export class BeliefCourse {
  belief: Belief;
  /** Of the last execution; null before the first. */
  at: Position | null;
  readonly changes: BeliefChange[] = [];
  /** By execution id, of what went wrong since the start of the course. */
  readonly explanations = new Map<string, Explanation>();
  /**
   * Ids of executions that count as flaky: what was evidence while the test was called flaky. A course that starts over
   * also decides about {@link undecided} executions from before its start; verdicts on others from before stand.
   */
  readonly flaky = new Set<string>();

  constructor(start: { belief: Belief; at: Position | null }) {
    this.belief = start.belief;
    this.at = start.at;
    this.#noteFlaky();
  }

  /** @param trouble of its run; needed if it failed, or passed after failed attempts. */
  add(execution: JudgedExecution, trouble: RunTrouble | undefined): void {
    if (execution.status === 'skipped') return;
    const { status, finishedAt, commit } = execution;
    const executionId = String(execution.executionId);
    const result = status === 'passed' && execution.isFlakyWithinRun ? 'retried' : status;
    this.#moveTo(foldBelief(this.belief, { executionId, result, finishedAt, commit }, trouble), execution, commit);
    if (isTrouble(execution) && !this.explanations.has(executionId))
      this.explanations.set(executionId, this.belief.status === 'broken' ? 'change' : 'run');
  }

  contradict({ at, failure }: Contradiction, trouble: RunTrouble): void {
    this.#moveTo(foldContradiction(this.belief, failure, trouble), at, failure.commit);
  }

  #moveTo(next: Belief, at: Position, commit: string): void {
    const before = this.belief;
    this.belief = next;
    this.at = at;
    if (next.evidence !== before.evidence) {
      for (const { executionId } of next.evidence) this.explanations.set(executionId, 'test');
      this.#noteFlaky();
    }
    if (next.status !== before.status) this.changes.push({ at, commit, before: before.status, after: next.status });
  }

  #noteFlaky(): void {
    for (const { executionId, isFlaky } of this.belief.evidence) if (isFlaky) this.flaky.add(executionId);
  }
}

/** Ids of executions that may yet be evidence, or be called flaky. */
export const undecided = ({ evidence, streak }: Belief): string[] =>
  [...evidence, ...streak].map(({ executionId }) => executionId);
