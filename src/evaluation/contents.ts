/**
 * The contents of parts of blocks: the executions of a repository on its default branch by identity, run and failure group,
 * and which commits are concerned. Lines are kept as they were parsed, and executions are made of them only where a
 * judgement looks at each.
 */
import { z } from 'zod';
import { runKey } from '../domain/execution.ts';
import { type FailureGroup, groupOf, mergeGroups } from '../domain/failure-group.ts';
import { IdentityTally } from '../domain/identity-tally.ts';
import { runNameOf } from '../domain/judge-runs.ts';
import { flags, numbers, oneOf, texts } from '../domain/plain-array.ts';
import { NOTHING_REPORTED } from '../domain/report-source.ts';
import { STATUSES } from '../domain/status.ts';
import { type Identity, identityKey, identityOf, type Leg, legKey } from '../domain/test-identity.ts';
import { isLater, type SummarisedExecution } from '../domain/test-state.ts';
import { dayOf } from '../domain/time.ts';
import type { IdentityCounts } from '../postgres/identities.ts';
import type { AddedRun } from '../postgres/judged-runs.ts';
import type { PullRan } from '../postgres/pull-comments.ts';
import type { FirstFailure } from '../postgres/tests.ts';
import type { IdentifiedExecution } from './executions.ts';

/** The columns of a line that the evaluation needs. */
const lineSchema = z.object({
  on_default: z.boolean(),
  pipeline_name: z.string(),
  job_name: z.string(),
  axes: z.string(),
  run_id: z.string(),
  run_attempt: z.number(),
  commit_sha: z.string(),
  pull_request: z.number().nullish(),
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
  e_failures: numbers,
  f_index: numbers,
  f_attempt: numbers,
  f_failure_id: texts,
  f_exception_type: texts,
  f_exception_message: texts,
});
type Line = z.infer<typeof lineSchema>;

/** Failures and retries on a commit off the default branch. */
export interface PullCommit {
  /** When the newest failure finished, in milliseconds since the epoch; undefined if nothing failed. */
  failedAt: number | undefined;
  /** The tests that passed only after failed attempts. */
  retried: Set<string>;
}

/** The failures on a commit of the default branch. */
export interface FailuresOnDefault {
  /** When the newest finished, in milliseconds since the epoch. */
  failedAt: number;
  testIds: Set<string>;
}

/** The contents of some parts, of one repository. */
export class Contents {
  /** By `identityKey`. */
  readonly identities = new Map<string, IdentityContents>();
  /** By the name of the run: what passed or failed in each. */
  readonly runs = new Map<string, AddedRun>();
  /** By test id: the first execution of which an attempt failed. */
  readonly firstFailures = new Map<string, FirstFailure>();
  /** By test id, then by failure id. Failed attempts of an execution that passed in the end count, too. */
  readonly groups = new Map<string, Map<string, FailureGroup>>();
  /** By commit, on any branch: whether a test failed. Without those that are unknown. */
  readonly commits = new Map<string, boolean>();
  /** By commit, off the default branch. Without those that are unknown. */
  readonly pulls = new Map<string, PullCommit>();
  /** By the number of a pull request: the commit on which something ran last. */
  readonly pullsRan = new Map<number, PullRan>();
  /** By commit, off the default branch, of jobs that know no pull request: when something ran on it last. */
  readonly commitsRan = new Map<string, number>();
  /** By commit, on the default branch, if something failed on it. Without those that are unknown. */
  readonly failedOnDefault = new Map<string, FailuresOnDefault>();
  /** When the newest execution on any branch finished, skipped ones included; milliseconds since the epoch. */
  newestAt = 0;
  /** The same by what has sent them. */
  readonly reportedAt = { ...NOTHING_REPORTED };
  /** On any branch. */
  readonly executionIds: string[] = [];
  /** Ids of the tests and runs, on any branch. */
  readonly names = new Set<string>();
  /** On any branch. */
  readonly testIds = new Set<string>();
  /** By leg, then by test id. */
  readonly #byLeg = new Map<string, Map<string, IdentityContents>>();

  /** @param renamed by test id: the names of tests whose executions may have others */
  constructor(private readonly renamed: ReadonlyMap<string, string> = new Map()) {}

  /** Adds the lines of a part. Throws when they are not those of a block. */
  add(lines: string): void {
    for (const text of lines.split('\n')) if (text !== '') this.#addLine(lineSchema.parse(JSON.parse(text)));
  }

  /** By test id: the file that the newest of these executions reports; empty when unknown. */
  files(): Map<string, string> {
    const newest = new Map<string, SummarisedExecution>();
    for (const identity of this.identities.values()) {
      const found = identity.newestExecution();
      const known = newest.get(identity.testId);
      if (known === undefined || isLater(found, known)) newest.set(identity.testId, found);
    }
    return new Map([...newest].map(([testId, { filepath }]) => [testId, filepath]));
  }

  #addLine(line: Line): void {
    let ranAt = 0;
    for (const time of line.e_finished_ms) if (time > ranAt) ranAt = time;
    if (ranAt > this.newestAt) this.newestAt = ranAt;
    const source = line.on_default ? 'default_branch' : line.pull_request ? 'pull_request' : 'other_branch';
    this.reportedAt[source] = Math.max(ranAt, this.reportedAt[source]);
    const { commit_sha: commit } = line;
    if (commit !== '')
      this.commits.set(commit, (this.commits.get(commit) ?? false) || line.e_status.includes('failed'));
    for (const id of line.e_execution_id) this.executionIds.push(id);
    this.names.add(line.run_id);
    for (const id of line.e_test_id) {
      this.names.add(id);
      this.testIds.add(id);
    }
    if (line.on_default) {
      if (commit !== '') this.#addFailuresOnDefault(line);
      this.#addExecutions(line);
    } else if (commit !== '') {
      this.#addPull(line);
      this.#addPullRan(line, ranAt);
    }
  }

  #addFailuresOnDefault(line: Line): void {
    for (const [i, status] of line.e_status.entries()) {
      if (status !== 'failed') continue;
      const commit = entryOf(this.failedOnDefault, line.commit_sha, () => ({
        failedAt: 0,
        testIds: new Set<string>(),
      }));
      commit.failedAt = Math.max(at(line.e_finished_ms, i), commit.failedAt);
      commit.testIds.add(at(line.e_test_id, i));
    }
  }

  #addPull(line: Line): void {
    const commit = entryOf(this.pulls, line.commit_sha, () => ({ failedAt: undefined, retried: new Set<string>() }));
    for (const [i, status] of line.e_status.entries())
      if (status === 'failed') commit.failedAt = Math.max(at(line.e_finished_ms, i), commit.failedAt ?? 0);
      else if (status === 'passed' && at(line.e_is_flaky, i)) commit.retried.add(at(line.e_test_id, i));
  }

  #addPullRan({ pull_request: number, commit_sha: commit }: Line, ranAt: number): void {
    if (!number) this.commitsRan.set(commit, Math.max(ranAt, this.commitsRan.get(commit) ?? 0));
    else if (ranAt > (this.pullsRan.get(number)?.ranAt ?? 0)) this.pullsRan.set(number, { number, commit, ranAt });
  }

  /** Plain loops and lookups: this runs for every execution. */
  #addExecutions(line: Line): void {
    const leg = legOfLine(line);
    const byTest = entryOf(this.#byLeg, legKey(leg), () => new Map<string, IdentityContents>());
    let run: AddedRun | undefined;
    for (let i = 0; i < line.e_test_id.length; i++) {
      const testId = at(line.e_test_id, i);
      let identity = byTest.get(testId);
      if (identity === undefined) {
        identity = new IdentityContents(testId, this.renamed.get(testId) ?? at(line.e_test_name, i), leg);
        byTest.set(testId, identity);
        this.identities.set(identityKey(identity), identity);
      }
      identity.add(line, i);
      if (at(line.e_status, i) === 'skipped') continue;
      const finishedAt = at(line.e_finished_ms, i);
      const day = dayOf(finishedAt);
      if (run?.day !== day) run = this.#runOf(line, day, finishedAt);
      if (finishedAt < run.startedAt) run.startedAt = finishedAt;
      run.executions++;
    }
    this.#addFailures(line);
  }

  #runOf(line: Line, day: number, startedAt: number): AddedRun {
    const leg = legOfLine(line);
    const run = { runId: line.run_id, runAttempt: line.run_attempt, day };
    return entryOf(this.runs, runNameOf(legKey(leg), runKey(run)), () => ({
      ...leg,
      ...run,
      commit: '',
      startedAt,
      executions: 0,
    }));
  }

  #addFailures(line: Line): void {
    for (let i = 0; i < line.e_status.length; i++) {
      if (at(line.e_status, i) !== 'failed' && at(line.e_failures, i) === 0) continue;
      const first = {
        failedAt: at(line.e_finished_ms, i),
        executionId: BigInt(at(line.e_execution_id, i)),
        commit: line.commit_sha,
      };
      const testId = at(line.e_test_id, i);
      const known = this.firstFailures.get(testId);
      if (known === undefined || isEarlier(first, known)) this.firstFailures.set(testId, first);
    }
    for (const [f, index] of line.f_index.entries()) {
      const groups = entryOf(this.groups, at(line.e_test_id, index), () => new Map<string, FailureGroup>());
      const failureId = at(line.f_failure_id, f);
      const failure = {
        failedAt: at(line.e_finished_ms, index),
        executionId: BigInt(at(line.e_execution_id, index)),
        attempt: at(line.f_attempt, f),
        exceptionType: at(line.f_exception_type, f),
        exceptionMessage: at(line.f_exception_message, f),
      };
      groups.set(failureId, mergeGroups(groups.get(failureId), groupOf(failure)));
    }
  }
}

const legOfLine = (line: Line): Leg => ({
  pipelineName: line.pipeline_name,
  jobName: line.job_name,
  axes: line.axes,
});

const isEarlier = (one: FirstFailure, other: FirstFailure): boolean =>
  one.failedAt < other.failedAt || (one.failedAt === other.failedAt && one.executionId < other.executionId);

/** The part of the contents that belongs to one identity. */
export class IdentityContents implements Identity {
  readonly pipelineName: string;
  readonly jobName: string;
  readonly axes: string;
  readonly #tally = new IdentityTally();
  readonly #lines: Line[] = [];
  readonly #rows: number[] = [];
  #newest = 0;

  constructor(
    readonly testId: string,
    readonly testName: string,
    { pipelineName, jobName, axes }: Leg,
  ) {
    this.pipelineName = pipelineName;
    this.jobName = jobName;
    this.axes = axes;
  }

  /** Whether something failed, or passed only after failed attempts. */
  get hasTrouble(): boolean {
    return this.#tally.hasTrouble;
  }

  add(line: Line, row: number): void {
    const i = this.#lines.push(line) - 1;
    this.#rows.push(row);
    this.#tally.add(executionAt(line, row));
    if (i > 0 && this.#isLater(i, this.#newest)) this.#newest = i;
  }

  #isLater(one: number, other: number): boolean {
    const [a, b] = [this.#place(one), this.#place(other)];
    return a.finishedAt > b.finishedAt || (a.finishedAt === b.finishedAt && BigInt(a.id) > BigInt(b.id));
  }

  #place(i: number): { finishedAt: number; id: string } {
    const [line, row] = [at(this.#lines, i), at(this.#rows, i)];
    return { finishedAt: at(line.e_finished_ms, row), id: at(line.e_execution_id, row) };
  }

  /** Passed and failed executions, in the order in which they were added. */
  conclusive(): IdentifiedExecution[] {
    const identity = identityOf(this);
    return this.#lines.flatMap((line, i) => {
      const execution = executionAt(line, at(this.#rows, i));
      return execution.status === 'skipped' ? [] : [{ ...identity, ...execution }];
    });
  }

  counts(): IdentityCounts {
    return { ...identityOf(this), testName: this.testName, ...this.#tally.totals(), newest: this.newestExecution() };
  }

  newestExecution(): SummarisedExecution {
    const [line, row] = [at(this.#lines, this.#newest), at(this.#rows, this.#newest)];
    const { executionId, status, finishedAt } = executionAt(line, row);
    return {
      ...{ executionId, status, finishedAt },
      framework: line.framework,
      frameworkVersion: line.framework_version,
      language: line.language,
      filepath: at(line.e_filepath, row),
      function: at(line.e_function, row),
    };
  }
}

const executionAt = (line: Line, row: number) => ({
  executionId: BigInt(at(line.e_execution_id, row)),
  status: at(line.e_status, row),
  finishedAt: at(line.e_finished_ms, row),
  runId: line.run_id,
  runAttempt: line.run_attempt,
  commit: line.commit_sha,
  isFlakyWithinRun: at(line.e_is_flaky, row),
  isRetried: at(line.e_is_retried, row),
  hasFailures: at(line.e_failures, row) > 0,
});

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
