/** A fold of health that was stopped somewhere and can continue from there. */
import { z } from 'zod';
import { comparePositions, type JudgedExecution, type Position } from '../domain/execution.ts';
import { foldHealth, type HealthState, healthyState } from '../domain/health.ts';
import { HEALTHS, type Health } from '../domain/status.ts';
import { DAY_MS } from '../domain/time.ts';

/**
 * How far the checkpoint of an identity stays behind its newest execution. CI jobs of one run finish and arrive out of
 * order: what is older than the newest execution costs a fold from the checkpoint, and what is older than that one from
 * the baseline.
 */
export const CHECKPOINT_LAG_MS = DAY_MS;

/** A fold as a list without names: every run rewrites it for each of its tests. */
const foldJson = z.tuple([
  z.number(),
  z.string(),
  z.number(),
  z.string(),
  z.enum(HEALTHS),
  z.array(z.string()),
  z.array(z.string()),
  z.number(),
  z.number(),
  z.number(),
  // Of the days; looking at each number would take longer than parsing the JSON.
  z.custom<number[]>(Array.isArray),
]);

export interface Fold {
  /** The last execution folded; null before the first. */
  at: Position | null;
  state: HealthState;
}

/** The stored form; empty before the first execution. */
export function writeFold({ at, state }: Fold): string {
  if (at === null) return '';
  const stored: z.infer<typeof foldJson> = [
    at.finishedAt,
    at.runId,
    at.runAttempt,
    at.executionId.toString(),
    state.health,
    state.passingRuns,
    state.failingCommits,
    state.cleanPasses,
    state.cleanSince,
    state.cleanPassesNeeded,
    state.days.flat(),
  ];
  return JSON.stringify(stored);
}

/** Reads what {@link writeFold} writes. */
export const foldSchema = z.string().transform((text): Fold => {
  if (text === '') return beginning();
  const [finishedAt, runId, runAttempt, executionId, ...state] = foldJson.parse(JSON.parse(text));
  const [health, passingRuns, failingCommits, cleanPasses, cleanSince, cleanPassesNeeded, flat] = state;
  const days: HealthState['days'] = [];
  for (let i = 0; i + 2 < flat.length; i += 3) days.push([flat[i] ?? 0, flat[i + 1] ?? 0, flat[i + 2] ?? 0]);
  return {
    at: { finishedAt, runId, runAttempt, executionId: BigInt(executionId) },
    state: { health, passingRuns, failingCommits, cleanPasses, cleanSince, cleanPassesNeeded, days },
  };
});

/** Reads a fold as versions before 0.2.0 wrote it. */
export const foldOfVersion1 = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(
    z.object({
      at: z.object({
        finishedAt: z.number(),
        runId: z.string(),
        runAttempt: z.number(),
        executionId: z.string().transform(BigInt),
      }),
      state: z.object({
        health: z.enum(HEALTHS),
        passingRuns: z.array(z.string()),
        failingCommits: z.array(z.string()),
        cleanPasses: z.number(),
        cleanSince: z.number(),
        cleanPassesNeeded: z.number(),
        days: z.array(z.tuple([z.number(), z.number(), z.number()])),
      }),
    }),
  );

export const beginning = (): Fold => ({ at: null, state: healthyState() });

/** Whether an execution that finished at this time belongs before the last one folded. */
export const isBehind = (fold: Fold, finishedAt: number): boolean =>
  fold.at !== null && finishedAt <= fold.at.finishedAt;

/** An execution that changed the health of its identity. */
export interface HealthChange {
  at: Position;
  /** Empty when unknown. */
  commit: string;
  before: Health;
  after: Health;
}

export interface FoldResult {
  /** After every execution. */
  end: Fold;
  /** Some hours before the end: where the next fold continues. */
  checkpoint: Fold;
  /** In order. */
  changes: HealthChange[];
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
  if (!newest) return { end: from, checkpoint: from, changes: [] };
  const changes: HealthChange[] = [];
  let state = from.state;
  let checkpoint = from;
  for (const execution of ordered) {
    const before = state.health;
    if (!heldBack.has(execution.executionId)) state = foldHealth(state, execution, flaky.has(execution.executionId));
    if (state.health !== before) changes.push({ at: execution, commit: execution.commit, before, after: state.health });
    if (execution.finishedAt < newest.finishedAt - CHECKPOINT_LAG_MS) checkpoint = { at: execution, state };
  }
  return { end: { at: newest, state }, checkpoint, changes };
}
