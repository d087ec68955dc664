/** What an import reads of GitHub's REST API, and no more: https://docs.github.com/en/rest/actions */
import { z } from 'zod';

export const repositorySchema = z.object({ full_name: z.string(), default_branch: z.string() });

const moment = z.string().transform((text) => Date.parse(text));

const runSchema = z.object({
  id: z.number(),
  name: z.string().nullish(),
  path: z.string().nullish(),
  run_attempt: z.number().default(1),
  event: z.string(),
  head_branch: z.string().nullish(),
  head_sha: z.string(),
  created_at: moment,
  head_repository: z.object({ full_name: z.string() }).nullish(),
  pull_requests: z
    .array(z.object({ number: z.number(), base: z.object({ ref: z.string() }).optional() }))
    .nullish()
    .catch(null),
});
export type Run = z.infer<typeof runSchema>;
export const runsSchema = z.object({ total_count: z.number(), workflow_runs: z.array(runSchema) });

export const jobsSchema = z.object({
  jobs: z.array(
    z.object({
      id: z.number(),
      name: z.string(),
      run_attempt: z.number().default(1),
      conclusion: z.string().nullish(),
      started_at: moment.nullish(),
      completed_at: moment.nullish(),
      labels: z.array(z.string()).default([]),
      runner_name: z.string().nullish(),
      html_url: z.string().nullish(),
    }),
  ),
});
export type Job = z.infer<typeof jobsSchema>['jobs'][number];

export const artifactsSchema = z.object({
  artifacts: z.array(
    z.object({
      id: z.number(),
      name: z.string(),
      size_in_bytes: z.number(),
      expired: z.boolean(),
      created_at: moment,
      archive_download_url: z.string(),
    }),
  ),
});
export type Artifact = z.infer<typeof artifactsSchema>['artifacts'][number];
