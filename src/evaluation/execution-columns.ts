/**
 * Executions in columns of numbers, some thirty bytes each: a pass of the evaluation takes hundreds of thousands, and
 * looks at few of them one by one.
 */
import { comparePositions, type Position } from '../domain/execution.ts';
import { STATUSES, type Status } from '../domain/status.ts';

/** What the executions of a line share. */
export interface SharedFacts {
  pipelineName: string;
  jobName: string;
  runId: string;
  runAttempt: number;
  commit: string;
  framework: string;
  frameworkVersion: string;
  language: string;
}

export interface ExecutionFacts {
  executionId: bigint;
  status: Status;
  /** Milliseconds since the epoch. */
  finishedAt: number;
  isFlakyWithinRun: boolean;
  isRetried: boolean;
}

const FLAKY = 4;
const RETRIED = 8;
const STATUS = 3;
/** Ends a chain. */
export const NONE = -1;

/** Executions are numbered from 0 in the order in which they are added. Each belongs to a chain: see {@link after}. */
export class ExecutionColumns {
  length = 0;
  readonly #lines: SharedFacts[] = [];
  #line = new Int32Array(1024);
  #after = new Int32Array(1024);
  #finishedAt = new Float64Array(1024);
  #id = new BigUint64Array(1024);
  #flags = new Uint8Array(1024);

  /** The executions that are added from now on belong to this line. */
  beginLine(shared: SharedFacts): void {
    this.#lines.push(shared);
  }

  /** Adds an execution in front of a chain, which {@link NONE} begins. Returns its number. */
  add(execution: ExecutionFacts, chain: number): number {
    if (this.length === this.#line.length) this.#grow();
    const i = this.length++;
    this.#line[i] = this.#lines.length - 1;
    this.#after[i] = chain;
    this.#finishedAt[i] = execution.finishedAt;
    this.#id[i] = execution.executionId;
    this.#flags[i] =
      STATUSES.indexOf(execution.status) |
      (execution.isFlakyWithinRun ? FLAKY : 0) |
      (execution.isRetried ? RETRIED : 0);
    return i;
  }

  /** The next execution of the chain, or {@link NONE}. */
  after(i: number): number {
    return this.#after[i] ?? NONE;
  }

  finishedAt(i: number): number {
    return this.#finishedAt[i] ?? 0;
  }

  executionId(i: number): bigint {
    return this.#id[i] ?? 0n;
  }

  status(i: number): Status {
    return STATUSES[(this.#flags[i] ?? 0) & STATUS] ?? 'skipped';
  }

  isFlakyWithinRun(i: number): boolean {
    return ((this.#flags[i] ?? 0) & FLAKY) !== 0;
  }

  isRetried(i: number): boolean {
    return ((this.#flags[i] ?? 0) & RETRIED) !== 0;
  }

  shared(i: number): SharedFacts {
    const shared = this.#lines[this.#line[i] ?? 0];
    if (!shared) throw new RangeError('an execution before the first line');
    return shared;
  }

  position(i: number): Position {
    const { runId, runAttempt } = this.shared(i);
    return { finishedAt: this.finishedAt(i), runId, runAttempt, executionId: this.executionId(i) };
  }

  /** As `comparePositions`. */
  compare(i: number, j: number): number {
    return this.finishedAt(i) - this.finishedAt(j) || comparePositions(this.position(i), this.position(j));
  }

  #grow(): void {
    const length = 2 * this.#line.length;
    this.#line = copied(this.#line, new Int32Array(length));
    this.#after = copied(this.#after, new Int32Array(length));
    this.#finishedAt = copied(this.#finishedAt, new Float64Array(length));
    this.#id = copied(this.#id, new BigUint64Array(length));
    this.#flags = copied(this.#flags, new Uint8Array(length));
  }
}

function copied<A extends { set(from: A): void }>(from: A, to: A): A {
  to.set(from);
  return to;
}
