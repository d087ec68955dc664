/** Starts the workers as a separate process, and stops them. */
import { fileURLToPath } from 'node:url';
import type { Deps } from '../src/deps.ts';
import type { Metrics } from '../src/observability/registry.ts';
import { type Part, startPart } from '../src/parts/parent.ts';
import { partEnvironment } from '../src/runtime.ts';

const SCRIPT = fileURLToPath(new URL('./process.ts', import.meta.url));

export interface WorkersProcess extends Pick<Part, 'lost' | 'stop' | 'close'> {
  metrics(): Promise<Metrics>;
}

/** Returns when they take jobs. Throws what kept them from starting. */
export async function startWorkersProcess(deps: Deps): Promise<WorkersProcess> {
  const { channel, lost, stop, close } = await startPart(deps, {
    script: SCRIPT,
    environment: partEnvironment('workers'),
    hasBackground: true,
  });
  return { lost, stop, close, metrics: async () => (await channel.call('metrics')).value as Metrics };
}
