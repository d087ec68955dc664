/** Meanings of the runs in which executions went wrong, as the evaluation has judged them. */
import { isTrouble } from '../domain/execution.ts';
import type { RunMeaning } from '../domain/judge-runs.ts';
import type { IdentifiedExecution } from '../evaluation/executions.ts';
import { runPlaceOf } from '../evaluation/run-under-judgement.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { findRuns, nameOfRun, type PastRun, type RunPlace } from '../postgres/judged-runs.ts';

export type MeaningfulRun = PastRun & { meaning: RunMeaning };

export class RunsOfExecutions {
  readonly #runs: ReadonlyMap<string, MeaningfulRun>;

  private constructor(runs: readonly PastRun[]) {
    this.#runs = new Map(
      runs.flatMap((run) => (run.meaning === null ? [] : [[nameOfRun(run), { ...run, meaning: run.meaning }]])),
    );
  }

  /** @param executions on the default branch. */
  static read(
    db: Database,
    repositoryId: string,
    executions: readonly IdentifiedExecution[],
  ): Promise<RunsOfExecutions> {
    return RunsOfExecutions.#find(db, repositoryId, executions.filter(isTrouble).map(runPlaceOf));
  }

  /** @param executions off the default branch. */
  static readPulls(
    db: Database,
    repositoryId: string,
    executions: readonly IdentifiedExecution[],
  ): Promise<RunsOfExecutions> {
    return RunsOfExecutions.#find(db, repositoryId, executions.map(pullPlaceOf));
  }

  static async #find(db: Database, repositoryId: string, places: readonly RunPlace[]): Promise<RunsOfExecutions> {
    const distinct = [...new Map(places.map((place) => [nameOfRun(place), place])).values()];
    return new RunsOfExecutions(await onPostgres(() => findRuns(db, repositoryId, distinct)));
  }

  /** The run of an execution off the default branch. */
  ofPull(execution: IdentifiedExecution): MeaningfulRun | undefined {
    return this.#runs.get(nameOfRun(pullPlaceOf(execution)));
  }

  of(execution: IdentifiedExecution): MeaningfulRun | undefined {
    return this.#runs.get(nameOfRun(runPlaceOf(execution)));
  }

  /** Whether an execution is judged: what went wrong in a run that is not is left to the evaluation that counts it. */
  isJudged(execution: IdentifiedExecution): boolean {
    return !isTrouble(execution) || this.of(execution) !== undefined;
  }
}

const pullPlaceOf = (execution: IdentifiedExecution): RunPlace => ({
  ...runPlaceOf(execution),
  commit: execution.commit,
});
