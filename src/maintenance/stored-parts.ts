/** Evaluation of everything that is stored, before something is derived from scratch. */
import { setTimeout as sleep } from 'node:timers/promises';
import { evaluatePartition, type PassDeps } from '../evaluation/pass.ts';
import { onPostgres } from '../postgres/client.ts';
import { isPartWaiting } from '../postgres/partitions.ts';

/** Another process may be evaluating a partition: this one waits until it is done. */
const POLL_MS = 20;

/** Evaluates until nothing waits. Call it while nothing is stored: what is counted later would count twice. */
export async function evaluateStoredParts(deps: PassDeps): Promise<void> {
  for (;;) {
    while ((await evaluatePartition(deps, 0)) !== undefined);
    if (!(await onPostgres(() => isPartWaiting(deps.db)))) return;
    await sleep(POLL_MS);
  }
}
