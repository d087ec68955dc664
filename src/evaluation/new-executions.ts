/** The new executions of one identity: a chain in the columns of the pass. */
import type { Position } from '../domain/execution.ts';
import { type IdentitySummary, SummaryCounts } from '../domain/test-state.ts';
import { type ExecutionColumns, type ExecutionFacts, NONE } from './execution-columns.ts';
import type { NewsOfIdentity } from './news.ts';
import type { IdentifiedExecution } from './store.ts';

/** Executions of which only their number, the first and the last matter. */
export interface NewPasses {
  count: number;
  first: Position;
  last: Position;
  /** Of the last. */
  commit: string;
}

export class NewExecutions implements NewsOfIdentity {
  /** The executions, the last that was added first. */
  #chain = NONE;
  #newest = NONE;
  // Of the newest execution.
  #filepath = '';
  #function = '';

  constructor(
    private readonly columns: ExecutionColumns,
    private readonly testId: string,
    readonly pipelineName: string,
    readonly jobName: string,
  ) {}

  /** Of the line that was begun last. */
  add(execution: ExecutionFacts, filepath: string, fn: string): void {
    this.#chain = this.columns.add(execution, this.#chain);
    if (this.#newest !== NONE && !this.#isLater(execution)) return;
    this.#newest = this.#chain;
    this.#filepath = filepath;
    this.#function = fn;
  }

  #isLater({ finishedAt, executionId }: ExecutionFacts): boolean {
    const newestAt = this.columns.finishedAt(this.#newest);
    return finishedAt > newestAt || (finishedAt === newestAt && executionId > this.columns.executionId(this.#newest));
  }

  summary(): IdentitySummary {
    const { columns } = this;
    const counts = new SummaryCounts();
    for (let i = this.#chain; i !== NONE; i = columns.after(i)) counts.add(columns.status(i), columns.finishedAt(i));
    return counts.summary(this.#newestExecution());
  }

  #newestExecution(): IdentitySummary['newest'] {
    if (this.#newest === NONE) return null;
    const { framework, frameworkVersion, language } = this.columns.shared(this.#newest);
    return {
      executionId: this.columns.executionId(this.#newest),
      status: this.columns.status(this.#newest),
      finishedAt: this.columns.finishedAt(this.#newest),
      framework,
      frameworkVersion,
      language,
      filepath: this.#filepath,
      function: this.#function,
    };
  }

  addTimes(times: number[]): void {
    for (let i = this.#chain; i !== NONE; i = this.columns.after(i)) times.push(this.columns.finishedAt(i));
  }

  *positions(): Generator<Position> {
    const { columns } = this;
    for (let i = this.#chain; i !== NONE; i = columns.after(i))
      if (columns.status(i) !== 'skipped') yield columns.position(i);
  }

  passes(): NewPasses | undefined {
    const { columns } = this;
    let [count, first, last] = [0, NONE, NONE];
    for (let i = this.#chain; i !== NONE; i = columns.after(i)) {
      if (columns.status(i) === 'skipped') continue;
      count++;
      if (first === NONE || columns.compare(i, first) < 0) first = i;
      if (last === NONE || columns.compare(i, last) > 0) last = i;
    }
    if (count === 0) return undefined;
    const { commit } = columns.shared(last);
    return { count, first: columns.position(first), last: columns.position(last), commit };
  }

  isOn(commit: string): boolean {
    const { columns } = this;
    for (let i = this.#chain; i !== NONE; i = columns.after(i))
      if (columns.status(i) !== 'skipped' && columns.shared(i).commit === commit) return true;
    return false;
  }

  conclusive(): IdentifiedExecution[] {
    const { columns, testId, pipelineName, jobName } = this;
    const executions: IdentifiedExecution[] = [];
    for (let i = this.#chain; i !== NONE; i = columns.after(i)) {
      const status = columns.status(i);
      if (status === 'skipped') continue;
      const { runId, runAttempt, commit } = columns.shared(i);
      executions.push({
        testId,
        pipelineName,
        jobName,
        executionId: columns.executionId(i),
        status,
        finishedAt: columns.finishedAt(i),
        runId,
        runAttempt,
        commit,
        isFlakyWithinRun: columns.isFlakyWithinRun(i),
        isRetried: columns.isRetried(i),
      });
    }
    return executions.reverse();
  }
}
