/** Opens stores for a command, and closes them again whatever happens. */
import { readConfig } from '../config.ts';
import type { Deps, PostgresDeps } from '../deps.ts';
import { createLogger } from '../observability/log.ts';

/** A command reports its own failure; the log of connections that keep retrying would drown it. */
const log = () => createLogger('fatal');

/** Opens everything. Throws a UserError while a service runs on the same embedded stores. */
export async function withStores<T>(run: (deps: Deps) => Promise<T>, config = readConfig()): Promise<T> {
  // Loaded when needed: `--help` and `push` must not wait for database drivers.
  const { openDeps } = await import('../deps.ts');
  return using(await openDeps(config, { log: log() }), run);
}

/** Opens PostgreSQL only, which works beside a running service, embedded or not. */
export async function withPostgres<T>(run: (deps: PostgresDeps) => Promise<T>): Promise<T> {
  const { openPostgresDeps } = await import('../deps.ts');
  return using(await openPostgresDeps(readConfig(), { log: log() }), run);
}

async function using<D extends { close(): Promise<void> }, T>(deps: D, run: (deps: D) => Promise<T>): Promise<T> {
  try {
    return await run(deps);
  } finally {
    await deps.close();
  }
}
