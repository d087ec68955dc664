/** Comparisons of everything derived with the executions, which a worker makes while the service runs. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { verifyReportSchema } from '../domain/verify-report.ts';
import { auditActorOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { uuid } from '../http/path.ts';
import { notFound } from '../http/problems.ts';
import type { Database } from '../postgres/client.ts';
import { type Verification, VerificationStore } from '../postgres/verifications.ts';

const ADDRESS = '/v1/verifications';
const TAG = 'Service';
const moment = z.iso.datetime();

const response = z
  .object({
    id: z.guid().meta({ example: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a' }),
    status: z.enum(['running', 'finished', 'failed']).meta({ example: 'finished' }),
    requested_at: moment.meta({ example: '2026-11-21T10:00:00.000Z' }),
    finished_at: moment.nullable().meta({ example: '2026-11-21T10:04:00.000Z' }),
    repositories_compared: z.int().meta({ example: 12 }),
    repositories: z.int().meta({ description: '0 until a worker begins', example: 12 }),
    report: verifyReportSchema.nullable().meta({ description: 'Null until it is finished' }),
  })
  .meta({ id: 'Verification' });

const documentOf = (found: Verification): z.infer<typeof response> => ({
  id: found.id,
  status: found.finishedAt === null ? 'running' : found.failure === null ? 'finished' : 'failed',
  requested_at: found.requestedAt.toISOString(),
  finished_at: found.finishedAt?.toISOString() ?? null,
  repositories_compared: found.compared,
  repositories: found.repositories,
  report: found.report,
});

export function mountVerifications(app: AnyElysia, http: Http, { db, clock }: { db: Database; clock: Clock }): void {
  const store = new VerificationStore(db, clock);
  mount(app, http, 'POST', ADDRESS, {
    operationId: 'requestVerification',
    tag: TAG,
    summary: 'Compare everything derived with the executions',
    description:
      'Asks a worker to compare all derived tables and the state of tests with the executions, and the executions with what PostgreSQL counts as stored. It only reads; the service stores and answers meanwhile. One at a time: while one runs, it is returned. For keys of every owner with the scope admin.',
    access: 'operator',
    responses: { 202: { description: 'The verification that is made.', schema: response } },
    handle: async ({ credential, requestId }) => ({
      status: 202,
      body: documentOf(await store.request(auditActorOf(credential, requestId))),
    }),
  });
  mount(app, http, 'GET', `${ADDRESS}/:verification_id`, {
    operationId: 'getVerification',
    tag: TAG,
    summary: 'Get a verification',
    description:
      'How far it is, and its report once it is finished. What is on its way is no difference: blocks that are not evaluated, and what a repository shows in one look but not in the next. Kept for thirty days.',
    access: 'operator',
    params: z.object({
      verification_id: uuid('As it was answered to the request.', '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a'),
    }),
    responses: { 200: { description: 'The verification.', schema: response } },
    handle: async ({ params }) => {
      const found = await store.find(params.verification_id);
      if (!found) throw notFound('There is no such verification. POST to /v1/verifications makes one.');
      return { body: documentOf(found) };
    },
  });
}
