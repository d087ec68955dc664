/**
 * Whether the process is alive and whether it is ready: it is restarted on the first, and taken out of rotation on the
 * second.
 */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { version } from '../../package.json' with { type: 'json' };
import { STORE_TITLES, type StoreName } from '../errors.ts';
import { type Http, mount } from '../http/operation.ts';
import type { Database } from '../postgres/client.ts';
import { isStoring } from '../postgres/refused-blocks.ts';
import { isUp, type Probes } from '../probes.ts';

const TAG = 'Service';
/** The probe of the process itself, whether it means to keep serving. It is asked before the stores. */
const OWN_PROBE = 'service';

const liveness = z.object({
  status: z.literal('alive').meta({ example: 'alive' }),
  version: z.string().meta({ description: 'Of the service that this process runs', example: '1.0.0' }),
});

const readiness = z.object({
  status: z.enum(['ready', 'unavailable']),
  stores: z.record(z.string(), z.boolean()).meta({ example: { clickhouse: true, postgres: true } }),
  is_storing: z.boolean().meta({
    description:
      'False if ClickHouse responds, but has refused for a minute to store what workers send: uploads wait in the queue, and `ci-insights doctor` says why',
    example: true,
  }),
  reason: z.string().nullable().meta({ description: 'A sentence: why it is not ready; null if it is', example: null }),
});

interface Readiness {
  /** The stores, and whether the process means to keep serving. */
  probes: Probes;
  /** Whether ClickHouse takes what is to be stored. */
  isStoring(): Promise<boolean>;
  /** Whether a process that cannot store is not ready: a worker. An API still reads, and takes uploads into the queue. */
  mustStore: boolean;
  /** A sentence if the process has not started yet: then nothing else is asked. */
  starting?(): string;
}

export const readinessOf = (db: Database, probes: Probes, mustStore = false): Readiness => ({
  probes,
  isStoring: () => isStoring(db),
  mustStore,
});

export function mountHealth(app: AnyElysia, http: Http, { probes, isStoring, mustStore, starting }: Readiness): void {
  mount(app, http, 'GET', '/healthz/live', {
    operationId: 'getLiveness',
    isProbe: true,
    tag: TAG,
    summary: 'Whether the process is alive',
    description: 'Does not ask the stores: a store that is down is no reason to restart the process.',
    access: 'public',
    responses: {
      200: { description: 'Alive.', schema: liveness },
    },
    handle: () => ({ body: { status: 'alive', version } }),
  });

  let asked: Promise<Answers> | undefined;
  mount(app, http, 'GET', '/healthz/ready', {
    operationId: 'getReadiness',
    isProbe: true,
    tag: TAG,
    summary: 'Whether the process can do its work',
    description:
      'Asks each store; 503 if one does not respond, while the process starts and migrates, and while the workers of the same service have not started. `reason` says which. A process that only works, and has no API, also answers 503 while ClickHouse refuses what it stores.',
    access: 'public',
    responses: {
      200: { description: 'Every store responds, and the workers have started.', schema: readiness },
      503: {
        description: 'A store does not respond, or the process or its workers have not started.',
        schema: readiness,
        example: {
          status: 'unavailable',
          stores: { clickhouse: false, postgres: true },
          is_storing: true,
          reason: 'ClickHouse is not responding.',
        },
      },
    },
    handle: async () => {
      // A draining process reports not ready at once: probing stores can take seconds, and the balancer would keep sending.
      const own = probes[OWN_PROBE];
      const isOut = starting !== undefined || (own && !(await isUp(own)));
      if (isOut) {
        const reason = starting?.() ?? 'The process is about to end.';
        return {
          status: 503,
          body: { status: 'unavailable', stores: { [OWN_PROBE]: false }, is_storing: true, reason },
        };
      }
      // Anyone may ask, so however many wait, each store is asked once.
      asked ??= answersOf(probes, isStoring).finally(() => {
        asked = undefined;
      });
      const { stores, is_storing } = await asked;
      const reason = unreadyReason(stores, is_storing || !mustStore);
      const [status, word] = reason === null ? ([200, 'ready'] as const) : ([503, 'unavailable'] as const);
      return { status, body: { status: word, stores, is_storing, reason } };
    },
  });
}

/** Names the first that is down. */
function unreadyReason(stores: Readonly<Record<string, boolean>>, storesEnough: boolean): string | null {
  const down = Object.keys(stores).find((name) => !stores[name]);
  if (down === 'workers') return 'The workers have not started.';
  if (down !== undefined) return `${isStore(down) ? STORE_TITLES[down] : down} is not responding.`;
  return storesEnough ? null : 'ClickHouse refuses to store what workers send: `ci-insights doctor` says why.';
}

const isStore = (name: string): name is StoreName => Object.hasOwn(STORE_TITLES, name);

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
