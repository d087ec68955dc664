/** Forgetting the name of a person over HTTP: what `ci-insights people forget` does. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { personNameSchema } from '../domain/pseudonym.ts';
import { auditActorOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { notFound } from '../http/problems.ts';
import type { Database } from '../postgres/client.ts';
import { beginForgetting, type ForgottenPerson, findForgotten } from '../postgres/forgotten-people.ts';

const TAG = 'Service';
const moment = z.iso.datetime();

const bodySchema = z.strictObject({
  name: personNameSchema.meta({
    description: 'A login, or the name in the trail; compared without case, with or without `@`',
    example: 'octocat',
  }),
  is_for_later: z.boolean().default(false).meta({
    description: 'Whether it is also replaced in events and pull requests that arrive from now on',
    example: true,
  }),
});

const response = z
  .object({
    pseudonym: z.string().meta({ description: 'What stands for the name', example: 'person-1a2b3c4d5e6f' }),
    is_for_later: z.boolean().meta({ example: true }),
    requested_at: moment.meta({ example: '2026-11-21T10:00:00.000Z' }),
    finished_at: moment.nullable().meta({
      description: 'Null while a worker replaces the name',
      example: '2026-11-21T10:00:02.000Z',
    }),
    changed: z.record(z.string(), z.int()).meta({
      description: 'Rows changed so far, by table',
      example: { events: 310, pull_requests: 12 },
    }),
  })
  .meta({ id: 'ForgottenPerson' });

const documentOf = (person: ForgottenPerson): z.output<typeof response> => ({
  pseudonym: person.pseudonym,
  is_for_later: person.isForLater,
  requested_at: person.requestedAt.toISOString(),
  finished_at: person.finishedAt?.toISOString() ?? null,
  changed: person.changed,
});

export function mountPeople(app: AnyElysia, http: Http, { db, clock }: { db: Database; clock: Clock }): void {
  mount(app, http, 'POST', '/v1/people/forget', {
    operationId: 'forgetPerson',
    tag: TAG,
    summary: 'Forget the name of a person',
    description:
      'Asks a worker to replace the name by a pseudonym in the event log, pull requests, quarantines, receipts and the trail of every repository. The pseudonym is always the same for a name, so what one person did can still be told apart. For keys of every owner with the scope admin.',
    access: 'operator',
    body: bodySchema,
    bodyExample: { name: 'octocat', is_for_later: true },
    responses: { 202: { description: 'A worker replaces the name.', schema: response } },
    handle: async ({ body, credential, requestId }) => {
      const wanted = { name: body.name, isForLater: body.is_for_later };
      const person = await beginForgetting(db, wanted, auditActorOf(credential, requestId), clock.now());
      return { status: 202, body: documentOf(person) };
    },
  });
  mount(app, http, 'GET', '/v1/people/:pseudonym', {
    operationId: 'getForgottenPerson',
    tag: TAG,
    summary: 'Get how far a person is forgotten',
    description: 'What was changed, by the pseudonym. The name itself is kept only until it is replaced everywhere.',
    access: 'operator',
    params: z.object({
      pseudonym: z
        .string()
        .regex(/^person-[0-9a-f]{12}$/, { error: 'must be a pseudonym' })
        .meta({ description: 'As it was answered to the request.', example: 'person-1a2b3c4d5e6f' }),
    }),
    responses: { 200: { description: 'The pseudonym and what was changed.', schema: response } },
    handle: async ({ params }) => {
      const person = await findForgotten(db, params.pseudonym);
      if (!person) throw notFound('No one was given this pseudonym. POST to /v1/people/forget gives one.');
      return { body: documentOf(person) };
    },
  });
}
