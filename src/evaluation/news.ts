/**
 * What blocks bring: the new executions of each test on a default branch, read from the lines that were inserted. What it
 * takes in memory depends on the tests and their failures, and hardly on how often they ran.
 */
import { z } from 'zod';
import { type Position, runKey, runKeyOf } from '../domain/execution.ts';
import { type FailureGroup, groupOf, mergeGroups } from '../domain/failure-group.ts';
import { runNameOf } from '../domain/judge-runs.ts';
import { flags, numbers, oneOf, texts } from '../domain/plain-array.ts';
import { STATUSES } from '../domain/status.ts';
import type { IdentitySummary } from '../domain/test-state.ts';
import { dayOf } from '../domain/time.ts';
import type { AddedRun } from '../postgres/judged-runs.ts';
import { ExecutionColumns } from './execution-columns.ts';
import { NewExecutions, type NewPasses } from './new-executions.ts';
import type { IdentifiedExecution } from './store.ts';

/** What the evaluation needs of a line. */
const lineSchema = z.object({
  repository_id: z.string(),
  on_default: z.boolean(),
  pipeline_name: z.string(),
  job_name: z.string(),
  run_id: z.string(),
  run_attempt: z.number(),
  commit_sha: z.string(),
  framework: z.string(),
  framework_version: z.string(),
  language: z.string(),
  e_execution_id: texts,
  e_test_id: texts,
  e_test_name: texts,
  e_status: oneOf(STATUSES),
  e_finished_ms: numbers,
  e_filepath: texts,
  e_function: texts,
  e_is_flaky: flags,
  e_is_retried: flags,
  f_index: numbers,
  f_attempt: numbers,
  f_failure_id: texts,
  f_exception_type: texts,
  f_exception_message: texts,
});
type Line = z.infer<typeof lineSchema>;

/** What is new about one identity. */
export interface NewsOfIdentity {
  readonly pipelineName: string;
  readonly jobName: string;
  /** Of the new executions alone, skipped ones included. */
  summary(): IdentitySummary;
  /** Adds to the list when they finished, in any order. */
  addTimes(times: number[]): void;
  /** Where those are in order that passed or failed; in any order. */
  positions(): Iterable<Position>;
  /** The new executions that passed or failed, which alone can change a judgement. */
  conclusive(): IdentifiedExecution[];
  /** The same of a test without trouble, without an object for each execution; undefined if all were skipped. */
  passes(): NewPasses | undefined;
  /** Whether one that passed or failed is on this commit. */
  isOn(commit: string): boolean;
}

/** What is new about one test. */
export interface TestNews {
  readonly name: string;
  readonly identities: readonly NewsOfIdentity[];
  /** By failure id. */
  readonly failures: ReadonlyMap<string, FailureGroup>;
  /** When the first conclusive execution finished, in milliseconds since the epoch; 2^53 − 1 if all were skipped. */
  readonly since: number;
  /** When the last one finished; 0 if all were skipped. */
  readonly until: number;
  /** Whether something failed, or passed only after failed attempts. */
  readonly hasTrouble: boolean;
}

/** What went wrong on a commit off the default branch. */
export interface NewPullCommit {
  /** When the newest failure finished; undefined if nothing failed. */
  failedAt: number | undefined;
  /** The tests that passed only after failed attempts. */
  retried: Set<string>;
}

interface TestEntry extends TestNews {
  identities: NewExecutions[];
  failures: Map<string, FailureGroup>;
  since: number;
  until: number;
  hasTrouble: boolean;
}

/** About what an entry takes in memory, in bytes, without texts. */
const EXECUTION_BYTES = 32;
const IDENTITY_BYTES = 400;
const TEST_BYTES = 500;
const FAILURE_GROUP_BYTES = 400;
const COMMIT_BYTES = 200;

export class News {
  /** By repository id, then by test id. */
  readonly repositories = new Map<string, Map<string, TestEntry>>();
  /** By repository id, then by `runNameOf`: what passed or failed in each run. */
  readonly runs = new Map<string, Map<string, AddedRun>>();
  /** By repository id, then by commit, on any branch: whether a test failed. Without those that are unknown. */
  readonly commits = new Map<string, Map<string, boolean>>();
  /** By repository id: when the newest execution on any branch finished, skipped ones included. */
  readonly newest = new Map<string, number>();
  /** By repository id, then by commit: what is new off the default branch. Without commits that are unknown. */
  readonly pulls = new Map<string, Map<string, NewPullCommit>>();
  /** About what it takes in memory. */
  bytes = 0;
  readonly #columns = new ExecutionColumns();
  /** Of each repository, pipeline and CI job: its identities, by test id. */
  readonly #places = new Map<string, Map<string, NewExecutions>>();

  /**
   * Adds what a block brings. Throws when the lines are not those of a block.
   *
   * @param lines as text, or as the values that parsing it gives
   */
  add(lines: string | readonly unknown[]): void {
    for (const line of readLines(lines)) {
      this.#addNewest(line);
      this.#addCommit(line);
      if (line.on_default) this.#addLine(line);
      else this.#addPull(line);
    }
  }

  #addNewest({ repository_id: repositoryId, e_finished_ms: times }: Line): void {
    let newest = this.newest.get(repositoryId) ?? 0;
    for (const time of times) if (time > newest) newest = time;
    if (newest > 0) this.newest.set(repositoryId, newest);
  }

  #addPull(line: Line): void {
    if (line.commit_sha === '') return;
    const commits = entryOf(this.pulls, line.repository_id, () => new Map<string, NewPullCommit>());
    const commit = entryOf(commits, line.commit_sha, () => ({ failedAt: undefined, retried: new Set<string>() }));
    for (const [i, status] of line.e_status.entries())
      if (status === 'failed') commit.failedAt = Math.max(at(line.e_finished_ms, i), commit.failedAt ?? 0);
      else if (status === 'passed' && at(line.e_is_flaky, i)) commit.retried.add(at(line.e_test_id, i));
  }

  #addCommit({ repository_id: repositoryId, commit_sha: commit, e_status: statuses }: Line): void {
    if (commit === '') return;
    const commits = entryOf(this.commits, repositoryId, () => new Map<string, boolean>());
    if (!commits.has(commit)) this.bytes += COMMIT_BYTES;
    commits.set(commit, (commits.get(commit) ?? false) || statuses.includes('failed'));
  }

  #addLine(line: Line): void {
    const tests = entryOf(this.repositories, line.repository_id, () => new Map<string, TestEntry>());
    const place = JSON.stringify([line.repository_id, line.pipeline_name, line.job_name]);
    const identities = entryOf(this.#places, place, () => new Map<string, NewExecutions>());
    this.#columns.beginLine({
      pipelineName: line.pipeline_name,
      jobName: line.job_name,
      runId: line.run_id,
      runAttempt: line.run_attempt,
      commit: line.commit_sha,
      framework: line.framework,
      frameworkVersion: line.framework_version,
      language: line.language,
    });
    let run: AddedRun | undefined;
    // Plain loops and lookups: this runs for every execution.
    for (let i = 0; i < line.e_test_id.length; i++) {
      const testId = at(line.e_test_id, i);
      let test = tests.get(testId);
      if (test === undefined) {
        test = this.#newTest(at(line.e_test_name, i));
        tests.set(testId, test);
      }
      let identity = identities.get(testId);
      if (identity === undefined) {
        identity = new NewExecutions(this.#columns, testId, line.pipeline_name, line.job_name);
        identities.set(testId, identity);
        test.identities.push(identity);
        this.bytes += IDENTITY_BYTES;
      }
      const execution = executionOf(line, i);
      identity.add(execution, at(line.e_filepath, i), at(line.e_function, i));
      if (execution.status === 'skipped') continue;
      run = this.#countRun(line, execution.finishedAt, run);
      test.since = Math.min(test.since, execution.finishedAt);
      test.until = Math.max(test.until, execution.finishedAt);
      test.hasTrouble ||= execution.status === 'failed' || execution.isFlakyWithinRun;
    }
    this.bytes += line.e_test_id.length * EXECUTION_BYTES;
    this.#addFailures(line, tests);
  }

  /** @param last the run of the execution before it: nearly always the same. */
  #countRun(line: Line, finishedAt: number, last: AddedRun | undefined): AddedRun {
    const day = dayOf(finishedAt);
    const run = last?.day === day ? last : this.#runOf(line, day, finishedAt);
    run.startedAt = Math.min(run.startedAt, finishedAt);
    run.executions++;
    return run;
  }

  #runOf(line: Line, day: number, startedAt: number): AddedRun {
    const place = { pipelineName: line.pipeline_name, jobName: line.job_name };
    const run = { runId: line.run_id, runAttempt: line.run_attempt, day };
    const runs = entryOf(this.runs, line.repository_id, () => new Map<string, AddedRun>());
    return entryOf(runs, runNameOf(placeOf(place), runKey(run)), () => ({
      ...place,
      ...run,
      commit: '',
      startedAt,
      executions: 0,
    }));
  }

  #newTest(name: string): TestEntry {
    this.bytes += TEST_BYTES + 2 * name.length;
    return { name, identities: [], failures: new Map(), since: Number.MAX_SAFE_INTEGER, until: 0, hasTrouble: false };
  }

  #addFailures(line: Line, tests: ReadonlyMap<string, TestEntry>): void {
    for (const [f, index] of line.f_index.entries()) {
      const test = tests.get(at(line.e_test_id, index));
      const failureId = at(line.f_failure_id, f);
      const known = test?.failures.get(failureId);
      const exceptionMessage = at(line.f_exception_message, f);
      const failure = {
        failedAt: at(line.e_finished_ms, index),
        executionId: BigInt(at(line.e_execution_id, index)),
        attempt: at(line.f_attempt, f),
        exceptionType: at(line.f_exception_type, f),
        exceptionMessage,
      };
      test?.failures.set(failureId, mergeGroups(known, groupOf(failure)));
      if (!known) this.bytes += FAILURE_GROUP_BYTES + 2 * exceptionMessage.length;
    }
  }
}

function* readLines(lines: string | readonly unknown[]): Generator<Line> {
  if (typeof lines !== 'string') for (const values of lines) yield lineSchema.parse(values);
  else for (const text of lines.split('\n')) if (text !== '') yield lineSchema.parse(JSON.parse(text));
}

/** The ids of the tests and runs that a block's lines name, on any branch. */
export function* namesIn(lines: string): Generator<string> {
  for (const line of readLines(lines)) {
    yield line.run_id;
    yield* line.e_test_id;
  }
}

const executionOf = (line: Line, i: number) => ({
  executionId: BigInt(at(line.e_execution_id, i)),
  status: at(line.e_status, i),
  finishedAt: at(line.e_finished_ms, i),
  isFlakyWithinRun: at(line.e_is_flaky, i),
  isRetried: at(line.e_is_retried, i),
});

const PLACES_MAX = 10_000;
/** By pipeline and CI job: the same few are named many times for each test, and putting one together takes longest. */
const places = new Map<string, Map<string, string>>();
let placeCount = 0;

/** Names a pipeline and CI job within a test. No name has a NUL. */
export const placeOf = ({ pipelineName, jobName }: { pipelineName: string; jobName: string }): string =>
  places.get(pipelineName)?.get(jobName) ?? newPlace(pipelineName, jobName);

function newPlace(pipelineName: string, jobName: string): string {
  if (placeCount >= PLACES_MAX) {
    places.clear();
    placeCount = 0;
  }
  const place = `${pipelineName}\0${jobName}`;
  entryOf(places, pipelineName, () => new Map<string, string>()).set(jobName, place);
  placeCount++;
  return place;
}

/** Names the run of an execution on the default branch. */
export const runNameOfExecution = (execution: IdentifiedExecution): string =>
  runNameOf(placeOf(execution), runKeyOf(execution));

/** The columns of a line have one length; one that is shorter is not a block's. */
function at<T>(column: readonly T[], i: number): T {
  const value = column[i];
  if (value === undefined) throw new RangeError('a line of the block has columns of different lengths');
  return value;
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** The new executions that passed or failed. */
export const conclusiveOf = ({ identities }: TestNews): IdentifiedExecution[] =>
  identities.flatMap((identity) => identity.conclusive());
