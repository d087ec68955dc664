/** From configuration to a running service: dependencies, workers, app, listen, shutdown. */
import packageJson from '../package.json' with { type: 'json' };
import { startWorkersProcess } from '../workers/child.ts';
import { startWorkers } from '../workers/main.ts';
import { adminKeyFile, ensureAdminKey, type FirstKey } from './access/admin-key.ts';
import { LINK_MINUTES, signInLink } from './access/sign-in-link.ts';
import { type Api, startApi } from './api/api.ts';
import { type ApiProcess, startApiProcess } from './api/child.ts';
import { type Config, type Role, secretsOf } from './config.ts';
import { type Deps, openDeps } from './deps.ts';
import { createLogger, type Logger } from './observability/log.ts';
import { logProcessOutput } from './observability/process-output.ts';
import { type Metrics, registry } from './observability/registry.ts';
import { startTracing } from './observability/tracing.ts';
import { Draining } from './operate/draining.ts';
import { startMonitoring } from './operate/monitoring.ts';
import { startStarting } from './operate/starting.ts';
import type { Part } from './parts/parent.ts';
import { NICENESS, yieldThisProcess } from './processes.ts';
import { announceAddress } from './service-lock.ts';

/** How long requests and jobs may take to finish after SIGTERM: less than orchestrators wait before SIGKILL. */
const SHUTDOWN_MS_MAX = 25_000;

interface Service {
  deps: Deps;
  /** Where the API listens; undefined for a worker. */
  url: string | undefined;
  /** The admin key, if this start made it. */
  adminKey: FirstKey | undefined;
  /** Resolves when a part of the service has ended that it cannot do without: which one. */
  lost: Promise<string>;
  /** Stops accepting requests, lets requests and jobs finish, closes the stores. */
  stop(): Promise<void>;
}

/** Starts what the configured role needs, and returns when it is ready. */
async function startService(config: Config, log: Logger): Promise<Service> {
  const deps = await openStores(config, log);
  const { tracing } = config;
  const stopTracing =
    tracing && (await startTracing({ ...tracing, version: packageJson.version, onLost: lostSpans(deps) }));
  const parts: Parts = { front: undefined, workers: undefined };
  const close = async (): Promise<void> => {
    await parts.front?.stop();
    await parts.workers?.stop();
    await parts.front?.close();
    await parts.workers?.close?.();
    await stopTracing?.();
    await deps.close();
  };
  try {
    const adminKey = config.databaseUrl ? undefined : await ensureAdminKey(config.dataDir, deps);
    const front = await FRONTS[config.role](deps, parts);
    parts.front = front;
    if (front.url && (!config.databaseUrl || !config.clickhouseUrl)) announceAddress(config.dataDir, front.url);
    // Last: workers hold connections and jobs, and a start that fails (the port is taken) leaves nothing running.
    parts.workers = await WORKERS[config.role](deps);
    return { deps, url: front.url, adminKey, lost: lostOf(parts), stop: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens and migrates the stores, and answers probes meanwhile. */
async function openStores(config: Config, log: Logger): Promise<Deps> {
  const starting = startStarting(config, log);
  try {
    return await openDeps(config, { log, onStep: starting.step });
  } finally {
    await starting.stop();
  }
}

/** The API, in this process or in a part. */
type Front = Omit<Api, 'url'> & Partial<ApiProcess>;
type Workers = Pick<Part, 'stop'> & Partial<Part>;

interface Parts {
  front: Front | undefined;
  workers: Workers | undefined;
}

/** With workers in the same process, each of their steps would delay every answer. */
const FRONTS: Record<Role, (deps: Deps, parts: Parts) => Promise<Front>> = {
  all: async (deps, parts) => {
    const api = await startApiProcess(deps, {
      metrics: () => metricsBeside(parts),
      areWorking: () => parts.workers !== undefined,
    });
    // After the API was started, and before the workers are, which yield as well.
    yieldThisProcess(NICENESS.workers);
    return api;
  },
  api: (deps) => startApi(deps),
  worker: startWorkerMonitoring,
};

const WORKERS: Record<Role, (deps: Deps) => Promise<Workers | undefined>> = {
  all: startWorkersProcess,
  api: async () => undefined,
  worker: async (deps) => {
    const workers = startWorkers(deps);
    void deps.notifications.connect();
    return workers;
  },
};

/** Metrics of this process, and of the workers while they run. */
async function metricsBeside({ workers }: Parts): Promise<Metrics[]> {
  const ofWorkers = await workers?.metrics?.().catch(() => undefined);
  return [await registry.getMetricsAsJSON(), ...(ofWorkers ? [ofWorkers] : [])];
}

function lostOf({ front, workers }: Parts): Promise<string> {
  const never = new Promise<never>(() => {});
  const lost = (part: Promise<void> | undefined, what: string) => part?.then(() => what) ?? never;
  return Promise.race([
    lost(front?.lost, 'the process that answers requests'),
    lost(workers?.lost, 'the process of the workers'),
  ]);
}

/** A worker answers on METRICS_PORT only. */
async function startWorkerMonitoring(deps: Deps): Promise<Front> {
  const draining = new Draining();
  const monitoring = startMonitoring(deps, { ...deps.probes, ...draining.probes });
  return {
    stop: async () => draining.start(undefined),
    close: () => monitoring.stop(),
  };
}

/** Losing traces is logged and never fails anything else. */
const lostSpans =
  ({ log }: Deps) =>
  (error: Error | undefined): void =>
    log.warn({ err: error }, 'cannot send traces; the service works without them');

/** Runs the service until SIGTERM or SIGINT, then ends the process. */
export async function serve(config: Config): Promise<void> {
  const log = createLogger(config.logLevel, undefined, secretsOf(config));
  logProcessOutput(log);
  const service = await startService(config, log);
  // Before it says that it is ready: a supervisor that reads that may stop it at once.
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, resolve);
  });
  process.stdout.write(`${readyLine(service)}\n${await firstLink(service)}`);
  const cause = await Promise.race([signalled.then((signal) => ({ signal })), service.lost.then((lost) => ({ lost }))]);
  if ('signal' in cause) service.deps.log.info(cause, 'stopping; finishing in-flight work');
  else service.deps.log.fatal(`${cause.lost} has ended; stopping, for a supervisor to start again`);
  const deadline = setTimeout(() => {
    service.deps.log.error('in-flight work did not finish in time; the next start will finish it');
    process.exit(1);
  }, SHUTDOWN_MS_MAX + config.drainMs);
  await service.stop();
  clearTimeout(deadline);
  process.exit('signal' in cause ? 0 : 1);
}

function readyLine({ url, deps: { config } }: Service): string {
  if (url === undefined) return 'ci-insights worker is ready.';
  const address = config.publicUrl ?? url;
  const key = config.databaseUrl ? '' : ` · admin key in ${adminKeyFile(config.dataDir)}`;
  return `ci-insights is ready at ${address} · docs at ${address}/docs${key}`;
}

/**
 * At a first start: a link that signs in the person who started it, with the key that was made. Not where no person reads
 * along, because standard output ends in a log there, and a log has no secrets; nor where people sign in with a provider.
 */
async function firstLink({ url, adminKey, deps: { config, sessions } }: Service): Promise<string> {
  if (url === undefined || adminKey === undefined || config.oidc || process.stdout.isTTY !== true) return '';
  const link = await signInLink(sessions, config.publicUrl ?? url, { keyId: adminKey.id, actor: adminKey.name });
  return `\nOpen this to begin. It signs you in, once, within ${LINK_MINUTES} minutes:\n\n  ${link}\n\n`;
}
