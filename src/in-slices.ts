/** Long computations in slices, between which the process does what else waits. */
import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 10;

/** Runs a computation that yields often to its end. */
export async function inSlices<T>(steps: Generator<undefined, T>): Promise<T> {
  let startedAt = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - startedAt < SLICE_MS) continue;
    await setImmediate();
    startedAt = performance.now();
  }
}
