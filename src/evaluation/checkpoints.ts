/**
 * Where the belief about an identity can start over. CI jobs of one run finish and arrive out of order: what is older than
 * the newest execution costs a fold from a checkpoint, and what is older than that one from the baseline.
 *
 * An identity that has only passed, as nearly every one, needs none while it has run seldom: what was believed of it before its
 * last passes follows from what is believed now (near-start.ts), and its whole history is short. With its first failure, what
 * was known before becomes one.
 */
import { countFrom } from '../domain/flat-counts.ts';
import { hasOnlyPassed } from '../domain/only-passed.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import type { StoredBelief } from '../postgres/belief-text.ts';
import type { Checkpoints } from '../postgres/health-checkpoints.ts';
import type { IdentityRecord } from '../postgres/test-states.ts';
import type { Starts } from './course-starts.ts';
import type { Identity } from './store.ts';

/** How far the newer checkpoint of an identity stays behind its newest execution, at least. */
export const CHECKPOINT_LAG_MS = DAY_MS;

export interface Advance {
  /** When the newer checkpoint of the identity is from now on; milliseconds since the epoch. */
  checkpointAt: number;
  /** Set if it is to be written. */
  newer: StoredBelief | undefined;
}

/** Passes since the last checkpoint of an identity that has only passed, before there is another: so many are read quickly. */
const PASSES_WITHOUT_CHECKPOINT = 200;

/** What is known becomes a checkpoint once it is a day old, or when nothing but passes came before. */
export function advanceOf(known: IdentityRecord | undefined, end: StoredBelief): Advance {
  const finishedAt = end.at?.finishedAt ?? 0;
  const isCalm = hasOnlyPassed(end.belief);
  if (!known?.belief.at) return { checkpointAt: isCalm ? 0 : finishedAt, newer: undefined };
  const { belief, checkpointAt, summary } = known;
  const isOld = finishedAt - checkpointAt >= CHECKPOINT_LAG_MS;
  const isDue = isCalm
    ? isOld && countFrom(summary.days, dayOf(checkpointAt)) >= PASSES_WITHOUT_CHECKPOINT
    : isOld || hasOnlyPassed(belief.belief);
  return isDue ? { checkpointAt: known.belief.at.finishedAt, newer: belief } : { checkpointAt, newer: undefined };
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

/** Whether the checkpoint of an identity is to be remembered, of which everything is known. */
export const isCheckpointKept = (baseline: StoredBelief, end: StoredBelief, executions: number): boolean =>
  baseline.at !== null || executions >= PASSES_WITHOUT_CHECKPOINT || !hasOnlyPassed(end.belief);

/** From old to new. */
export const startsOf = (row: Checkpoints): Starts => [
  row.baseline,
  ...[row.older, row.newer].filter(({ at }) => at !== null),
];
