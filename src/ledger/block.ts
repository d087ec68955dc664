/** A block: the exact lines that are inserted into `ci.ingest`, and what the evaluation has to judge afterwards. */
import { z } from 'zod';
import { executionColumns, failureColumns, runColumns } from '../domain/columns.ts';
import type { PreparedChunk, PreparedExecution, PreparedFailure } from './prepare.ts';

/** What the evaluation needs of a line, read back from a block whose process died before it was evaluated. */
const lineSchema = z.object({
  repository_id: z.string(),
  on_default: z.boolean(),
  commit_sha: z.string(),
  run_id: z.string(),
  e_test_id: z.array(z.string()),
  e_status: z.array(z.string()),
  e_finished_ms: z.array(z.number()),
});

/** What is new about one test on the default branch: from when on, and on which commits. */
export interface TouchedTest {
  /** The earliest new execution; milliseconds since the epoch. */
  since: number;
  commits: string[];
}
/** By repository id, then by test id. */
export type Touched = Map<string, Map<string, TouchedTest>>;

/** The new executions of a chunk as one line of JSONEachRow. A test compares its columns with those of `ci.ingest`. */
export function lineOf(chunk: PreparedChunk, executions: readonly PreparedExecution[]): string {
  const failures: PreparedFailure[] = [];
  const failedExecution: number[] = [];
  for (const [index, execution] of executions.entries())
    for (const failure of execution.failures) {
      failures.push(failure);
      failedExecution.push(index);
    }
  const { origin, columns } = chunk;
  return JSON.stringify({
    repository_id: chunk.repositoryId,
    on_default: chunk.isOnDefaultBranch,
    ...runColumns.line(chunk.run),
    branch: origin.branch,
    base_ref: origin.baseRef,
    pull_request: origin.pullRequest,
    received_ms: chunk.receivedAt,
    // As text: a number is not exact above 2^53.
    e_execution_id: executions.map(({ id }) => id.toString()),
    e_test_id: executions.map(({ testId }) => testId),
    e_finished_ms: executions.map(({ finishedAt }) => finishedAt),
    e_is_time_replaced: executions.map(({ isTimeReplaced }) => isTimeReplaced),
    e_failures: executions.map((execution) => execution.failures.length),
    ...executionColumns.lines(
      columns.executions,
      executions.map(({ row }) => row),
    ),
    f_index: failedExecution,
    f_failure_id: failures.map(({ failureId }) => failureId),
    ...failureColumns.lines(
      columns.failures,
      failures.map(({ row }) => row),
    ),
  });
}

/** What a block's lines touch on default branches. Skipped executions prove nothing and are left out. */
export function touchedBy(lines: string): Touched {
  const touched: Touched = new Map();
  for (const text of lines.split('\n')) {
    if (text === '') continue;
    const line = lineSchema.parse(JSON.parse(text));
    if (!line.on_default) continue;
    for (const [i, testId] of line.e_test_id.entries()) {
      const finishedAt = line.e_finished_ms[i];
      if (finishedAt !== undefined && line.e_status[i] !== 'skipped')
        touch(touched, line.repository_id, testId, finishedAt, line.commit_sha);
    }
  }
  return touched;
}

/** The ids of the tests and runs that a block's lines name. */
export function* namesIn(lines: string): Generator<string> {
  for (const text of lines.split('\n')) {
    if (text === '') continue;
    const line = lineSchema.parse(JSON.parse(text));
    yield line.run_id;
    yield* line.e_test_id;
  }
}

export function touch(
  touched: Touched,
  repositoryId: string,
  testId: string,
  finishedAt: number,
  commit: string,
): void {
  let tests = touched.get(repositoryId);
  if (tests === undefined) {
    tests = new Map();
    touched.set(repositoryId, tests);
  }
  const test = tests.get(testId);
  if (test === undefined) tests.set(testId, { since: finishedAt, commits: [commit] });
  else {
    if (finishedAt < test.since) test.since = finishedAt;
    // An array, because a block has thousands of tests and each has few commits: a set would be larger and slower.
    if (!test.commits.includes(commit)) test.commits.push(commit);
  }
}

/** Adds what `from` touches to `into`, which takes over its maps and arrays. */
export function mergeTouched(into: Touched, from: Touched): void {
  for (const [repositoryId, tests] of from) {
    const known = into.get(repositoryId);
    if (known === undefined) into.set(repositoryId, tests);
    else for (const [testId, test] of tests) mergeTest(known, testId, test);
  }
}

function mergeTest(tests: Map<string, TouchedTest>, testId: string, { since, commits }: TouchedTest): void {
  const known = tests.get(testId);
  if (known === undefined) tests.set(testId, { since, commits });
  else {
    known.since = Math.min(known.since, since);
    for (const commit of commits) if (!known.commits.includes(commit)) known.commits.push(commit);
  }
}
