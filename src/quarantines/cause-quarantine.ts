/** Quarantines the failures of a cause, and no others of the tests that it hits. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { doerOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { conflict, notFound } from '../http/problems.ts';
import { quarantineCause, releaseCause } from '../postgres/cause-quarantines.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';
import { CAUSE_EXAMPLE, causePath, unknownCause } from './cause-terms.ts';
import { noRoom, requireFuture } from './refusals.ts';
import { createBody } from './schemas.ts';

const ADDRESS = '/v1/ci/:owner/repositories/:repository/causes/:cause_id/quarantine';

const body = createBody.pick({ reason: true, branch: true, expires_at: true });
const response = z
  .object({
    cause_id: z.guid().meta({ description: 'The cause that the id leads to', example: CAUSE_EXAMPLE }),
    quarantine_ids: z.array(z.guid()).meta({
      description: 'The quarantines that were made: one for each test that it has hit',
      example: ['01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a'],
    }),
  })
  .meta({ id: 'QuarantinedCause' });

export function mountCauseQuarantine(
  app: AnyElysia,
  http: Http,
  { repositories, quarantines }: { repositories: RepositoryStore; quarantines: QuarantineStore },
): void {
  mount(app, http, 'POST', ADDRESS, {
    operationId: 'quarantineCause',
    tag: 'CI quarantine',
    summary: 'Quarantine the failures of a cause',
    description:
      'Each test that the cause has hit is quarantined for the failures that belong to the cause; its other failures count. Tests that the cause hits later, and messages that join it, are covered within minutes, and a merge changes nothing. Owner and ticket are those of the cause, else the owner of the test. 409 if the cause is quarantined already; 422 if its tests would be too much beside the other quarantines (limits of requests).',
    access: 'quarantine',
    params: causePath,
    body,
    bodyExample: { reason: 'The ledger is down until the move', expires_at: '2026-12-24T18:00:00Z' },
    responses: { 201: { description: 'Quarantined.', schema: response } },
    handle: async ({ params: path, body: asked, credential, requestId }) => {
      const wanted = { reason: asked.reason, branch: asked.branch, expiresAt: asked.expires_at ?? null };
      await requireFuture(quarantines, wanted.expiresAt);
      const repository = await repositories.find(path.owner, path.repository);
      const by = doerOf(credential, requestId);
      const made =
        repository && (await quarantineCause(quarantines, repository.id, path.cause_id, wanted, by).catch(noRoom));
      if (!made) throw unknownCause();
      if (made === 'taken')
        throw conflict('The cause is already quarantined. Release it first to quarantine it with other terms.');
      return { status: 201, body: { cause_id: made.causeId, quarantine_ids: made.quarantineIds } };
    },
  });

  mount(app, http, 'DELETE', ADDRESS, {
    operationId: 'releaseCause',
    tag: 'CI quarantine',
    summary: 'Release a quarantined cause',
    description: 'Ends its quarantine, and those of its tests. 404 if the cause is not quarantined.',
    access: 'quarantine',
    params: causePath,
    responses: { 204: { description: 'Released.' } },
    handle: async ({ params: path, credential, requestId }) => {
      const repository = await repositories.find(path.owner, path.repository);
      const by = doerOf(credential, requestId);
      if (!repository || !(await releaseCause(quarantines, repository.id, path.cause_id, by)))
        throw notFound('There is no such cause in this repository, or it is not quarantined.');
      return { status: 204 };
    },
  });
}
