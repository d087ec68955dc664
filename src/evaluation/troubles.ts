/**
 * Which runs are troubled. Kept up to date with the newest executions, so that judging verdicts reads only a few rows.
 */

import { runKey } from '../domain/execution.ts';
import { mayBeTroubled, type Trouble, troubleOf } from '../domain/infrastructure.ts';
import { TROUBLE_REACH_MS } from '../domain/judgement-constants.ts';
import { dayOf } from '../domain/time.ts';
import { fullRunKey, type Run, type RunFields, type RunStore, type TroubledRun } from './run-store.ts';

export interface TroubledRuns {
  /** All since {@link TROUBLE_REACH_MS} before the given moment, by `fullRunKey`. */
  known: Map<string, TroubledRun>;
  /** Runs whose trouble differs from what is stored; `none` for one that is no longer troubled. */
  changed: TroubledRun[];
  /** The tests that failed in a changed run, and when the first such run began. */
  affected: Map<string, number>;
}

/**
 * Judges the runs that have executions since then. When results arrive in order, these are the newest runs, and hardly
 * ever any.
 */
export async function judgeRuns(store: RunStore, since: number): Promise<TroubledRuns> {
  const [known, candidates] = await Promise.all([
    store.troubled(dayOf(since - TROUBLE_REACH_MS)),
    store.candidates(since),
  ]);
  const changed: TroubledRun[] = [];
  const affected = new Map<string, number>();
  for (const run of candidates) {
    const key = fullRunKey(run);
    const trouble = await judgeRun(store, run);
    if (trouble === (known.get(key)?.trouble ?? 'none')) continue;
    const judged: TroubledRun = { ...keyOf(run), trouble };
    changed.push(judged);
    if (trouble === 'none') known.delete(key);
    else known.set(key, judged);
    for (const testId of (await store.failuresIn(run)).keys())
      affected.set(testId, Math.min(affected.get(testId) ?? Number.MAX_SAFE_INTEGER, run.startedAt));
  }
  return { known, changed, affected };
}

/** The troubled runs among all retained runs, judged from the executions. */
export async function judgeAllRuns(store: RunStore): Promise<Map<string, TroubledRun>> {
  const troubled = new Map<string, TroubledRun>();
  for (const run of await store.candidates(0)) {
    const trouble = await judgeRun(store, run);
    if (trouble !== 'none') troubled.set(fullRunKey(run), { ...keyOf(run), trouble });
  }
  return troubled;
}

/** Judges all retained runs, and writes those that differ from what is stored. */
export async function rejudgeRuns(store: RunStore, version: number): Promise<void> {
  const stored = await store.troubled(0);
  const judged = await judgeAllRuns(store);
  const changed = [...judged].flatMap(([key, run]) => (stored.get(key)?.trouble === run.trouble ? [] : [run]));
  const gone = [...stored].flatMap(([key, run]) => (judged.has(key) ? [] : [{ ...run, trouble: 'none' as const }]));
  await store.write([...changed, ...gone], version);
}

const keyOf = ({ day, pipelineName, jobName, runId, runAttempt }: Run): RunFields => ({
  day,
  pipelineName,
  jobName,
  runId,
  runAttempt,
});

export async function judgeRun(store: RunStore, run: Run): Promise<Trouble> {
  if (!mayBeTroubled(run)) return 'none';
  return troubleOf(run, await store.before(run, await store.failuresIn(run)));
}

/** Troubled runs by pipeline and CI job; within these, by the run keys of the domain. */
export class Troubles {
  readonly #byPlace = new Map<string, Map<string, Trouble>>();

  constructor(runs: Iterable<TroubledRun>) {
    for (const run of runs) {
      const place = JSON.stringify([run.pipelineName, run.jobName]);
      const troubles = this.#byPlace.get(place) ?? new Map<string, Trouble>();
      this.#byPlace.set(place, troubles.set(runKey(run), run.trouble));
    }
  }

  of({ pipelineName, jobName }: { pipelineName: string; jobName: string }): ReadonlyMap<string, Trouble> {
    return this.#byPlace.get(JSON.stringify([pipelineName, jobName])) ?? NONE;
  }
}

const NONE: ReadonlyMap<string, Trouble> = new Map();
