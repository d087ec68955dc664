/** What the people who run the service look at: metrics, health, the queues. */
import { Elysia } from 'elysia';
import packageJson from '../../package.json' with { type: 'json' };
import type { Deps } from '../deps.ts';
import { UserError } from '../errors.ts';
import { createFallback, requestIdOf } from '../http/edge.ts';
import { type Feature, type Http, problemFor } from '../http/operation.ts';
import { setBuildInfo } from '../observability/registry.ts';
import { readBacklog } from '../postgres/backlog.ts';
import type { Probes } from '../probes.ts';
import { readQueueBacklog } from '../queue/backlog.ts';
import { jobKinds } from '../queue/kinds.ts';
import { mountBoard } from './board/routes.ts';
import { Sampler } from './gauges.ts';
import { mountHealth } from './health.ts';
import { mountMetrics } from './metrics.ts';

export interface Operations {
  /** What is mounted beside the interface. */
  features: readonly Feature[];
  /** The address of metrics and health, where they have one of their own. */
  url: string | undefined;
  stop(): Promise<void>;
}

/** `serving` says with the stores whether this process is ready. */
export function startOperations(deps: Deps, serving: Probes = {}): Operations {
  const { config, clock, postgres, clickhouse, queues, keys } = deps;
  setBuildInfo(packageJson.version, config.role);
  const opened = jobKinds.map(({ name }) => queues.queue(name));
  const probes: Probes = {
    clickhouse: () => clickhouse.ping(),
    postgres: () => postgres.ping(),
    queue: () => queues.ping(),
  };
  const sampler = new Sampler({
    probes,
    queues: Object.fromEntries(opened.map((queue) => [queue.name, () => readQueueBacklog(queue, clock.now())])),
    backlog: () => readBacklog(postgres.db, clock.now()),
  });
  const metrics: Feature = (app, http) => mountMetrics(app, http, () => sampler.refresh());
  const apart =
    config.metricsPort === undefined ? undefined : listen(deps, config.metricsPort, { ...probes, ...serving }, metrics);
  return {
    features: [...(apart === undefined ? [metrics] : []), (app, http) => mountBoard(app, http, keys, opened)],
    url: apart?.server?.url.origin,
    stop: async () => {
      await apart?.stop();
      await Promise.all(opened.map((queue) => queue.close()));
    },
  };
}

/** Metrics and health alone, on a port that need not be reachable from where clients are. */
function listen({ clock, log, config }: Deps, port: number, probes: Probes, metrics: Feature) {
  const http: Http = { clock, log, publicUrl: undefined, credentials: [], operations: [] };
  const app = new Elysia({ name: 'ci-insights operations' }).onError({ as: 'global' }, ({ request, code, error }) =>
    problemFor(code === 'NOT_FOUND' ? fallback(new URL(request.url).pathname) : error, log, requestIdOf(request)),
  );
  mountHealth(app, http, probes);
  metrics(app, http);
  const fallback = createFallback(app.routes);
  try {
    return app.listen({ hostname: config.host, port, reusePort: false });
  } catch (cause) {
    throw new UserError(
      `Metrics cannot be shown at ${config.host}:${port}: ${(cause as Error).message}. Each process needs a METRICS_PORT of its own.`,
      { cause },
    );
  }
}
