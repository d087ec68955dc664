/** Starts the workers as a separate process, and stops them. */
import { fileURLToPath } from 'node:url';
import type { Deps } from '../src/deps.ts';
import { type Part, startPart } from '../src/parts/parent.ts';
import { partEnvironment } from '../src/runtime.ts';

const SCRIPT = fileURLToPath(new URL('./process.ts', import.meta.url));

/** Returns when they take jobs. Throws what kept them from starting. */
export const startWorkersProcess = (deps: Deps): Promise<Part> =>
  startPart(deps, { script: SCRIPT, environment: partEnvironment('workers') });
