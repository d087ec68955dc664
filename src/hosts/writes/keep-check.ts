/**
 * Brings the one check of a commit to what the service says now. CI jobs do this at the same time, so each continues until it
 * finds nothing to change: the last one to look has written the newest answer.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HostError } from '../api/host-error.ts';
import type { CheckHost, CheckWritten, WantedCheck } from './check-host.ts';

const ROUNDS_MAX = 5;
const LOST_MAX = 3;
const LOOK_AFTER_MS = 500;

/**
 * If the answer to a write was lost, it looks before it writes again. Throws what the host and `read` throw.
 *
 * @param read asks the service; null if the check must stay as it is
 * @returns what it did; `nothing` if the check stays as it is
 */
export async function keepCheck(
  host: CheckHost,
  read: () => Promise<WantedCheck | null>,
): Promise<CheckWritten | 'nothing'> {
  let done: CheckWritten = 'unchanged';
  let lost = 0;
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const wanted = await read();
    if (wanted === null) return done === 'unchanged' ? 'nothing' : done;
    try {
      const written = await host.write(wanted);
      if (written === 'unchanged') return done;
      if (done === 'unchanged') done = written;
    } catch (error) {
      if (!(error instanceof HostError && error.isUncertain) || ++lost === LOST_MAX) throw error;
      done = 'updated';
      await sleep(LOOK_AFTER_MS * lost);
    }
  }
  return done;
}
