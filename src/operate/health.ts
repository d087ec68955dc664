/**
 * Whether the process is alive and whether it is ready: it is restarted on the first, and taken out of rotation on the
 * second.
 */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { type Http, mount } from '../http/operation.ts';
import type { Database } from '../postgres/client.ts';
import { isStoring } from '../postgres/refused-blocks.ts';
import { isUp, type Probes } from '../probes.ts';

const TAG = 'Service';
/** The probe of the process itself, whether it means to keep serving. It is asked before the stores. */
const OWN_PROBE = 'service';

const readiness = z.object({
  status: z.enum(['ready', 'unavailable']),
  stores: z.record(z.string(), z.boolean()).meta({ example: { clickhouse: true, postgres: true } }),
  is_storing: z.boolean().meta({
    description:
      'False if ClickHouse responds, but has refused for a minute to store what workers send: uploads wait in the queue, and `ci-insights doctor` says why',
    example: true,
  }),
});

interface Readiness {
  /** The stores, and whether the process means to keep serving. */
  probes: Probes;
  /** Whether ClickHouse takes what is to be stored. */
  isStoring(): Promise<boolean>;
  /** Whether a process that cannot store is not ready: a worker. An API still reads, and takes uploads into the queue. */
  mustStore: boolean;
}

export const readinessOf = (db: Database, probes: Probes, mustStore = false): Readiness => ({
  probes,
  isStoring: () => isStoring(db),
  mustStore,
});

export function mountHealth(app: AnyElysia, http: Http, { probes, isStoring, mustStore }: Readiness): void {
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

  let asked: Promise<Answers> | undefined;
  mount(app, http, 'GET', '/healthz/ready', {
    operationId: 'getReadiness',
    isProbe: true,
    tag: TAG,
    summary: 'Whether the process can do its work',
    description:
      'Asks each store; 503 if one does not respond, and while the workers of the same service have not started. A process that only works, and has no API, also answers 503 while ClickHouse refuses what it stores.',
    access: 'public',
    responses: {
      200: { description: 'Every store responds, and the workers have started.', schema: readiness },
      503: {
        description: 'A store does not respond, or the workers have not started.',
        schema: readiness,
        example: { status: 'unavailable', stores: { clickhouse: false, postgres: true }, is_storing: true },
      },
    },
    handle: async () => {
      // A draining process reports not ready at once: probing stores can take seconds, and the balancer would keep sending.
      const own = probes[OWN_PROBE];
      if (own && !(await isUp(own)))
        return { status: 503, body: { status: 'unavailable', stores: { [OWN_PROBE]: false }, is_storing: true } };
      // Anyone may ask, so however many wait, each store is asked once.
      asked ??= answersOf(probes, isStoring).finally(() => {
        asked = undefined;
      });
      const { stores, is_storing } = await asked;
      const ready = Object.values(stores).every(Boolean) && (is_storing || !mustStore);
      return { status: ready ? 200 : 503, body: { status: ready ? 'ready' : 'unavailable', stores, is_storing } };
    },
  });
}

interface Answers {
  stores: Record<string, boolean>;
  is_storing: boolean;
}

async function answersOf(probes: Probes, isStoring: () => Promise<boolean>): Promise<Answers> {
  const answers = Object.entries(probes).map(async ([name, probe]) => [name, await isUp(probe)] as const);
  const stores: Record<string, boolean> = Object.fromEntries(await Promise.all(answers));
  // Without PostgreSQL it is not known, and the process is not ready anyway.
  return { stores, is_storing: stores.postgres === false || (await isUp(isStoring)) };
}
