/** One execution of a test as lists and its own address show it. */
import { z } from 'zod';
import { attachmentsOf } from '../domain/attachments.ts';
import { axesOf } from '../domain/axes.ts';
import { failingLine } from '../domain/failing-line.ts';
import { formatMoment } from '../domain/moment.ts';
import { STATUSES } from '../domain/status.ts';
import type { PullRequest } from '../postgres/pull-requests.ts';
import * as common from './common.ts';
import { pullSummary } from './pull-summary.ts';
import { runIdOf } from './run-id.ts';

export const executionRow = z.object({
  execution: z.string(),
  finished_ms: z.int(),
  ended: z.enum(STATUSES),
  is_flaky: z.boolean(),
  is_retried: z.boolean(),
  duration_s: z.number(),
  pipeline: z.string(),
  job: z.string(),
  leg: z.string(),
  machine: z.string(),
  run_id: z.string(),
  run_attempt: z.int(),
  commit_sha: z.string(),
  branch: z.string(),
  base_ref: z.string(),
  pull_request: z.int(),
  job_url: z.string(),
  filepath: z.string(),
  failures: z.int(),
});
export type ExecutionRow = z.infer<typeof executionRow>;

export const attemptRow = z.object({
  execution: z.string(),
  attempt: z.int(),
  failure: z.string(),
  type: z.string(),
  message: z.string(),
  stack: z.string(),
  links: z.string(),
});
export type AttemptRow = z.infer<typeof attemptRow>;

const nullableText = (example: string) => z.string().nullable().meta({ example });

const fields = {
  execution_id: z.string().meta({ example: '1234567890123456789' }),
  status: z.enum(STATUSES).meta({ example: 'failed' }),
  is_flaky: z.boolean().meta({
    description: 'Whether it passed only after a failed attempt, or the same code passed, too',
    example: false,
  }),
  finished_at: common.dateTimeOut,
  duration_seconds: z.number().meta({ example: 0.42 }),
  pipeline_name: common.pipelineNameOut,
  job_name: common.jobNameOut,
  axes: common.axesOut,
  place: common.axesOut.meta({ description: 'Which machine: its runner, shard and region' }),
  run: nullableText('WyJDSSIsIjEwMDEiLCIxMTExIl0').meta({
    description: 'The id under which `…/runs/{id}` has its run',
  }),
  run_id: nullableText('1001'),
  run_attempt: z.int().meta({ description: "The provider's attempt of the run, from 1", example: 1 }),
  commit_sha: nullableText('1111111111111111111111111111111111111111'),
  branch: nullableText('feature/rounding'),
  pull_request: z.int().nullable().meta({ description: 'For which it ran', example: 7 }),
  author: nullableText('octocat').meta({
    description: 'Of the pull request for which it ran, or that was merged as its commit; null if the host did not say',
  }),
  job_url: nullableText('https://ci.example.com/runs/1001'),
};

const failure = {
  failure_id: z.guid().meta({ example: '1c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12' }),
  attempt: z.int().meta({ description: 'Which try within the execution, from 1', example: 1 }),
  exception_type: z.string().meta({ example: 'AssertionError' }),
  exception_message: z.string().meta({ example: 'expected 3 to equal 4' }),
};

export const listedExecution = z
  .object({
    ...fields,
    failed_attempts: z.int().meta({ description: 'Attempts within the execution that failed', example: 1 }),
    failure: z.object(failure).nullable().meta({ description: 'Its last failed attempt; null if none failed' }),
  })
  .meta({ id: 'TestExecution' });

export const wholeExecution = z
  .object({
    ...fields,
    test_id: common.testIdOut,
    test_filepath: nullableText('src/cart.test.ts'),
    failures: z
      .array(
        z.object({
          ...failure,
          exception_stacktrace: nullableText('AssertionError: expected 3 to equal 4\n    at cart.test.ts:12:5'),
          line: z
            .int()
            .nullable()
            .meta({ description: 'The line of `test_filepath` that the stack names first', example: 12 }),
          attachments: common.attachmentsOut,
        }),
      )
      .meta({ description: 'Its failed attempts, in order' }),
  })
  .meta({ id: 'TestExecutionDetails' });

/** Pull requests by number, and by the commit that they were merged as. */
export interface KnownPulls {
  byNumber: ReadonlyMap<number, PullRequest>;
  byCommit: ReadonlyMap<string, PullRequest>;
}

const executionJson = (row: ExecutionRow, { byNumber, byCommit }: KnownPulls) => {
  const pull = row.pull_request === 0 ? byCommit.get(row.commit_sha) : byNumber.get(row.pull_request);
  const run = { pipelineName: row.pipeline, runId: row.run_id, commit: row.commit_sha };
  return {
    execution_id: row.execution,
    status: row.ended,
    is_flaky: row.is_flaky,
    finished_at: formatMoment(row.finished_ms),
    duration_seconds: row.duration_s,
    pipeline_name: row.pipeline,
    job_name: row.job,
    axes: axesOf(row.leg),
    place: axesOf(row.machine),
    run: row.run_id === '' ? null : runIdOf(run),
    run_id: row.run_id || null,
    run_attempt: row.run_attempt,
    commit_sha: row.commit_sha || null,
    branch: row.branch || null,
    pull_request: row.pull_request || null,
    author: pull ? pullSummary(pull).user.login : null,
    job_url: row.job_url || null,
  };
};

const failureJson = ({ failure, attempt, type, message }: AttemptRow) => ({
  failure_id: failure,
  attempt,
  exception_type: type,
  exception_message: message,
});

/** @param attempts the failed ones of the execution, in order */
export const listedJson = (row: ExecutionRow, attempts: readonly AttemptRow[], pulls: KnownPulls) => {
  const last = attempts.at(-1);
  return { ...executionJson(row, pulls), failed_attempts: row.failures, failure: last ? failureJson(last) : null };
};

export const wholeJson = (testId: string, row: ExecutionRow, attempts: readonly AttemptRow[], pulls: KnownPulls) => ({
  ...executionJson(row, pulls),
  test_id: testId,
  test_filepath: row.filepath || null,
  failures: attempts.map((one) => ({
    ...failureJson(one),
    exception_stacktrace: one.stack || null,
    line: failingLine(one.stack, row.filepath),
    attachments: attachmentsOf(one.links),
  })),
});
