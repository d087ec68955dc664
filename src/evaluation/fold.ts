/** A fold of health that was stopped somewhere and can continue from there. */
import { z } from 'zod';
import { comparePositions, type JudgedExecution, type Position } from '../domain/execution.ts';
import { foldHealth, type HealthState, healthyState } from '../domain/health.ts';
import { HEALTHS } from '../domain/status.ts';
import { HOUR_MS } from '../domain/time.ts';

/**
 * How far the checkpoint of an identity stays behind its newest execution. CI jobs of one run finish and arrive out of
 * order, and only what is older than the checkpoint costs a fold from the baseline. Less than a day, so that a test
 * that runs often reads little each time.
 */
const CHECKPOINT_LAG_MS = 6 * HOUR_MS;

const stateSchema = z.object({
  health: z.enum(HEALTHS),
  passingRuns: z.array(z.string()),
  failingCommits: z.array(z.string()),
  cleanPasses: z.number(),
  cleanSince: z.number(),
  cleanPassesNeeded: z.number(),
  days: z.array(z.tuple([z.number(), z.number(), z.number()])),
}) satisfies z.ZodType<HealthState>;

const positionSchema = z.object({
  finishedAt: z.number(),
  runId: z.string(),
  runAttempt: z.number(),
  executionId: z.string().transform(BigInt),
});

export interface Fold {
  /** The last execution folded; null before the first. */
  at: Position | null;
  state: HealthState;
}

const foldJson = z.object({ at: positionSchema, state: stateSchema });

/** The stored form; empty before the first execution. */
export function writeFold({ at, state }: Fold): string {
  if (at === null) return '';
  const { finishedAt, runId, runAttempt, executionId } = at;
  return JSON.stringify({ at: { finishedAt, runId, runAttempt, executionId: executionId.toString() }, state });
}

/** Reads what {@link writeFold} writes. */
export const foldSchema = z
  .string()
  .transform((text): Fold => (text === '' ? beginning() : foldJson.parse(JSON.parse(text))));

export const beginning = (): Fold => ({ at: null, state: healthyState() });

/** Whether an execution that finished at this time belongs before the last one folded. */
export const isBehind = (fold: Fold, finishedAt: number): boolean =>
  fold.at !== null && finishedAt <= fold.at.finishedAt;

export interface FoldResult {
  /** After every execution. */
  end: Fold;
  /** Some hours before the end: where the next fold continues. */
  checkpoint: Fold;
}

/** Folds the executions that come after the last one folded, given in any order. Held-back executions prove nothing. */
export function continueFold(
  from: Fold,
  executions: readonly JudgedExecution[],
  { flaky, heldBack }: { flaky: ReadonlySet<bigint>; heldBack: ReadonlySet<bigint> },
): FoldResult {
  const ordered = executions
    .filter((execution) => from.at === null || comparePositions(execution, from.at) > 0)
    .sort(comparePositions);
  const newest = ordered.at(-1);
  if (!newest) return { end: from, checkpoint: from };
  let state = from.state;
  let checkpoint = from;
  for (const execution of ordered) {
    if (!heldBack.has(execution.executionId)) state = foldHealth(state, execution, flaky.has(execution.executionId));
    if (execution.finishedAt < newest.finishedAt - CHECKPOINT_LAG_MS) checkpoint = { at: execution, state };
  }
  return { end: { at: newest, state }, checkpoint };
}
