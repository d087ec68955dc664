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

/** The other processes of the service, as the API asks for them. */
interface Others {
  metrics(): Promise<Metrics[]>;
  /** Whether the workers have started. The API starts before them, and is not ready until then. */
  areWorking(): boolean;
}

/** Returns when the API answers requests. Throws what kept it from starting. */
export async function startApiProcess(deps: Deps, others: Others): Promise<ApiProcess> {
  const { started, lost, stop, close } = await startPart(deps, {
    script: SCRIPT,
    environment: partEnvironment('api'),
    handlers: {
      metrics: async () => ({ value: await others.metrics() }),
      areWorking: async () => ({ value: others.areWorking() }),
    },
  });
  const { url } = started as Pick<Api, 'url'>;
  return { url, lost, stop, close };
}
