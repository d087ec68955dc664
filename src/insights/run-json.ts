/** A run as the API shows it: what a pipeline ran for a commit. */
import { z } from 'zod';
import { formatMoment } from '../domain/moment.ts';
import * as common from './common.ts';
import { runIdOf } from './run-id.ts';
import type { RunTroubles } from './run-troubles.ts';

export const runRow = z.object({
  pipeline_name: z.string(),
  run_id: z.string(),
  commit_sha: z.string(),
  run_branch: z.string(),
  run_base_ref: z.string(),
  run_pull_request: z.int(),
  is_on_default: z.boolean(),
  started_ms: z.int(),
  ended_ms: z.int(),
  jobs: z.int(),
  attempts: z.int(),
  run_passed: z.int(),
  run_failed: z.int(),
  run_skipped: z.int(),
  failed_jobs: z.array(z.object({ day: z.int(), job: z.string(), axes: z.string(), attempt: z.int() })),
});
export type RunRow = z.infer<typeof runRow>;

const executions = (what: string, example: number) =>
  z.int().meta({ description: `${what} executions, over all CI jobs and attempts`, example });
export const ID_EXAMPLE = runIdOf({
  pipelineName: 'CI',
  runId: '1001',
  commit: '1111111111111111111111111111111111111111',
});
export const runFields = {
  id: z.string().meta({ description: 'Names the run in addresses', example: ID_EXAMPLE }),
  pipeline_name: common.pipelineNameOut,
  run_id: z.string().nullable().meta({ description: 'As the CI provider names the run', example: '1001' }),
  commit_sha: z.string().nullable().meta({ example: '1111111111111111111111111111111111111111' }),
  branch: z.string().nullable().meta({ example: 'feature/rounding' }),
  base_ref: z.string().nullable().meta({ example: 'main' }),
  pull_request: z.int().nullable().meta({ example: 7 }),
  is_on_default_branch: z.boolean().meta({ description: 'Whether it counts for the health of tests', example: false }),
  started_at: common.dateTimeOut.meta({ description: 'When the first of its executions finished' }),
  ended_at: common.dateTimeOut.meta({ description: 'When the last one that has arrived finished' }),
  jobs_count: z.int().meta({ description: 'CI jobs from which results have arrived', example: 1 }),
  attempts_count: z.int().meta({ description: 'The highest attempt', example: 1 }),
  passed: executions('Passed', 211),
  failed: executions('Failed', 1),
  skipped: executions('Skipped', 3),
  is_troubled: z.boolean().meta({
    description:
      'Whether a healthy test fails in one of its CI jobs with a probability of 1% or more, so that failures in it prove little. Judged on the default branch only',
    example: false,
  }),
};
export const runSchema = z.object(runFields).meta({ id: 'Run' });

/** The attempts of its CI jobs on the default branch in which tests failed, by UTC day. */
export const failedJobsOf = ({
  pipeline_name,
  run_id,
  failed_jobs,
}: Pick<RunRow, 'pipeline_name' | 'run_id' | 'failed_jobs'>) =>
  failed_jobs.map(({ day, job, axes, attempt }) => ({
    ...{ pipelineName: pipeline_name, jobName: job, axes },
    ...{ day, runId: run_id, runAttempt: attempt },
  }));

export const runJson = (row: RunRow, troubles: RunTroubles): z.input<typeof runSchema> => ({
  id: runIdOf({ pipelineName: row.pipeline_name, runId: row.run_id, commit: row.commit_sha }),
  pipeline_name: row.pipeline_name,
  run_id: row.run_id || null,
  commit_sha: row.commit_sha || null,
  branch: row.run_branch || null,
  base_ref: row.run_base_ref || null,
  pull_request: row.run_pull_request || null,
  is_on_default_branch: row.is_on_default,
  started_at: formatMoment(row.started_ms),
  ended_at: formatMoment(row.ended_ms),
  jobs_count: row.jobs,
  attempts_count: row.attempts,
  passed: row.run_passed,
  failed: row.run_failed,
  skipped: row.run_skipped,
  is_troubled: failedJobsOf(row).some((job) => troubles.of(job).trouble !== 'none'),
});
