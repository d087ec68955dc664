/** The parts of GitLab's REST API that an import reads: https://docs.gitlab.com/api/pipelines/ */
import { z } from 'zod';

export const projectSchema = z.object({
  id: z.number(),
  path_with_namespace: z.string(),
  default_branch: z.string().nullish(),
});

const moment = z.string().transform((text) => Date.parse(text));

const pipelineSchema = z.object({
  id: z.number(),
  /** Since GitLab 16, if `workflow:name` gives it one. */
  name: z.string().nullish(),
  ref: z.string().nullish(),
  sha: z.string(),
  created_at: moment,
  /** Changes when one of its jobs is run again. */
  updated_at: z.string(),
});
export type Pipeline = z.infer<typeof pipelineSchema>;
export const pipelinesSchema = z.array(pipelineSchema);

export const jobsSchema = z.array(
  z.object({
    id: z.number(),
    name: z.string(),
    status: z.string(),
    tag: z.boolean().default(false),
    finished_at: moment.nullish(),
    web_url: z.string().nullish(),
    /** Without reports, whatever GitLab keeps of the job. */
    artifacts_file: z.object({ size: z.number().nullish() }).nullish(),
    artifacts: z
      .array(z.object({ file_type: z.string() }))
      .nullish()
      .catch(null),
    artifacts_expire_at: moment.nullish(),
    runner: z.object({ id: z.number(), description: z.string().nullish() }).nullish(),
  }),
);
export type Job = z.infer<typeof jobsSchema>[number];

export const mergeRequestSchema = z.object({
  id: z.number(),
  iid: z.number(),
  title: z.string(),
  state: z.string(),
  author: z.object({ id: z.number(), username: z.string() }).nullish(),
  source_branch: z.string(),
  target_branch: z.string(),
  source_project_id: z.number().nullish(),
  target_project_id: z.number().nullish(),
  sha: z.string().nullish(),
  merge_commit_sha: z.string().nullish(),
  squash_commit_sha: z.string().nullish(),
  merged_at: z.string().nullish(),
  merge_user: z.object({ username: z.string() }).nullish(),
  /** Older versions have this one instead. */
  merged_by: z.object({ username: z.string() }).nullish(),
  updated_at: z.string(),
});
export type MergeRequest = z.infer<typeof mergeRequestSchema>;

export const commitSchema = z.object({ parent_ids: z.array(z.string()).nullish() });

const text = z.string().nullish().catch(null);

export const testReportSchema = z.object({
  test_suites: z.array(
    z.object({
      name: z.string(),
      suite_error: text,
      test_cases: z.array(
        z.object({
          /** `success`, `failed`, `error` or `skipped`. */
          status: z.string(),
          name: text,
          classname: text,
          file: text,
          /** Seconds. */
          execution_time: z.number().nullish().catch(null),
          system_output: text,
          stack_trace: text,
        }),
      ),
    }),
  ),
});
export type TestSuite = z.infer<typeof testReportSchema>['test_suites'][number];
