/** Operations about the service itself: the key in use, and whether it is alive and ready. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { accountIdOf } from '../domain/identity.ts';
import { KEY_SCOPES } from '../domain/key-scope.ts';
import { isUp, type Probes } from '../probes.ts';
import { type Http, mount } from './operation.ts';
import { forbidden } from './problems.ts';

const TAG = 'Service';
/** The probe of the process itself, whether it means to keep serving. It is asked before the stores. */
const OWN_PROBE = 'service';

const application = z.object({
  id: z.guid().meta({ example: '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a' }),
  name: z.string().meta({ example: 'main pipeline' }),
  scope: z.enum(KEY_SCOPES).meta({ example: 'ci' }),
  account_scope: z
    .object({
      id: z.int().meta({
        description: 'Stands for the owner on this service, always the same; 0 for every owner. Not an id of the host',
        example: 43_197_199_061_629,
      }),
      login: z.string().meta({ description: 'The owner; `*`: every owner', example: 'acme' }),
      repositories: z
        .array(z.string())
        .nullable()
        .meta({ description: "Null: all of the owner's repositories", example: ['shop'] }),
    })
    .meta({ description: 'Whose repositories the key is for' }),
});

export function mountService(app: AnyElysia, http: Http, probes: Probes): void {
  mount(app, http, 'GET', '/v1/application', {
    operationId: 'getApplication',
    tag: TAG,
    summary: 'Get the application key in use',
    description: 'What the key of this request is called and what it is for.',
    access: 'credential',
    responses: { 200: { description: 'The key in use.', schema: application } },
    handle: ({ credential }) => {
      const key = credential?.application;
      if (!key)
        throw forbidden(
          'A token of the repository host is no application key, so there is none to describe. Send a key.',
        );
      const { id, name, scope, owner, repositories } = key;
      const account = owner === null ? { id: 0, login: '*' } : { id: accountIdOf(owner), login: owner };
      return { body: { id, name, scope, account_scope: { ...account, repositories } } };
    },
  });

  mountHealth(app, http, probes);
}

/** Alive and ready, apart: a process is restarted on the first, and taken out of rotation on the second. */
export function mountHealth(app: AnyElysia, http: Http, probes: Probes): void {
  mount(app, http, 'GET', '/healthz/live', {
    operationId: 'getLiveness',
    isProbe: true,
    tag: TAG,
    summary: 'Whether the process is alive',
    description: 'Says nothing about the stores: a store that is down is no reason to restart the process.',
    access: 'public',
    responses: {
      200: { description: 'Alive.', schema: z.object({ status: z.literal('alive').meta({ example: 'alive' }) }) },
    },
    handle: () => ({ body: { status: 'alive' } }),
  });

  const readiness = z.object({
    status: z.enum(['ready', 'unavailable']),
    stores: z.record(z.string(), z.boolean()).meta({ example: { clickhouse: true, postgres: true } }),
  });
  mount(app, http, 'GET', '/healthz/ready', {
    operationId: 'getReadiness',
    isProbe: true,
    tag: TAG,
    summary: 'Whether every store answers',
    description: 'Asks each store; 503 when one does not answer.',
    access: 'public',
    responses: {
      200: { description: 'Every store answers.', schema: readiness },
      503: {
        description: 'A store does not answer.',
        schema: readiness,
        example: { status: 'unavailable', stores: { clickhouse: false, postgres: true } },
      },
    },
    handle: async () => {
      // Who is about to stop says so at once: a store may take seconds, and a balancer would go on sending meanwhile.
      const own = probes[OWN_PROBE];
      if (own && !(await isUp(own)))
        return { status: 503, body: { status: 'unavailable', stores: { [OWN_PROBE]: false } } };
      const stores = Object.fromEntries(
        await Promise.all(Object.entries(probes).map(async ([name, probe]) => [name, await isUp(probe)] as const)),
      );
      const ready = Object.values(stores).every(Boolean);
      return { status: ready ? 200 : 503, body: { status: ready ? 'ready' : 'unavailable', stores } };
    },
  });
}
