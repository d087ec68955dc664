/**
 * Whether the process is alive and whether it is ready: it is restarted on the first, and taken out of rotation on the
 * second.
 */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { type Http, mount } from '../http/operation.ts';
import { isUp, type Probes } from '../probes.ts';

const TAG = 'Service';
/** The probe of the process itself, whether it means to keep serving. It is asked before the stores. */
const OWN_PROBE = 'service';

const readiness = z.object({
  status: z.enum(['ready', 'unavailable']),
  stores: z.record(z.string(), z.boolean()).meta({ example: { clickhouse: true, postgres: true } }),
});

export function mountHealth(app: AnyElysia, http: Http, probes: Probes): void {
  mount(app, http, 'GET', '/healthz/live', {
    operationId: 'getLiveness',
    isProbe: true,
    tag: TAG,
    summary: 'Whether the process is alive',
    description: 'Does not ask the stores: a store that is down is no reason to restart the process.',
    access: 'public',
    responses: {
      200: { description: 'Alive.', schema: z.object({ status: z.literal('alive').meta({ example: 'alive' }) }) },
    },
    handle: () => ({ body: { status: 'alive' } }),
  });

  mount(app, http, 'GET', '/healthz/ready', {
    operationId: 'getReadiness',
    isProbe: true,
    tag: TAG,
    summary: 'Whether every store responds',
    description: 'Asks each store; 503 if one does not respond.',
    access: 'public',
    responses: {
      200: { description: 'Every store responds.', schema: readiness },
      503: {
        description: 'A store does not respond.',
        schema: readiness,
        example: { status: 'unavailable', stores: { clickhouse: false, postgres: true } },
      },
    },
    handle: async () => {
      // A draining process reports not ready at once: probing stores can take seconds, and the balancer would keep sending.
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
