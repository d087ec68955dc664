/** configuration → dependencies → app → listen → shutdown. */
import packageJson from '../package.json' with { type: 'json' };
import { startWorkers } from '../workers/main.ts';
import { adminKeyFile, ensureAdminKey } from './access/admin-key.ts';
import { KeyCredentials } from './access/credential.ts';
import { hostCredentials } from './access/host-credentials.ts';
import { buildApp } from './app.ts';
import type { Config } from './config.ts';
import { type Deps, type Overrides, openDeps } from './deps.ts';
import { UserError } from './errors.ts';
import { coreFeatures, docs, ingestFeatures } from './features.ts';
import { startTracing } from './observability/tracing.ts';
import { Draining } from './operate/draining.ts';
import { type Monitoring, startMonitoring } from './operate/monitoring.ts';
import type { Probes } from './probes.ts';

/** How long requests and jobs in hand may take to finish after SIGTERM; below what orchestrators wait before SIGKILL. */
const SHUTDOWN_MS_MAX = 25_000;

export interface Service {
  deps: Deps;
  /** Where it answers; undefined for a worker. */
  url: string | undefined;
  /** Where metrics and health are, when they have a port of their own. */
  monitoringUrl: string | undefined;
  /** The admin key, when this start made one. */
  adminKey: string | undefined;
  /** Stops accepting, lets requests and jobs finish, closes the stores. */
  stop(): Promise<void>;
}

/** Starts what the configured role asks for and returns when it is ready. */
export async function startService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const deps = await openDeps(config, overrides);
  const { tracing } = config;
  const stopTracing =
    tracing && (await startTracing({ ...tracing, version: packageJson.version, onLost: lostSpans(deps) }));
  let monitoring: Monitoring | undefined;
  const draining = new Draining();
  const probes = { ...deps.probes, ...draining.probes };
  try {
    monitoring = startMonitoring(deps, probes);
    const adminKey = config.databaseUrl ? undefined : await ensureAdminKey(config.dataDir, deps.keys);
    const workers = config.role === 'api' ? undefined : startWorkers(deps);
    const app = config.role === 'worker' ? undefined : listen(deps, monitoring, probes);
    void deps.notifications.connect();
    return {
      deps,
      url: app?.server?.url.origin,
      monitoringUrl: monitoring.url,
      adminKey,
      stop: async () => {
        draining.start(app);
        if (app && config.drainMs > 0) await Bun.sleep(config.drainMs);
        await app?.stop();
        await workers?.stop();
        await monitoring?.stop();
        await stopTracing?.();
        await deps.close();
      },
    };
  } catch (error) {
    await monitoring?.stop();
    await stopTracing?.();
    await deps.close();
    throw error;
  }
}

/** Traces are an aid: what becomes of them is said, and is never a failure of anything else. */
const lostSpans =
  ({ log }: Deps) =>
  (error: Error | undefined): void =>
    log.warn({ err: error }, 'traces could not be sent; the service works on without them');

function listen(deps: Deps, monitoring: Monitoring, probes: Probes) {
  const { config, clock, log } = deps;
  const app = buildApp({
    clock,
    log,
    publicUrl: config.publicUrl,
    credentials: [...hostCredentials(config.githubApiUrl, deps), new KeyCredentials(deps.keys)],
    features: [
      ...coreFeatures({ ...deps, probes }),
      ...monitoring.features,
      ...(config.httpIngest ? ingestFeatures(deps) : []),
      docs,
    ],
  });
  try {
    return app.listen({
      hostname: config.host,
      port: config.port,
      // Processes that share their stores may share a port; anywhere else a second one is a mistake to hear of.
      reusePort: config.databaseUrl !== undefined && config.clickhouseUrl !== undefined,
      maxRequestBodySize: config.compressedBytesMax + BODY_SLACK_BYTES,
    });
  } catch (cause) {
    throw new UserError(
      `The service cannot listen on ${config.host}:${config.port}: ${(cause as Error).message}. Set another PORT or HOST.`,
      { cause },
    );
  }
}

/** The server's own limit stands a little above ours, so that a client reads our sentence and not a closed connection. */
const BODY_SLACK_BYTES = 64 * 1024 * 1024;

/** Runs the service until SIGTERM or SIGINT; the process ends with it. */
export async function serve(config: Config): Promise<void> {
  const service = await startService(config);
  process.stdout.write(`${readyLine(service)}\n`);
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, resolve);
  });
  service.deps.log.info({ signal }, 'stopping: what is in hand is finished first');
  const deadline = setTimeout(() => {
    service.deps.log.error('what was in hand did not finish in time; it is finished by the next start');
    process.exit(1);
  }, SHUTDOWN_MS_MAX + config.drainMs);
  await service.stop();
  clearTimeout(deadline);
  process.exit(0);
}

function readyLine({ url, adminKey, deps: { config } }: Service): string {
  if (url === undefined) return 'ci-insights worker is ready.';
  const address = config.publicUrl ?? url;
  const key = config.databaseUrl ? '' : ` · admin key in ${adminKeyFile(config.dataDir)}`;
  const made = adminKey === undefined ? '' : `\nThe admin key, shown this once: ${adminKey}`;
  return `ci-insights is ready at ${address} · docs at ${address}/docs${key}${made}`;
}
