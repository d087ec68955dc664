/** A run that is being judged, with the identities that went wrong in it. */
import { runKeyOf } from '../domain/execution.ts';
import { type RunJudgement, type RunMeaning, runNameOf } from '../domain/judge-runs.ts';
import { legKey, testIdIn } from '../domain/test-identity.ts';
import { dayOf } from '../domain/time.ts';
import { nameOfRun, type RunPlace, type StoredRun } from '../postgres/judged-runs.ts';
import type { IdentifiedExecution } from './executions.ts';

export class RunUnderJudgement {
  readonly name: string;
  readonly job: string;
  /** By `identityKey`: whether the identity was healthy before the run; undefined if that is not known. */
  readonly members = new Map<string, boolean | undefined>();

  constructor(readonly stored: StoredRun) {
    this.name = nameOfRun(stored);
    this.job = legKey(stored);
    for (const testId of stored.unexpected) this.members.set(this.keyOf(testId), true);
    for (const testId of stored.expected) this.members.set(this.keyOf(testId), false);
  }

  get meaning(): RunMeaning | null {
    return this.stored.meaning;
  }

  get startedAt(): number {
    return this.stored.startedAt;
  }

  keyOf(testId: string): string {
    return `${testId}\0${this.job}`;
  }

  /**
   * The row to store.
   *
   * @param wasHealthy whether a member was, if it was not judged with the run
   */
  toStore({ meaning }: RunJudgement, wasHealthy: (key: string) => boolean): StoredRun {
    const unexpected = new Set<string>();
    const expected = new Set<string>();
    for (const key of this.members.keys()) (wasHealthy(key) ? unexpected : expected).add(testIdIn(key));
    return { ...this.stored, meaning, unexpected, expected };
  }
}

/** Whether there is nothing to write. */
export const isSameRun = (one: StoredRun, other: StoredRun): boolean =>
  isSameMeaning(one.meaning, other.meaning) &&
  one.unexpected.symmetricDifference(other.unexpected).size === 0 &&
  one.expected.symmetricDifference(other.expected).size === 0;

export const isSameMeaning = (one: RunMeaning | null, other: RunMeaning | null): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Names the run of an execution on the default branch. */
export const runNameOfExecution = (execution: IdentifiedExecution): string =>
  runNameOf(legKey(execution), runKeyOf(execution));

/** Names the run of an execution on the default branch. */
export const runPlaceOf = (execution: Omit<IdentifiedExecution, 'testId'>): RunPlace => ({
  pipelineName: execution.pipelineName,
  jobName: execution.jobName,
  axes: execution.axes,
  day: dayOf(execution.finishedAt),
  runId: execution.runId,
  runAttempt: execution.runAttempt,
  commit: '',
});
