/** Reads the run from the query of an upload, whatever the format of its reports. */

import type { Run } from '../../domain/columns.ts';
import { shortBranch } from '../../domain/default-branch.ts';
import { NAME_LENGTH_MAX, UINT32_MAX, UNKNOWN } from '../../domain/limits.ts';
import {
  axesParameter,
  folderAddressParameter,
  integerParameter,
  momentParameter,
  type QueryOf,
  textParameter,
  webAddressParameter,
} from '../../http/parameters.ts';
import { headOf } from '../ref.ts';

const REPORT_LENGTH_MAX = 4_096;

export const reportQuery = {
  pipeline_name: textParameter(1, NAME_LENGTH_MAX, {
    description: 'Name of the pipeline (workflow); `unknown` when absent.',
    example: 'CI',
  }),
  job_name: textParameter(1, NAME_LENGTH_MAX, {
    description: 'Name of the job within the pipeline; `unknown` when absent.',
    example: 'unit',
  }),
  axis: axesParameter({
    description:
      'What is different in this leg of the job, as `name:value`; repeat it for each axis. Legs of a matrix are told apart by it: a test has a health in each. Replaces what the report itself says of that axis.',
    example: ['os:windows', 'python:3.13'],
  }),
  place: axesParameter({
    description:
      'Which machine ran it, as `name:value`: a shard, a runner, a region. Shown with results; it tells no legs apart.',
    example: ['runner:linux-7'],
  }),
  run_id: textParameter(1, NAME_LENGTH_MAX, {
    description:
      "The CI provider's id of this run of the pipeline. When absent, the hash of the report, so that only the same bytes count as sent again.",
    example: '1001',
  }),
  run_attempt: integerParameter(1, UINT32_MAX, { description: 'Which attempt of the run; 1 when absent.', example: 1 }),
  commit: textParameter(1, NAME_LENGTH_MAX, {
    description: 'The commit that was tested.',
    example: '1111111111111111111111111111111111111111',
  }),
  branch: textParameter(1, NAME_LENGTH_MAX, {
    description:
      'The branch that was tested, with or without `refs/heads/`. Without it nothing is on the default branch.',
    example: 'main',
  }),
  pull_request: integerParameter(1, UINT32_MAX, {
    description: 'The pull request that was tested. Such runs are never on the default branch.',
  }),
  base_ref: textParameter(1, NAME_LENGTH_MAX, {
    description:
      'The branch that the pull request or merge queue is for. Its quarantines count, too, and such runs are never on the default branch.',
    example: 'main',
  }),
  default_branch: textParameter(1, NAME_LENGTH_MAX, {
    description:
      "The repository's default branch: the first that an upload names is used until the host names one or someone sets it. Another one later is a warning. Ignored with a bound key.",
    example: 'main',
  }),
  started_at: momentParameter({
    description:
      "When the tests began: the report's times are shifted there. For clocks that are wrong and reports without times.",
  }),
  arrived_at: momentParameter({
    description:
      'Only for imports: when the report would have arrived. What has no time counts from then. Imported results count in everything, and quarantine, announce and end nothing.',
  }),
  job_url: webAddressParameter({
    description: "The CI provider's page of the job, to which failures, runs and pages link. It identifies nothing.",
    example: 'https://ci.example.com/runs/1001',
  }),
  attachments_url: folderAddressParameter({
    description:
      'The address of the folder to which the job uploads attachments: paths that the report names become links below it. Without it only `https` addresses in the report do.',
    example: 'https://artifacts.example.com/runs/1001/',
  }),
  attachments_root: textParameter(1, REPORT_LENGTH_MAX, {
    description: 'That folder on the machine of the job: absolute paths in the report are taken as below it.',
    example: '/home/runner/work/shop/shop',
  }),
  attachments_from: textParameter(1, REPORT_LENGTH_MAX, {
    description:
      'The folder of the report, on that machine or below `attachments_root`: some formats name files from there. Without it they begin at the root.',
    example: '/home/runner/work/shop/shop/reports',
  }),
  report: textParameter(1, REPORT_LENGTH_MAX, {
    description:
      "Tells a job's reports apart, such as a path or a shard. By default the name of the file in the form, else a hash of the report.",
    example: 'shard-1/report',
  }),
};

/** Without the fields that the query does not have. */
export type ReportQuery = Partial<QueryOf<typeof reportQuery>>;

/** @param digest names the run of a report that comes without a run id */
export function runOf(query: ReportQuery, digest: string): Run {
  const head = headOf(query.branch ?? null);
  return {
    pipeline_name: query.pipeline_name ?? UNKNOWN,
    job_name: query.job_name ?? UNKNOWN,
    ...(query.axis && { axes: query.axis }),
    ...(query.place && { place: query.place }),
    run_id: query.run_id ?? digest,
    run_attempt: query.run_attempt ?? 1,
    commit: query.commit ?? null,
    branch: head.branch,
    base_ref: query.base_ref === undefined ? null : shortBranch(query.base_ref),
    pull_request: query.pull_request ?? head.pullRequest,
    default_branch: query.default_branch === undefined ? null : shortBranch(query.default_branch),
    framework: null,
    framework_version: null,
    language: null,
    job_url: query.job_url ?? null,
  };
}
