/** Adds up executions of one identity, in any order: what is added to its counts. Pure. */
import { comparePositions, type Position } from './execution.ts';
import { monthOf } from './retention.ts';
import type { Status } from './status.ts';
import type { CountedPasses } from './suspect.ts';
import { dayOf } from './time.ts';

export interface TalliedExecution extends Position {
  status: Status;
  commit: string;
  /** It passed only after failed attempts, or its source calls it flaky. */
  isFlakyWithinRun: boolean;
  /** Whether an attempt of it failed, also if it passed in the end. */
  hasFailures: boolean;
}

/** Numbers that executions add to an identity. */
export interface IdentityTotals {
  /** Skipped ones included. */
  executions: number;
  /** Month (YYYYMM), executions, when the first of them finished, month, …; each month once, the newest first. */
  months: readonly number[];
  /** UTC day (days since the epoch), passed, failed, day, …; each day once, the newest first. Empty if all were skipped. */
  days: readonly number[];
  /** Milliseconds since the epoch; 0 for never. */
  lastSuccessAt: number;
  lastFailureAt: number;
  /** Clean ones. */
  passes: CountedPasses;
}

export class IdentityTally {
  /** Whether something failed, or passed only after failed attempts. */
  hasTrouble = false;
  #executions = 0;
  #lastSuccessAt = 0;
  #lastFailureAt = 0;
  readonly #passes: CountedPasses = { passes: 0, at: null, commit: '' };
  readonly #months: number[] = [];
  readonly #days: number[] = [];

  add(execution: TalliedExecution): void {
    const { status, finishedAt } = execution;
    this.#executions++;
    const month = tripleOf(this.#months, monthOf(finishedAt), finishedAt);
    increase(this.#months, month + 1);
    if (finishedAt < (this.#months[month + 2] ?? 0)) this.#months[month + 2] = finishedAt;
    if ((execution.hasFailures || status === 'failed') && finishedAt > this.#lastFailureAt)
      this.#lastFailureAt = finishedAt;
    if (status === 'skipped') return;
    const day = tripleOf(this.#days, dayOf(finishedAt), 0);
    if (status === 'passed') {
      increase(this.#days, day + 1);
      if (finishedAt > this.#lastSuccessAt) this.#lastSuccessAt = finishedAt;
      if (execution.isFlakyWithinRun) this.hasTrouble = true;
      else this.#addPass(execution);
    } else {
      increase(this.#days, day + 2);
      this.hasTrouble = true;
    }
  }

  #addPass({ finishedAt, runId, runAttempt, executionId, commit }: TalliedExecution): void {
    const passes = this.#passes;
    passes.passes++;
    const at = { finishedAt, runId, runAttempt, executionId };
    if (passes.at !== null && comparePositions(at, passes.at) < 0) return;
    passes.at = at;
    passes.commit = commit;
  }

  totals(): IdentityTotals {
    return {
      executions: this.#executions,
      months: newestFirst(this.#months),
      days: newestFirst(this.#days),
      lastSuccessAt: this.#lastSuccessAt,
      lastFailureAt: this.#lastFailureAt,
      passes: this.#passes,
    };
  }
}

/** Where the three numbers of a key begin; nearly always there is one key. */
function tripleOf(flat: number[], key: number, third: number): number {
  let i = 0;
  while (i < flat.length && flat[i] !== key) i += 3;
  if (i === flat.length) flat.push(key, 0, third);
  return i;
}

function increase(flat: number[], i: number): void {
  flat[i] = (flat[i] ?? 0) + 1;
}

function newestFirst(flat: readonly number[]): readonly number[] {
  if (flat.length <= 3) return flat;
  const triples = Array.from({ length: flat.length / 3 }, (_, i) => flat.slice(3 * i, 3 * i + 3));
  return triples.sort(([one = 0], [other = 0]) => other - one).flat();
}
