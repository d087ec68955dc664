/** configuration → dependencies → app → listen → shutdown. */
import packageJson from '../package.json' with { type: 'json' };
import { startWorkers } from '../workers/main.ts';
import { adminKeyFile, ensureAdminKey } from './access/admin-key.ts';
import { hostCredentials } from './access/host-credentials.ts';
import { buildApp } from './app.ts';
import type { Config } from './config.ts';
import { type Deps, type Overrides, openDeps } from './deps.ts';
import { UserError } from './errors.ts';
import type { Feature } from './http/operation.ts';
import type { IngestDeps } from './ingest/gateway.ts';
import { mountIngest } from './ingest/routes.ts';
import { mountWebhooks, type WebhookDeps } from './ingest/webhooks/routes.ts';
import { startTracing } from './observability/tracing.ts';
import { Draining } from './operate/draining.ts';
import { type Operations, startOperations } from './operate/operations.ts';
import type { Probes } from './probes.ts';
import { prEvents, prEventsJobId } from './queue/pr-events.ts';
import { testRuns } from './queue/test-runs.ts';

/** How long requests and jobs in hand may take to finish after SIGTERM; below what orchestrators wait before SIGKILL. */
const SHUTDOWN_MS_MAX = 25_000;

export interface Service {
  deps: Deps;
  /** Where it answers; undefined for a worker. */
  url: string | undefined;
  /** Where metrics and health are, when they have a port of their own. */
  operationsUrl: string | undefined;
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
  let operations: Operations | undefined;
  const draining = new Draining();
  try {
    operations = startOperations(deps, draining.probes);
    const adminKey = config.databaseUrl ? undefined : await ensureAdminKey(config.dataDir, deps.keys);
    const workers = config.role === 'api' ? undefined : startWorkers(deps);
    const app = config.role === 'worker' ? undefined : listen(deps, operations.features, draining.probes);
    void deps.notifications.connect();
    return {
      deps,
      url: app?.server?.url.origin,
      operationsUrl: operations.url,
      adminKey,
      stop: async () => {
        draining.start(app);
        if (app && config.drainMs > 0) await Bun.sleep(config.drainMs);
        await app?.stop();
        await workers?.stop();
        await operations?.stop();
        await stopTracing?.();
        await deps.close();
      },
    };
  } catch (error) {
    await operations?.stop();
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

function listen(deps: Deps, operations: readonly Feature[], serving: Probes) {
  const { config, queues } = deps;
  const app = buildApp({
    ...deps,
    publicUrl: config.publicUrl,
    credentials: hostCredentials(config.githubApiUrl, deps),
    probes: { queue: () => queues.ping(), ...serving },
    features: [...operations, ...(config.httpIngest ? ingestion(deps) : [])],
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

const ingestion = (deps: Deps): Feature[] => [
  (app, http) => mountIngest(app, http, gatewayOf(deps)),
  (app, http) => mountWebhooks(app, http, webhooksOf(deps)),
];

/** The server's own limit stands a little above ours, so that a client reads our sentence and not a closed connection. */
const BODY_SLACK_BYTES = 64 * 1024 * 1024;

/** What the gateway uses of the rest: it only enqueues. */
export const gatewayOf = ({ clock, log, config, producers, receipts }: Deps): IngestDeps => ({
  clock,
  log,
  limits: { sentBytesMax: config.compressedBytesMax, unpackedBytesMax: config.unpackedBytesMax },
  enqueue: (jobs) => producers.of(testRuns).addMany(jobs),
  receipt: ({ owner, name }, uploadId) => receipts.find(owner, name, uploadId),
});

/** What the host's webhooks use of the rest: they only enqueue, too. */
export const webhooksOf = ({ log, config, producers }: Deps): WebhookDeps => ({
  log,
  secrets: config.webhookSecrets,
  limits: { sentBytesMax: config.compressedBytesMax, unpackedBytesMax: config.unpackedBytesMax },
  enqueueEvents: (id, job) => producers.of(prEvents).add(job, prEventsJobId(id)),
});

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
