/** Whether runs on the default branch are troubled, and why: as the evaluation has judged them, from PostgreSQL. */

import type { CommitRun } from '../commits/commit-record.ts';
import { legKey } from '../domain/test-identity.ts';
import { explainRun, type RunExplanation } from '../domain/troubled-run.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { findRuns, type RunPlace } from '../postgres/judged-runs.ts';

/** A run on the default branch, on one UTC day. */
type RunOfDay = Omit<RunPlace, 'commit'>;

/** By the run; nothing of runs that were not judged yet. */
export class RunTroubles {
  readonly #known: ReadonlyMap<string, RunExplanation>;

  private constructor(known: ReadonlyMap<string, RunExplanation>) {
    this.#known = known;
  }

  static async of(db: Database, repositoryId: string | undefined, runs: readonly RunOfDay[]): Promise<RunTroubles> {
    if (repositoryId === undefined || runs.length === 0) return new RunTroubles(new Map());
    const asked = [...new Map(runs.map((run) => [keyOf(run), { ...run, commit: '' }])).values()];
    const found = await onPostgres(() => findRuns(db, repositoryId, asked));
    return new RunTroubles(new Map(found.map((run) => [keyOf(run), explainRun(run)])));
  }

  of(run: RunOfDay): RunExplanation {
    return this.#known.get(keyOf(run)) ?? explainRun(undefined);
  }
}

const keyOf = ({ day, runId, runAttempt, ...leg }: RunOfDay): string =>
  JSON.stringify([day, legKey(leg), runId, runAttempt]);

/** Only runs of the default branch are judged. */
export const mayBeTroubled = ({ on_default, failed }: Pick<CommitRun, 'on_default' | 'failed'>): boolean =>
  on_default && failed > 0;

/** Names a run of a commit among those that are judged. */
export const placeOf = (run: CommitRun): RunOfDay => ({
  pipelineName: run.pipeline_name,
  jobName: run.job_name,
  axes: run.axes,
  day: run.day_number,
  runId: run.run_id,
  runAttempt: run.run_attempt,
});
