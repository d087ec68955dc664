/** Starts the API as a separate process, and stops it. */
import { fileURLToPath } from 'node:url';
import type { Deps } from '../deps.ts';
import type { Metrics } from '../observability/registry.ts';
import { startPart } from '../parts/parent.ts';
import { partEnvironment } from '../runtime.ts';
import type { Api } from './api.ts';

const SCRIPT = fileURLToPath(new URL('./process.ts', import.meta.url));

export interface ApiProcess extends Api {
  /** Resolves when the process ends without having been stopped. */
  lost: Promise<void>;
}

/**
 * Returns when the API answers requests. Throws what kept it from starting.
 *
 * @param others reads the metrics of the other processes of the service
 */
export async function startApiProcess(deps: Deps, others: () => Promise<Metrics[]>): Promise<ApiProcess> {
  const { started, lost, stop, close } = await startPart(deps, {
    script: SCRIPT,
    environment: partEnvironment('api'),
    handlers: { metrics: async () => ({ value: await others() }) },
  });
  const { url } = started as Pick<Api, 'url'>;
  return { url, lost, stop, close };
}
