/** From configuration to a running service: dependencies, workers, app, listen, shutdown. */
import packageJson from '../package.json' with { type: 'json' };
import { startWorkers } from '../workers/main.ts';
import { adminKeyFile, ensureAdminKey } from './access/admin-key.ts';
import { KeyCredentials } from './access/credential.ts';
import { hostCredentials } from './access/host-credentials.ts';
import { type AppDeps, buildApp, listenAt } from './app.ts';
import { type Config, secretsOf } from './config.ts';
import { type Deps, type Overrides, openDeps } from './deps.ts';
import { serviceFeatures } from './features.ts';
import { ParserPool } from './ingest/parsing/pool.ts';
import { createLogger } from './observability/log.ts';
import { logProcessOutput } from './observability/process-output.ts';
import { startTracing } from './observability/tracing.ts';
import { Draining } from './operate/draining.ts';
import { type Monitoring, startMonitoring } from './operate/monitoring.ts';
import type { Probes } from './probes.ts';

/** How long requests and jobs may take to finish after SIGTERM: less than orchestrators wait before SIGKILL. */
const SHUTDOWN_MS_MAX = 25_000;

interface Service {
  deps: Deps;
  /** Where the API listens; undefined for a worker. */
  url: string | undefined;
  /** Where metrics and health are, if they have a separate port. */
  monitoringUrl: string | undefined;
  /** The admin key, if this start created it. */
  adminKey: string | undefined;
  /** Stops accepting requests, lets requests and jobs finish, closes the stores. */
  stop(): Promise<void>;
}

/** Starts what the configured role needs, and returns when it is ready. */
async function startService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const deps = await openDeps(config, overrides);
  const { tracing } = config;
  const stopTracing =
    tracing && (await startTracing({ ...tracing, version: packageJson.version, onLost: lostSpans(deps) }));
  let monitoring: Monitoring | undefined;
  let parsers: ParserPool | undefined;
  const draining = new Draining();
  const probes = { ...deps.probes, ...draining.probes };
  try {
    monitoring = startMonitoring(deps, probes);
    const adminKey = config.databaseUrl ? undefined : await ensureAdminKey(config.dataDir, deps);
    if (config.role !== 'worker' && config.httpIngest) parsers = new ParserPool({ log: deps.log });
    const app = config.role === 'worker' ? undefined : await listen(deps, monitoring, probes, parsers);
    // Last: workers hold connections and jobs, and a start that fails (the port is taken) leaves nothing running.
    const workers = config.role === 'api' ? undefined : startWorkers(deps);
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
        await parsers?.close();
        await workers?.stop();
        await monitoring?.stop();
        await stopTracing?.();
        await deps.close();
      },
    };
  } catch (error) {
    await parsers?.close();
    await monitoring?.stop();
    await stopTracing?.();
    await deps.close();
    throw error;
  }
}

/** Losing traces is logged and never fails anything else. */
const lostSpans =
  ({ log }: Deps) =>
  (error: Error | undefined): void =>
    log.warn({ err: error }, 'cannot send traces; the service works without them');

async function listen(deps: Deps, monitoring: Monitoring, probes: Probes, parsers: ParserPool | undefined) {
  const { config, clock, log } = deps;
  const app = buildApp({
    clock,
    log,
    publicUrl: config.publicUrl,
    credentials: [...hostCredentials(config.githubApiUrl, deps), new KeyCredentials(deps.keys)],
    rateLimit: await rateLimitOf(deps),
    features: serviceFeatures(deps, probes, monitoring, parsers?.parse),
  });
  listenAt(
    app,
    {
      hostname: config.host,
      port: config.port,
      // Processes that share their stores may share a port. Otherwise a second process is a mistake and must fail.
      reusePort: config.databaseUrl !== undefined && config.clickhouseUrl !== undefined,
      maxRequestBodySize: config.compressedBytesMax + BODY_SLACK_BYTES,
    },
    'PORT',
  );
  return app;
}

/** Loaded only if there is a limit. */
async function rateLimitOf({ config, queues, log }: Deps): Promise<AppDeps['rateLimit']> {
  const { rateLimitPerMinute: requestsMax } = config;
  if (requestsMax === undefined) return undefined;
  const { KeyRateLimit } = await import('./access/key-rate-limit.ts');
  return new KeyRateLimit({ requestsMax, redis: queues.redis, log });
}

/** The server's limit is this far above ours, so that clients get our error message and not a closed connection. */
const BODY_SLACK_BYTES = 64 * 1024 * 1024;

/** Runs the service until SIGTERM or SIGINT, then ends the process. */
export async function serve(config: Config): Promise<void> {
  const log = createLogger(config.logLevel, undefined, secretsOf(config));
  logProcessOutput(log);
  const service = await startService(config, { log });
  // Before it says that it is ready: a supervisor that reads that may stop it at once.
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, resolve);
  });
  process.stdout.write(`${readyLine(service)}\n`);
  const signal = await signalled;
  service.deps.log.info({ signal }, 'stopping; finishing in-flight work');
  const deadline = setTimeout(() => {
    service.deps.log.error('in-flight work did not finish in time; the next start will finish it');
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
  // Where no person reads along, standard output ends in a log, and a log has no secrets.
  const isShown = adminKey !== undefined && process.stdout.isTTY === true;
  const made = isShown ? `\nThe admin key, shown only once: ${adminKey}` : '';
  return `ci-insights is ready at ${address} · docs at ${address}/docs${key}${made}`;
}
