/** How commands come by the stores. What they opened is closed again, whatever happens. */
import { readConfig } from '../config.ts';
import type { Deps, PostgresDeps } from '../deps.ts';
import { createLogger } from '../observability/log.ts';

/** A command says itself what goes wrong; connections that try again and again would drown it. */
const log = () => createLogger('fatal');

/** Everything. Refused with a sentence while a service runs on the same embedded stores. */
export async function withStores<T>(run: (deps: Deps) => Promise<T>): Promise<T> {
  // Loaded when needed: `--help` and `push` shall not wait for database drivers.
  const { openDeps } = await import('../deps.ts');
  return using(await openDeps(readConfig(), { log: log() }), run);
}

/** PostgreSQL only: works beside a running service, embedded or not. */
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
