/** The parts of Bitbucket Data Center's payloads that are read: https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html */
import { z } from 'zod';
import { PULL_REQUEST_NUMBER_MAX } from '../../domain/limits.ts';

const user = z.object({ id: z.int().min(0).nullish(), name: z.string().min(1) });

const repository = z.object({
  id: z.int(),
  slug: z.string(),
  project: z.object({ key: z.string() }),
  links: z.object({ self: z.array(z.object({ href: z.string() })).nullish() }).nullish(),
});
export type Repository = z.infer<typeof repository>;

const ref = z.object({ displayId: z.string(), latestCommit: z.string(), repository });

const pullRequest = z.object({
  id: z.int().min(1).max(PULL_REQUEST_NUMBER_MAX),
  title: z.string(),
  state: z.string(),
  draft: z.boolean().nullish(),
  updatedDate: z.int().min(0),
  fromRef: ref,
  toRef: ref,
  author: z.object({ user }).nullish(),
  properties: z.object({ mergeCommit: z.object({ id: z.string() }).nullish() }).nullish(),
});

export const envelopeSchema = z.object({
  repository: repository.nullish(),
  pullRequest: z.object({ toRef: z.object({ repository }) }).nullish(),
  /** Of a repository that was renamed or moved. */
  new: repository.nullish(),
});

export const pullRequestSchema = z.object({
  actor: user,
  pullRequest,
  previousFromHash: z.string().nullish(),
  previousTitle: z.string().nullish(),
  previousDescription: z.string().nullish(),
  previousTarget: z.object({ displayId: z.string() }).nullish(),
  addedReviewers: z.array(user).nullish(),
  comment: z.object({ id: z.int(), text: z.string() }).nullish(),
});
export type PullRequestPayload = z.infer<typeof pullRequestSchema>;

export const changedSchema = z.object({
  actor: user,
  changes: z.array(z.object({ ref: z.object({ displayId: z.string(), type: z.string() }), type: z.string() })),
});

export const modifiedSchema = z.object({ old: repository, new: repository });
