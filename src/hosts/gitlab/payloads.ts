/**
 * The parts of GitLab's payloads that are read: https://docs.gitlab.com/user/project/integrations/webhook_events/ and
 * https://docs.gitlab.com/administration/system_hooks/. Older versions lack some.
 */
import { z } from 'zod';
import { PULL_REQUEST_NUMBER_MAX } from '../../domain/limits.ts';

const user = z.object({ id: z.int().min(0).nullish(), username: z.string().min(1) });

const projectSchema = z.object({
  path_with_namespace: z.string(),
  web_url: z.string(),
  default_branch: z.string().nullish(),
});

/** Which of the fields are there depends on the type. */
export const envelopeSchema = z.object({
  object_kind: z.string().optional(),
  event_name: z.string().optional(),
  project: projectSchema.nullish(),
});

/** `2026-11-21T09:30:00Z`, or `2026-11-21 09:30:00 UTC` from versions before 16. */
const moment = z
  .string()
  .transform((text) => text.replace(/^(\S+) (\S+) UTC$/, '$1T$2Z'))
  .pipe(z.iso.datetime({ offset: true }));

const names = <S extends z.ZodType>(schema: S) =>
  z.object({ previous: z.array(schema).nullish(), current: z.array(schema).nullish() }).nullish();

export const mergeRequestSchema = z.object({
  user,
  assignees: z.array(user).nullish(),
  reviewers: z.array(user).nullish(),
  object_attributes: z.object({
    id: z.int().min(0),
    iid: z.int().min(1).max(PULL_REQUEST_NUMBER_MAX),
    title: z.string(),
    author_id: z.int().min(0).nullish(),
    state: z.string(),
    /** Missing in a test of the webhook. */
    action: z.string().nullish(),
    draft: z.boolean().nullish(),
    /** The head before a push. */
    oldrev: z.string().nullish(),
    source_branch: z.string(),
    target_branch: z.string(),
    source_project_id: z.int().nullish(),
    target_project_id: z.int(),
    source: z.object({ path_with_namespace: z.string() }).nullish(),
    last_commit: z.object({ id: z.string() }).nullish(),
    merge_commit_sha: z.string().nullish(),
    squash_commit_sha: z.string().nullish(),
    updated_at: moment,
  }),
  changes: z
    .looseObject({
      labels: names(z.object({ title: z.string() })),
      assignees: names(user),
      reviewers: names(user),
      draft: z.object({ current: z.boolean().nullish() }).nullish(),
    })
    .nullish(),
});
export type MergeRequestPayload = z.infer<typeof mergeRequestSchema>;

export const noteSchema = z.object({
  user,
  object_attributes: z.object({
    id: z.int(),
    note: z.string(),
    noteable_type: z.string(),
    /** Missing before GitLab 16. */
    action: z.string().nullish(),
    system: z.boolean().nullish(),
  }),
  merge_request: z.object({ iid: z.int().min(1).max(PULL_REQUEST_NUMBER_MAX), target_branch: z.string() }).nullish(),
});

export const pushSchema = z.object({ ref: z.string(), after: z.string(), user_username: z.string().nullish() });

export const jobSchema = z.object({
  ref: z.string().nullish(),
  sha: z.string().nullish(),
  build_id: z.int(),
  build_name: z.string(),
  build_status: z.string(),
  retries_count: z.int().min(0).nullish(),
  pipeline_id: z.int(),
  tag: z.boolean().nullish(),
  user: user.nullish(),
});

export const movedSchema = z.object({ path_with_namespace: z.string(), old_path_with_namespace: z.string() });
