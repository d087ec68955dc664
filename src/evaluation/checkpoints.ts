/**
 * Where the belief about an identity can start over. CI jobs of one run finish and arrive out of order: what is older than
 * the newest execution costs a fold from a checkpoint, and what is older than that one from the baseline.
 *
 * An identity that has only passed has no checkpoints, and so has nearly every one: what was believed of it before its last
 * passes follows from what is believed now (near-start.ts). With its first failure, what was known before becomes one.
 */
import { hasOnlyPassed } from '../domain/only-passed.ts';
import { DAY_MS } from '../domain/time.ts';
import type { StoredBelief } from '../postgres/belief-text.ts';
import type { Checkpoints } from '../postgres/health-checkpoints.ts';
import type { IdentityRecord } from '../postgres/test-states.ts';
import type { Starts } from './judge-arrivals.ts';
import type { Identity } from './store.ts';

/** How far the newer checkpoint of an identity stays behind its newest execution, at least. */
export const CHECKPOINT_LAG_MS = DAY_MS;

export interface Advance {
  /** When the newer checkpoint of the identity is from now on; milliseconds since the epoch. */
  checkpointAt: number;
  /** Set if it is to be written. */
  newer: StoredBelief | undefined;
}

/** What is known becomes a checkpoint once it is a day old, or when nothing but passes came before. */
export function advanceOf(known: IdentityRecord | undefined, end: StoredBelief): Advance {
  const finishedAt = end.at?.finishedAt ?? 0;
  if (hasOnlyPassed(end.belief)) return { checkpointAt: 0, newer: undefined };
  if (!known?.belief.at) return { checkpointAt: finishedAt, newer: undefined };
  if (!hasOnlyPassed(known.belief.belief) && finishedAt - known.checkpointAt < CHECKPOINT_LAG_MS)
    return { checkpointAt: known.checkpointAt, newer: undefined };
  return { checkpointAt: known.belief.at.finishedAt, newer: known.belief };
}

/** The same for one that started over. */
export const keptAt = (starts: Starts): Advance => ({
  checkpointAt: starts.at(-1)?.at?.finishedAt ?? 0,
  newer: undefined,
});

/** Of an identity that started over: later places are no longer known. */
export function checkpointsAfter(identity: Identity, [baseline, ...later]: Starts): Checkpoints {
  const { testId, pipelineName, jobName } = identity;
  const newer = later.at(-1) ?? baseline;
  return { testId, pipelineName, jobName, baseline, older: later.at(-2) ?? baseline, newer };
}

/** Whether an identity has places to remember. */
export const hasCheckpoints = (baseline: StoredBelief, end: StoredBelief): boolean =>
  baseline.at !== null || !hasOnlyPassed(end.belief);

/** From old to new. */
export const startsOf = (row: Checkpoints): Starts => [
  row.baseline,
  ...[row.older, row.newer].filter(({ at }) => at !== null),
];
