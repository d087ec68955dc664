/** A run that is being judged, with the identities that went wrong in it. */
import { runKeyOf } from '../domain/execution.ts';
import { type FailedMember, type RunJudgement, type RunMeaning, runNameOf } from '../domain/judge-runs.ts';
import { legKey, testIdIn } from '../domain/test-identity.ts';
import { dayOf } from '../domain/time.ts';
import { nameOfRun, type RunPlace, type StoredRun } from '../postgres/judged-runs.ts';
import type { IdentifiedExecution } from './executions.ts';

export class RunUnderJudgement {
  readonly name: string;
  readonly job: string;
  /** By `identityKey`: what the identity was before the run; undefined if that is not known. */
  readonly members = new Map<string, FailedMember | undefined>();

  constructor(readonly stored: StoredRun) {
    this.name = nameOfRun(stored);
    this.job = legKey(stored);
    for (const testId of stored.unexpected) this.#addMember(testId, true);
    for (const testId of stored.expected) this.#addMember(testId, false);
  }

  #addMember(testId: string, wasHealthy: boolean): void {
    this.members.set(this.keyOf(testId), { wasHealthy, keepsFailing: this.stored.again.has(testId) });
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
   * @param memberOf what a member was before the run
   */
  toStore({ meaning }: RunJudgement, memberOf: (key: string) => FailedMember): StoredRun {
    const members = [...this.members.keys()].map((key) => [testIdIn(key), memberOf(key)] as const);
    return { ...this.stored, meaning, ...membersToStore(members) };
  }
}

export function membersToStore(
  members: Iterable<readonly [testId: string, FailedMember]>,
): Pick<StoredRun, 'unexpected' | 'expected' | 'again'> {
  const stored = { unexpected: new Set<string>(), expected: new Set<string>(), again: new Set<string>() };
  for (const [testId, { wasHealthy, keepsFailing }] of members) {
    stored[wasHealthy ? 'unexpected' : 'expected'].add(testId);
    if (keepsFailing) stored.again.add(testId);
  }
  return stored;
}

/** Whether there is nothing to write. */
export const isSameRun = (one: StoredRun, other: StoredRun): boolean =>
  isSameMeaning(one.meaning, other.meaning) &&
  one.unexpected.symmetricDifference(other.unexpected).size === 0 &&
  one.expected.symmetricDifference(other.expected).size === 0 &&
  one.again.symmetricDifference(other.again).size === 0;

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
