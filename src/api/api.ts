/** The API of the service: monitoring, parsers and the port. */
import { availableParallelism } from 'node:os';
import { Confirmations } from '../access/confirmation.ts';
import { KeyCredentials, SessionCredentials } from '../access/credential.ts';
import { hostCredentials } from '../access/host-credentials.ts';
import { type AppDeps, buildApp, listenAt } from '../app.ts';
import { availableMemory } from '../container-memory.ts';
import type { Deps } from '../deps.ts';
import { accessTokensOf, identityOf, serviceFeatures } from '../features.ts';
import { ImportRunner, importsOf } from '../imports/runner.ts';
import { parsersFor, tooSmallFor } from '../ingest/parsing/capacity.ts';
import { ParserPool } from '../ingest/parsing/pool.ts';
import type { Parse } from '../ingest/parsing/task.ts';
import type { Metrics } from '../observability/registry.ts';
import { Draining } from '../operate/draining.ts';
import { type Monitoring, startMonitoring } from '../operate/monitoring.ts';
import type { Probes } from '../probes.ts';

export interface Api {
  url: string | undefined;
  /** Stops accepting requests, lets those that were accepted finish. Health and metrics still answer on their own port. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** The other processes of the service. */
interface Others {
  metrics(): Promise<Metrics[]>;
  /** Answers that it waits for before it is ready. */
  probes: Probes;
}

export async function startApi(deps: Deps, others?: Others): Promise<Api> {
  const { config, log } = deps;
  const draining = new Draining();
  const probes = { ...deps.probes, ...others?.probes, ...draining.probes };
  const monitoring = startMonitoring(deps, probes, others?.metrics);
  const parsers = config.httpIngest ? parsersOf(deps) : undefined;
  const imports = new ImportRunner({ store: importsOf(deps), clock: deps.clock, log, dataDir: config.dataDir });
  try {
    const app = await listen(deps, monitoring, probes, { parse: parsers?.parse, imports });
    void deps.notifications.connect();
    return {
      url: app.server?.url.origin,
      stop: async () => {
        draining.start(app);
        await imports.stop();
        if (config.drainMs > 0) await Bun.sleep(config.drainMs);
        await app.stop();
        await parsers?.close();
      },
      close: () => monitoring.stop(),
    };
  } catch (error) {
    await parsers?.close();
    await monitoring.stop();
    throw error;
  }
}

function parsersOf({ config, log }: Deps): ParserPool {
  const memoryBytes = availableMemory();
  const capacity = parsersFor({ memoryBytes, processors: availableParallelism(), parsers: config.parsers });
  const warning = tooSmallFor(capacity, memoryBytes);
  if (warning !== undefined) log.warn(capacity, warning);
  return new ParserPool({ log, ...capacity });
}

async function listen(
  deps: Deps,
  monitoring: Monitoring,
  probes: Probes,
  beside: { parse: Parse | undefined; imports: ImportRunner },
) {
  const { config, clock, log } = deps;
  const app = buildApp({
    clock,
    log,
    publicUrl: config.publicUrl,
    credentials: [
      ...hostCredentials(config.hosts, deps),
      new KeyCredentials(deps.keys),
      beside.imports,
      ...accessTokensOf(clock, config.oidc),
    ],
    sessions: new SessionCredentials(
      deps.sessions,
      new Confirmations({ clock, log, sessions: deps.sessions, identity: identityOf(clock, config.oidc) }),
    ),
    rateLimit: await rateLimitOf(deps),
    features: serviceFeatures(deps, probes, monitoring, beside),
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
  beside.imports.address = addressWithin(app.server?.url);
  return app;
}

/** Where a process of this machine reaches it. */
const addressWithin = (url: URL | undefined): string | undefined =>
  url &&
  `${url.protocol}//${['0.0.0.0', '[::]'].includes(url.hostname) ? '127.0.0.1' : url.hostname}:${url.port || 80}`;

/** Loaded only if there is a limit. */
async function rateLimitOf({ config, queues, log }: Deps): Promise<AppDeps['rateLimit']> {
  const { rateLimitPerMinute: requestsMax } = config;
  if (requestsMax === undefined) return undefined;
  const { KeyRateLimit } = await import('../access/key-rate-limit.ts');
  return new KeyRateLimit({ requestsMax, redis: queues.redis, log });
}

/** The server's limit is this far above ours, so that clients get our error message and not a closed connection. */
const BODY_SLACK_BYTES = 64 * 1024 * 1024;
