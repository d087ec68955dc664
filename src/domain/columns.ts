/**
 * The columns of an execution, of its failures and of its run, each declared once. The declaration determines the type of a
 * parsed row, its place in the `test-runs` job, how long texts are cut on both sides of the queue, and the column of
 * `ci.ingest`.
 *
 * A column that is added later must be optional in the job (`texts.optional()`), because older producers do not send it.
 */
import { z } from 'zod';
import { attachmentSchema } from './attachments.ts';
import { axesSchema } from './axes.ts';
import { ColumnSet, type RowOf } from './column-set.ts';
import { DETAIL_BYTES_MAX, MESSAGE_BYTES_MAX, STACKTRACE_BYTES_MAX, UINT32_MAX, webAddressOf } from './limits.ts';
import { flags, numbersFrom, oneOf, optionalNumbers, optionalTexts, texts, wholeNumbers } from './plain-array.ts';
import { STATUSES } from './status.ts';
import { cutText } from './text.ts';

/** Paths, exception types and the like are shown and grouped by, so they are cut rather than refused. */
const detail = (text: string): string => cutText(text, DETAIL_BYTES_MAX);

/** One value for each execution. */
export const executionColumns = new ColumnSet({
  /** Names the execution within its source: a span id, or suite path, name and ordinal. */
  key: { job: 'key', schema: texts },
  name: { job: 'name', schema: texts, line: 'e_test_name' },
  status: { job: 'status', schema: oneOf(STATUSES), line: 'e_status' },
  durationSeconds: { job: 'duration_s', schema: numbersFrom(0), line: 'e_duration_s' },
  /** Milliseconds since the epoch; null when the source does not say: then the time of receipt counts. */
  finishedAtMs: { job: 'finished_at_ms', schema: optionalNumbers },
  filepath: { job: 'filepath', schema: optionalTexts, line: 'e_filepath', clean: detail, empty: '' },
  function: { job: 'function', schema: optionalTexts, line: 'e_function', clean: detail, empty: '' },
  /** Flagged flaky by its source, or passed after failed attempts within the run. */
  isFlaky: { job: 'is_flaky', schema: flags, line: 'e_is_flaky' },
  isQuarantined: { job: 'is_quarantined', schema: flags, line: 'e_is_quarantined' },
  isRetried: { job: 'is_retried', schema: flags, line: 'e_is_retried' },
  /** By what a framework knows the test again under another name, such as `historyId` of Allure; only a hash is stored. */
  historyId: { job: 'history_id', schema: optionalTexts.optional(), line: 'e_history_id', clean: detail, empty: '' },
});
export type ExecutionRow = RowOf<(typeof executionColumns)['columns']>;

/** One value for each failed attempt. `empty` replaces what a failure does not report. */
export const failureColumns = new ColumnSet({
  /** 1 for the first failed attempt within the execution. */
  attempt: { job: 'attempt', schema: wholeNumbers(1, 65_535), line: 'f_attempt', empty: 1 },
  type: { job: 'type', schema: optionalTexts, line: 'f_exception_type', clean: detail, empty: 'unknown' },
  message: {
    job: 'message',
    schema: optionalTexts,
    line: 'f_exception_message',
    clean: (text) => cutText(text, MESSAGE_BYTES_MAX),
    empty: '(none reported)',
  },
  stacktrace: {
    job: 'stacktrace',
    schema: optionalTexts,
    line: 'f_stacktrace',
    clean: (text) => cutText(text, STACKTRACE_BYTES_MAX),
    empty: '',
  },
  /** Links, at most eight for all failures of an execution; stored as text (attachments.ts). */
  attachments: { job: 'attachments', schema: z.array(z.array(attachmentSchema).nullable()).optional() },
});
export type FailureRow = RowOf<(typeof failureColumns)['columns']>;

const text = z.string();
const optionalText = z.string().nullable().default(null);

/** Columns that every execution of a chunk shares. Empty strings count as absent. */
export const runColumns = new ColumnSet({
  pipeline_name: {
    job: 'pipeline_name',
    schema: text.describe('Name of the pipeline (workflow)'),
    line: 'pipeline_name',
  },
  job_name: { job: 'job_name', schema: text.describe('Name of the job within the pipeline'), line: 'job_name' },
  axes: {
    job: 'axes',
    schema: axesSchema
      .optional()
      .describe('What is different in this leg of the job, such as {"os": "windows"}: part of an identity'),
  },
  place: {
    job: 'place',
    schema: axesSchema.optional().describe('Which machine ran it (shard, runner, region): shown, part of no identity'),
  },
  run_id: { job: 'run_id', schema: text.describe("The CI provider's id of this run of the pipeline"), line: 'run_id' },
  run_attempt: { job: 'run_attempt', schema: z.int().min(1).max(UINT32_MAX).default(1), line: 'run_attempt' },
  commit: { job: 'commit', schema: optionalText, line: 'commit_sha', empty: '' },
  branch: { job: 'branch', schema: optionalText.describe('Branch that the run is of (head ref), without refs/heads/') },
  base_ref: {
    job: 'base_ref',
    schema: optionalText.describe('Set when the run is for a pull request: the branch it targets'),
  },
  pull_request: { job: 'pull_request', schema: z.int().min(1).max(UINT32_MAX).nullable().default(null) },
  default_branch: {
    job: 'default_branch',
    schema: optionalText.describe("The repository's default branch as the source knows it"),
  },
  is_confined: {
    job: 'is_confined',
    schema: z
      .boolean()
      .optional()
      .describe('Its sender may not speak for tests: off the default branch, its contradictions prove nothing'),
    line: 'is_confined',
    empty: false,
  },
  framework: { job: 'framework', schema: optionalText, line: 'framework', clean: detail, empty: '' },
  framework_version: {
    job: 'framework_version',
    schema: optionalText,
    line: 'framework_version',
    clean: detail,
    empty: '',
  },
  language: { job: 'language', schema: optionalText, line: 'language', clean: detail, empty: '' },
  job_url: {
    job: 'job_url',
    schema: optionalText.describe('http or https, at most 2,048 bytes; anything else is dropped'),
    line: 'job_url',
    clean: webAddressOf,
    empty: '',
  },
});

/** The run of a `test-runs` job: one value of each column. */
export const runSchema = z.object(runColumns.shape);
export type Run = z.infer<typeof runSchema>;
