/**
 * The parts of a host's payloads that are read, and no more: hosts add fields at any time, and older hosts lack some.
 * The compiler compares each schema with octokit's description of the payload, so no schema can require more than the
 * host sends.
 */
import type { EmitterWebhookEvent, EmitterWebhookEventName } from '@octokit/webhooks';
import { z } from 'zod';
import { PULL_REQUEST_NUMBER_MAX } from '../../domain/limits.ts';

type Payload<N extends EmitterWebhookEventName> = EmitterWebhookEvent<N>['payload'];

/** A schema that accepts every payload of the event as octokit describes it. */
const payloadOf =
  <N extends EmitterWebhookEventName>(_event: N) =>
  <S extends z.ZodType>(schema: S & (Payload<N> extends z.input<S> ? unknown : never)): S =>
    schema;

/** Null if the account was deleted. */
const account = z.object({ id: z.int().min(0), login: z.string().min(1) }).nullish();

const repository = z.object({
  id: z.int(),
  name: z.string(),
  owner: z.object({ login: z.string() }),
  html_url: z.string(),
  default_branch: z.string().nullish(),
});

/** Fields that every delivery may contain. */
export const envelopeSchema = z.object({
  action: z.string().optional(),
  repository: repository.optional(),
  sender: account,
});
export type Envelope = z.infer<typeof envelopeSchema>;

const pullNumber = z.int().min(1).max(PULL_REQUEST_NUMBER_MAX);

const pullRequest = z.object({
  id: z.int().min(0),
  number: pullNumber,
  title: z.string(),
  user: account,
  base: z.object({ ref: z.string() }),
  head: z.object({
    ref: z.string(),
    sha: z.string(),
    /** `owner:branch` */
    label: z.string().nullish(),
    /** Null if the fork was deleted. */
    repo: z.object({ id: z.int() }).nullish(),
  }),
  merged_at: z.string().nullish(),
  merge_commit_sha: z.string().nullish(),
  updated_at: z.iso.datetime({ offset: true }),
});
export type PullRequest = z.infer<typeof pullRequest>;

export const pullRequestSchema = payloadOf('pull_request')(
  z.object({
    action: z.string(),
    pull_request: pullRequest,
    assignee: account,
    label: z.object({ name: z.string() }).nullish(),
    requested_reviewer: z.object({ login: z.string().optional() }).nullish(),
    requested_team: z.object({ slug: z.string().optional() }).nullish(),
    changes: z.looseObject({}).nullish(),
    before: z.string().nullish(),
    after: z.string().nullish(),
    /** Why the pull request left the host's merge queue. */
    reason: z.string().nullish(),
  }),
);
export type PullRequestPayload = z.infer<typeof pullRequestSchema>;

export const reviewSchema = payloadOf('pull_request_review')(
  z.object({
    action: z.string(),
    pull_request: pullRequest,
    review: z.object({ user: account, state: z.string(), body: z.string().nullish() }),
  }),
);

export const reviewThreadSchema = payloadOf('pull_request_review_thread')(
  z.object({ action: z.string(), pull_request: pullRequest }),
);

export const reviewCommentSchema = payloadOf('pull_request_review_comment')(
  z.object({ action: z.string(), pull_request: pullRequest }),
);

export const issueCommentSchema = payloadOf('issue_comment')(
  z.object({
    action: z.string(),
    issue: z.object({ number: pullNumber, pull_request: z.looseObject({}).nullish() }),
    comment: z.object({ id: z.int(), body: z.string() }),
  }),
);

export const deleteSchema = payloadOf('delete')(z.object({ ref: z.string(), ref_type: z.string() }));

const formerOwner = z.object({ login: z.string() }).nullish();

/** For renames and transfers; other actions report other changes. */
export const repositorySchema = payloadOf('repository')(
  z.object({
    action: z.string(),
    changes: z
      .looseObject({
        repository: z.object({ name: z.object({ from: z.string() }) }).optional(),
        owner: z.object({ from: z.object({ user: formerOwner, organization: formerOwner }).nullish() }).optional(),
      })
      .optional(),
  }),
);

export const workflowJobSchema = payloadOf('workflow_job')(
  z.object({
    action: z.string(),
    workflow_job: z.object({
      id: z.int(),
      run_id: z.int(),
      run_attempt: z.int().nullish(),
      name: z.string(),
      workflow_name: z.string().nullish(),
      head_sha: z.string(),
      head_branch: z.string().nullish(),
    }),
  }),
);

export const checkRunSchema = payloadOf('check_run')(
  z.object({
    action: z.string().optional(),
    check_run: z.object({
      name: z.string(),
      head_sha: z.string(),
      app: z.object({ slug: z.string().nullish(), name: z.string() }).nullish(),
      check_suite: z.object({ head_branch: z.string().nullish() }).nullish(),
      pull_requests: z
        .array(z.object({ number: pullNumber, base: z.object({ ref: z.string(), repo: z.object({ id: z.int() }) }) }))
        .nullish(),
    }),
  }),
);

export type WorkflowJobPayload = z.infer<typeof workflowJobSchema>;
export type CheckRunPayload = z.infer<typeof checkRunSchema>;
