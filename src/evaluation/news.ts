/** What blocks bring: the new executions of each test on a default branch, read from the lines that were inserted. */
import { z } from 'zod';
import { STATUSES } from '../domain/status.ts';
import type { SummarisedExecution } from '../domain/test-state.ts';
import type { IdentifiedExecution } from './store.ts';

const texts = z.array(z.string());
const numbers = z.array(z.number());
const flags = z.array(z.boolean());

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
  e_status: z.array(z.enum(STATUSES)),
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

export type NewExecution = IdentifiedExecution & SummarisedExecution;

/** One failed attempt. */
interface NewFailure {
  failureId: string;
  /** Milliseconds since the epoch. */
  failedAt: number;
  executionId: bigint;
  attempt: number;
  exceptionType: string;
  exceptionMessage: string;
}

interface NewIdentity {
  pipelineName: string;
  jobName: string;
  executions: NewExecution[];
}

/** What is new about one test. */
export interface TestNews {
  name: string;
  /** By pipeline and CI job. */
  identities: Map<string, NewIdentity>;
  failures: NewFailure[];
}

/** By repository id, then by test id. */
export type News = Map<string, Map<string, TestNews>>;

/** Adds what a block brings. Throws when the lines are not those of a block. */
export function addNews(news: News, lines: string): void {
  for (const text of lines.split('\n')) {
    if (text === '') continue;
    const line = lineSchema.parse(JSON.parse(text));
    if (line.on_default) addLine(news, line);
  }
}

/** The ids of the tests and runs that a block's lines name, on any branch. */
export function* namesIn(lines: string): Generator<string> {
  for (const text of lines.split('\n')) {
    if (text === '') continue;
    const line = lineSchema.parse(JSON.parse(text));
    yield line.run_id;
    yield* line.e_test_id;
  }
}

function addLine(news: News, line: Line): void {
  const tests = entryOf(news, line.repository_id, () => new Map<string, TestNews>());
  const place = placeOf({ pipelineName: line.pipeline_name, jobName: line.job_name });
  for (const [i, testId] of line.e_test_id.entries()) {
    const name = at(line.e_test_name, i);
    const test = entryOf(tests, testId, () => ({ name, identities: new Map(), failures: [] }));
    entryOf(test.identities, place, () => ({
      pipelineName: line.pipeline_name,
      jobName: line.job_name,
      executions: [],
    })).executions.push(executionOf(line, i, testId));
  }
  for (const [f, index] of line.f_index.entries())
    tests.get(at(line.e_test_id, index))?.failures.push({
      failureId: at(line.f_failure_id, f),
      failedAt: at(line.e_finished_ms, index),
      executionId: BigInt(at(line.e_execution_id, index)),
      attempt: at(line.f_attempt, f),
      exceptionType: at(line.f_exception_type, f),
      exceptionMessage: at(line.f_exception_message, f),
    });
}

const executionOf = (line: Line, i: number, testId: string): NewExecution => ({
  testId,
  pipelineName: line.pipeline_name,
  jobName: line.job_name,
  executionId: BigInt(at(line.e_execution_id, i)),
  status: at(line.e_status, i),
  finishedAt: at(line.e_finished_ms, i),
  runId: line.run_id,
  runAttempt: line.run_attempt,
  commit: line.commit_sha,
  isFlakyWithinRun: at(line.e_is_flaky, i),
  isRetried: at(line.e_is_retried, i),
  framework: line.framework,
  frameworkVersion: line.framework_version,
  language: line.language,
  filepath: at(line.e_filepath, i),
  function: at(line.e_function, i),
});

/** Names a pipeline and CI job within a test. */
export const placeOf = ({ pipelineName, jobName }: { pipelineName: string; jobName: string }): string =>
  JSON.stringify([pipelineName, jobName]);

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

/** The non-skipped executions, which alone can change a judgement. */
export const conclusiveOf = ({ identities }: TestNews): NewExecution[] =>
  [...identities.values()].flatMap(({ executions }) => executions.filter(({ status }) => status !== 'skipped'));

/** A test to judge. */
export interface TouchedTest {
  /** The earliest conclusive execution; milliseconds since the epoch. */
  since: number;
  /** Of the conclusive executions. */
  commits: string[];
  /** What to count; undefined if there is nothing that was not counted before. */
  news: TestNews | undefined;
  /** Whether some of it was counted before, by an evaluation that was cut off. */
  isAgain: boolean;
}
