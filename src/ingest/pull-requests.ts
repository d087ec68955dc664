/** Pull requests of the past, as an import sends them. Live ones come with the host's webhooks. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { DEFAULT_HOST } from '../domain/identity.ts';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import { SENT_PULL_REQUESTS_MAX } from '../domain/limits.ts';
import { type Http, mount } from '../http/operation.ts';
import { forbidden } from '../http/problems.ts';
import { prEvents, pullRequestSchema } from '../queue/pr-events.ts';
import type { EventsPort } from './ports.ts';
import { INGEST_TAG, repositoryPath } from './schemas.ts';

const EXAMPLE: z.input<typeof pullRequestSchema> = {
  number: 7,
  id: 1_900_000_007,
  title: 'Pay by card',
  author: { id: 583_231, login: 'octocat' },
  base_ref: 'main',
  head_ref: 'pay-by-card',
  head_commit: '2222222222222222222222222222222222222222',
  merge_commit: '1111111111111111111111111111111111111111',
  updated_at: '2026-11-21T09:30:00.000Z',
  merged_at: '2026-11-21T09:29:58.000Z',
  merged_by: 'octocat',
};

export const pullRequestsBody = z.object({
  pull_requests: z
    .array(pullRequestSchema)
    .min(1)
    .max(SENT_PULL_REQUESTS_MAX, { error: REQUEST_LIMITS.SENT_PULL_REQUESTS_MAX.sentence() })
    .meta({ description: 'As the host knows them', example: [EXAMPLE] }),
});

const queued = z
  .object({ queued: z.int().meta({ description: 'Pull requests that were queued', example: 1 }) })
  .meta({ id: 'QueuedPullRequests' });

export function mountPullRequests(app: AnyElysia, http: Http, { enqueueEvents }: EventsPort): void {
  mount(app, http, 'PUT', '/v1/ci/:owner/repositories/:repository/pull-requests', {
    operationId: 'putPullRequests',
    tag: INGEST_TAG,
    summary: 'Send pull requests of the past',
    description:
      'Who wrote them, from where to where they go, and as which commit they were merged. Of two versions, the one that was updated later is kept, so sending again changes nothing. The event log gets the merges that it does not have, at their own times. `ci-insights import` sends them. 403 for a credential of one CI job.',
    access: 'upload',
    isRateLimited: false,
    params: repositoryPath,
    body: pullRequestsBody,
    bodyExample: { pull_requests: [EXAMPLE] },
    responses: { 202: { description: 'Queued.', schema: queued } },
    handle: async ({ params: { owner, repository: name }, body, credential }) => {
      if (credential?.bounds)
        throw forbidden('This credential is for one job, which imports nothing: import with an application key.');
      const job = {
        v: 1 as const,
        repository: { host: DEFAULT_HOST, owner, name },
        pull_requests: body.pull_requests,
      };
      const payload = prEvents.schema.parse(job);
      await enqueueEvents(JSON.stringify(payload), payload);
      return { status: 202, body: { queued: body.pull_requests.length } };
    },
  });
}
