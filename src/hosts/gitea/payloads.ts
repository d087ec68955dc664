/** The parts of Gitea's payloads that are read: `modules/structs/hook.go` of Gitea and of Forgejo. */
import { z } from 'zod';
import { PULL_REQUEST_NUMBER_MAX } from '../../domain/limits.ts';

const account = z.object({ id: z.int(), login: z.string().min(1) }).nullish();

export const envelopeSchema = z.object({
  repository: z
    .object({
      name: z.string(),
      owner: z.object({ login: z.string() }),
      html_url: z.string(),
      default_branch: z.string().nullish(),
    })
    .nullish(),
  sender: account,
});

const number = z.int().min(1).max(PULL_REQUEST_NUMBER_MAX);
const branch = z.object({
  ref: z.string(),
  sha: z.string(),
  repo_id: z.int(),
  /** Null if the fork was deleted. */
  repo: z.object({ owner: z.object({ login: z.string() }) }).nullish(),
});
const label = z.array(z.object({ name: z.string() })).nullish();

export const pullRequestSchema = z.object({
  action: z.string(),
  pull_request: z.object({
    id: z.int().min(0),
    number,
    title: z.string(),
    user: account,
    draft: z.boolean().nullish(),
    merged: z.boolean().nullish(),
    merge_commit_sha: z.string().nullish(),
    base: branch,
    head: branch,
    assignees: z.array(z.object({ login: z.string() })).nullish(),
    updated_at: z.iso.datetime({ offset: true }),
  }),
  changes: z.looseObject({ added_labels: label, removed_labels: label }).nullish(),
  requested_reviewer: account,
  review: z.object({ type: z.string(), content: z.string().nullish() }).nullish(),
  sender: account,
});
export type PullRequestPayload = z.infer<typeof pullRequestSchema>;

export const commentSchema = z.object({
  action: z.string(),
  is_pull: z.boolean(),
  issue: z.object({ number }),
  comment: z.object({ id: z.int(), body: z.string() }),
  sender: account,
});

export const deleteSchema = z.object({ ref: z.string(), ref_type: z.string(), sender: account });

export const jobSchema = z.object({
  action: z.string(),
  workflow_job: z.object({
    id: z.int(),
    run_id: z.int(),
    run_attempt: z.int().nullish(),
    name: z.string(),
    head_sha: z.string(),
    head_branch: z.string().nullish(),
  }),
  sender: account,
});
