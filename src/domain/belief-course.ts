/** The belief about one identity as it changes: what each failure was put down to, and when its health changed. */
import { type Belief, type BeliefAt, evidenceInRow, type WeighedPlace } from './belief.ts';
import {
  breakerOf,
  type Cause,
  causeOf,
  foldBelief,
  foldContradiction,
  foldOtherLegs,
  type WeighedExecution,
} from './belief-fold.ts';
import type { Contradiction } from './contradictions.ts';
import { comparePositions, isTrouble, type JudgedExecution, type Position } from './execution.ts';
import type { OtherLegsClue } from './other-legs.ts';
import { RARE_TROUBLE, type RunTrouble } from './run-trouble.ts';
import type { Health } from './status.ts';

/** An execution that changed the health of its identity. */
export interface BeliefChange {
  at: Position;
  before: Health;
  after: Health;
  /** The first failure of the episode that begins; null on recovery, and when a pass shows what was believed before. */
  beginning: WeighedPlace | null;
}

/** Where a course starts, or could be continued. */
export interface CourseStart extends BeliefAt {
  /** See {@link BeliefCourse.flakyForGood}: at least those that are {@link undecided}. */
  flakyForGood?: ReadonlySet<string>;
}

export class BeliefCourse {
  belief: Belief;
  /** The last execution; null before the first. */
  at: Position | null;
  readonly changes: BeliefChange[] = [];
  /**
   * By execution id, of what went wrong since the start of the course: what caused it, by all that is known at the end. An
   * execution that the test caused counts as flaky once the test is called flaky.
   */
  readonly causes = new Map<string, Cause>();
  /**
   * Ids of executions on the default branch that count as flaky: what was evidence while the test was called flaky, and
   * what its source calls flaky, unless its run explains it. A course that starts over also decides about
   * {@link undecided} executions from before its start; verdicts on others from before stand.
   */
  readonly flaky = new Set<string>();
  readonly #flakyForGood = new Set<string>();
  /** The cause of the break, if the failures since the last pass are one. */
  #breaker: Cause = 'commit';
  readonly #keptAt: Position | undefined;
  #kept: CourseStart | undefined;

  /** @param start `keptAt`: where {@link kept} is */
  constructor(start: CourseStart & { keptAt?: Position | undefined }) {
    this.belief = start.belief;
    this.at = start.at;
    this.#keptAt = start.keptAt;
    for (const executionId of start.flakyForGood ?? []) this.#addForGood(executionId);
    this.#noteFlaky();
  }

  /** Ids of executions that count as flaky whatever follows: their source says so, or newer evidence has taken their place. */
  get flakyForGood(): ReadonlySet<string> {
    return this.#flakyForGood;
  }

  /** The course as it was after `keptAt`, if anything came since, or as it is: another one can start there. */
  get kept(): CourseStart {
    return this.#kept ?? this.#here();
  }

  #here(): CourseStart {
    const undecidedIds = new Set(undecided(this.belief).map(({ executionId }) => executionId));
    return { at: this.at, belief: this.belief, flakyForGood: undecidedIds.intersection(this.#flakyForGood) };
  }

  #addForGood(executionId: string): void {
    this.flaky.add(executionId);
    this.#flakyForGood.add(executionId);
  }

  /** @param trouble of its run; needed if it failed, or passed after failed attempts. */
  add(execution: JudgedExecution, trouble: RunTrouble | undefined): void {
    if (execution.status === 'skipped') return;
    const { status, finishedAt, commit } = execution;
    const executionId = String(execution.executionId);
    const result = status === 'passed' && execution.isFlakyWithinRun ? 'retried' : status;
    const weighed = { executionId, result, finishedAt, commit } as const;
    if (isTrouble(execution)) this.#note(weighed, causeOf(this.belief, weighed, trouble ?? RARE_TROUBLE));
    this.#moveTo(foldBelief(this.belief, weighed, trouble), execution, isTrouble(execution) ? weighed : undefined);
    if (execution.isFlakyWithinRun && this.causes.get(executionId) !== 'run') this.#addForGood(executionId);
  }

  #note(execution: WeighedExecution, cause: Cause): void {
    const { belief } = this;
    // Failures after the first one of a break have the same cause, on whatever commit they are.
    if (belief.streak.length === 0 && belief.status !== 'broken') this.#breaker = breakerOf(belief, execution);
    this.causes.set(execution.executionId, cause === 'commit' || cause === 'outside' ? this.#breaker : cause);
  }

  contradict({ at, failure }: Contradiction, trouble: RunTrouble): void {
    this.#moveTo(foldContradiction(this.belief, failure, trouble, at.finishedAt), at, failure, true);
  }

  /** Takes in a clue of other legs about the last failure. */
  seeOtherLegs(shown: OtherLegsClue): void {
    const before = this.belief;
    this.#moveTo(foldOtherLegs(before, shown), shown.at, undefined);
    const { status, evidence } = this.belief;
    const { executionId } = shown.failure;
    if (before.status !== 'broken' || status === 'broken' || evidence.some((one) => one.executionId === executionId))
      return;
    // It was put down to a break.
    this.causes.set(executionId, 'run');
  }

  #moveTo(next: Belief, at: Position, failure: WeighedPlace | undefined, isContradiction = false): void {
    if (this.#keptAt && !this.#kept && comparePositions(at, this.#keptAt) > 0) this.#kept = this.#here();
    const before = this.belief;
    this.belief = next;
    this.at = at;
    const isChange = next.status !== before.status;
    if (isChange || next.evidence !== before.evidence) {
      for (const { executionId } of next.evidence) this.causes.set(executionId, 'test');
      this.#withdrawFlaky(before, next);
      this.#keepReplaced(before, next);
      this.#noteFlaky();
    }
    // Failures that were in doubt began the break.
    if (isChange && next.status === 'broken')
      for (const { executionId } of next.streak) this.causes.set(executionId, this.#breaker);
    if (isChange) {
      const beginning = beginningOf(before, next, failure, isContradiction);
      this.#noteChange({ at, before: before.status, after: next.status, beginning });
    }
  }

  /** Other legs that had run by a failure belong to it: both are one change, or none. */
  #noteChange(change: BeliefChange): void {
    const last = this.changes.at(-1);
    const isOne = last !== undefined && comparePositions(last.at, change.at) === 0;
    if (isOne) this.changes.pop();
    const before = isOne ? last.before : change.before;
    if (before !== change.after) this.changes.push({ ...change, before });
  }

  /** Failures count as flaky no longer when a break explains them: then none in their row is evidence. */
  #withdrawFlaky({ evidence }: Belief, next: Belief): void {
    if (evidenceInRow(next).length > 0) return;
    for (const { executionId } of evidenceInRow({ evidence, streak: next.streak }))
      if (!this.#flakyForGood.has(executionId)) this.flaky.delete(executionId);
  }

  /** The last failures of a long row are kept as evidence: verdicts on the others stand. */
  #keepReplaced({ evidence }: Belief, next: Belief): void {
    const kept = new Set(next.evidence.map(({ executionId }) => executionId));
    for (const { executionId } of evidence)
      if (!kept.has(executionId) && this.flaky.has(executionId)) this.#flakyForGood.add(executionId);
  }

  #noteFlaky(): void {
    for (const { executionId, isFlaky, isContradicted } of this.belief.evidence)
      if (isFlaky && !isContradicted) this.flaky.add(executionId);
  }
}

/**
 * The first of the failures in a row that led to a change. A contradiction calls a test flaky by its own failure; a test
 * that is no longer broken is flaky again by what failed on its own.
 */
function beginningOf(
  before: Belief,
  next: Belief,
  failure: WeighedPlace | undefined,
  isContradiction: boolean,
): WeighedPlace | null {
  if (next.status === 'healthy') return null;
  const inRow = next.streak[0] ?? before.streak[0];
  const own = isContradiction ? failure : next.evidence.at(-1);
  const isOwn = next.status === 'flaky' && (isContradiction || before.status === 'broken');
  const first = (isOwn ? own : undefined) ?? inRow ?? failure ?? own;
  return first ? { executionId: first.executionId, commit: first.commit, finishedAt: first.finishedAt } : null;
}

/** Executions on the default branch that may yet be evidence, or be called flaky, or cease to be. */
export const undecided = ({ evidence, streak }: Belief): WeighedPlace[] => [
  ...evidence.filter(({ isContradicted }) => !isContradicted),
  ...streak,
];

/** Where flaky tests are not looked for, none is called flaky. */
export const shownHealth = (status: Health, isFlakyDetectionEnabled: boolean): Health =>
  status === 'flaky' && !isFlakyDetectionEnabled ? 'healthy' : status;

/** The changes of the health that is shown. */
export const shownChanges = (changes: readonly BeliefChange[], isFlakyDetectionEnabled: boolean): BeliefChange[] =>
  changes
    .map((change) => ({
      ...change,
      before: shownHealth(change.before, isFlakyDetectionEnabled),
      after: shownHealth(change.after, isFlakyDetectionEnabled),
    }))
    .filter(({ before, after }) => before !== after)
    .map((change) => (change.after === 'healthy' ? { ...change, beginning: null } : change));
