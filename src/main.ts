/** configuration → dependencies → app → listen → shutdown. */
import { buildApp } from './app.ts';
import type { Config } from './config.ts';
import { type Deps, openDeps } from './deps.ts';
import { ensureAdminKey } from './keys/admin-key.ts';
import { startWorkers } from '../workers/main.ts';

/** How long requests and jobs in hand may take to finish after SIGTERM. */
const SHUTDOWN_MS_MAX = 25_000;

export interface Service {
  /** Where it listens; undefined for a worker. */
  url: string | undefined;
  deps: Deps;
  /** Stops accepting, lets requests and jobs finish, flushes, closes the stores. */
  stop(): Promise<void>;
}

/** Starts what the configured role asks for, and returns when it is ready. */
export async function startService(config: Config): Promise<Service> {
  const deps = await openDeps(config);
  try {
    const app = config.role === 'worker' ? undefined : buildApp(deps).listen({ hostname: config.host, port: config.port });
    const workers = config.role === 'api' ? undefined : startWorkers(deps);
    const stop = async (): Promise<void> => {
      await app?.stop();
      await workers?.stop();
      await deps.close();
    };
    return { url: app?.server?.url.origin, deps, stop };
  } catch (error) {
    await deps.close();
    throw error;
  }
}
