/** The parts of Bitbucket Cloud's payloads that are read: https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/ */
import { z } from 'zod';
import { PULL_REQUEST_NUMBER_MAX } from '../../domain/limits.ts';

/** Apps and deleted accounts have no nickname. */
const account = z.object({ uuid: z.string().nullish(), nickname: z.string().nullish() }).nullish();
export type Account = z.infer<typeof account>;

export const envelopeSchema = z.object({
  actor: account,
  repository: z
    .object({
      full_name: z.string(),
      links: z.object({ html: z.object({ href: z.string() }) }),
      mainbranch: z.object({ name: z.string() }).nullish(),
    })
    .nullish(),
});

const side = z.object({
  branch: z.object({ name: z.string() }),
  commit: z.object({ hash: z.string() }).nullish(),
  /** Null if the fork was deleted. */
  repository: z.object({ full_name: z.string() }).nullish(),
});

export const pullRequestSchema = z.object({
  actor: account,
  pullrequest: z.object({
    id: z.int().min(1).max(PULL_REQUEST_NUMBER_MAX),
    title: z.string(),
    author: account,
    state: z.string(),
    source: side,
    destination: side,
    merge_commit: z.object({ hash: z.string() }).nullish(),
    updated_on: z.iso.datetime({ offset: true }),
  }),
  comment: z.object({ id: z.int(), content: z.object({ raw: z.string() }) }).nullish(),
});
export type PullRequestPayload = z.infer<typeof pullRequestSchema>;

export const pushSchema = z.object({
  actor: account,
  push: z.object({
    changes: z.array(z.object({ new: z.unknown(), old: z.object({ type: z.string(), name: z.string() }).nullish() })),
  }),
});

export const updatedSchema = z.object({
  changes: z.looseObject({ full_name: z.object({ old: z.string(), new: z.string() }).nullish() }).nullish(),
});

export const transferSchema = z.object({
  repository: z.object({ full_name: z.string() }),
  previousworkspace: z.object({ slug: z.string() }).nullish(),
});
