/** Pages for operators: metrics, health and the queue board, beside the API or on their own port. */
import packageJson from '../../package.json' with { type: 'json' };
import { buildApp, listenAt } from '../app.ts';
import type { Deps } from '../deps.ts';
import type { Feature } from '../http/operation.ts';
import { type Metrics, setBuildInfo } from '../observability/registry.ts';
import { readBacklog } from '../postgres/backlog.ts';
import { readStoredRate } from '../postgres/stored-rate.ts';
import type { Probes } from '../probes.ts';
import { readQueueBacklog } from '../queue/backlog.ts';
import { jobKinds } from '../queue/kinds.ts';
import { mountBoard } from './board/routes.ts';
import { Sampler } from './gauges.ts';
import { mountHealth, readinessOf } from './health.ts';
import { mountMetrics } from './metrics.ts';
import { mountServiceState } from './service-state.ts';
import { readStoreSizes } from './store-sizes.ts';

export interface Monitoring {
  /** Features that the API's app mounts. */
  features: readonly Feature[];
  /** Where metrics and health are, if they have their own port. */
  url: string | undefined;
  stop(): Promise<void>;
}

/**
 * @param readiness decides whether this process is ready: the stores, and whether it means to keep serving
 * @param others reads the metrics of the other processes of the service, if there are any
 */
export function startMonitoring(
  deps: Deps,
  readiness: Probes = deps.probes,
  others?: () => Promise<Metrics[]>,
): Monitoring {
  const { config, clock, postgres, queues, keys, probes } = deps;
  setBuildInfo(packageJson.version, config.role);
  const opened = jobKinds.map(({ name }) => queues.queue(name));
  const sampler = new Sampler({
    probes,
    queues: Object.fromEntries(opened.map((queue) => [queue.name, () => readQueueBacklog(queue, clock.now())])),
    backlog: () => readBacklog(postgres.db, clock.now()),
    sizes: () => readStoreSizes(deps.clickhouse, postgres.db, embeddedFolderOf(config)),
  });
  const metrics: Feature = (app, http) => mountMetrics(app, http, async () => void (await sampler.refresh()), others);
  const health: Feature = (app, http) =>
    mountHealth(app, http, readinessOf(postgres.db, readiness, config.role === 'worker'));
  const board: Feature = (app, http) => mountBoard(app, http, keys, opened);
  const state: Feature = (app, http) =>
    mountServiceState(app, http, { reading: () => sampler.refresh(), rate: () => readStoredRate(postgres.db) });
  const server = config.metricsPort === undefined ? undefined : listen(deps, config.metricsPort, [health, metrics]);
  return {
    features: server ? [state, board] : [metrics, state, board],
    url: server?.server?.url.origin,
    stop: async () => {
      await server?.stop();
      await Promise.all(opened.map((queue) => queue.close()));
    },
  };
}

/** Undefined if no store is embedded: then nothing is in the folder. */
const embeddedFolderOf = ({ databaseUrl, clickhouseUrl, dataDir }: Deps['config']): string | undefined =>
  databaseUrl && clickhouseUrl ? undefined : dataDir;

/** A port that clients need not reach. */
function listen({ clock, log, config }: Deps, port: number, features: readonly Feature[]) {
  const app = buildApp({ clock, log, publicUrl: undefined, credentials: [], features });
  listenAt(app, { hostname: config.host, port, reusePort: false }, 'METRICS_PORT');
  return app;
}
