/** The contents of the form of a quarantine, and with which it begins. */
import type { TestFailures } from '../../src/insights/failures.ts';

export interface Draft {
  branch: string | null;
  pipeline: string | null;
  job: string | null;
  /** Values by axis; null: every leg. */
  axes: Record<string, string[]> | null;
  /** Null: every failure. */
  failureIds: string[] | null;
}

export type FailureGroup = Pick<
  TestFailures['failures'][number],
  'id' | 'exception_type' | 'exception_message' | 'failure_count' | 'last_failure_at'
>;

/** A failure for which a quarantine is asked: the form begins with it, whether or not the default branch knows it. */
export interface Failure {
  pipeline: string;
  job: string;
  /** Those of the CI job in which it failed. */
  legs: readonly { axes: Readonly<Record<string, string>> }[];
  /** Null: it has none. */
  group: FailureGroup | null;
}

/** To what a quarantine is narrowed before anybody has chosen. */
export interface Proposal extends Pick<Draft, 'pipeline' | 'job' | 'axes'> {
  /** `It fails only with os=windows.` */
  reason: string;
}

/** A place that is proposed says more than where one failure was. */
export function draftFor(failure: Failure | undefined, proposal: Proposal | undefined): Draft {
  const isPlaced = proposal !== undefined && (proposal.pipeline !== null || proposal.job !== null);
  const place = isPlaced ? proposal : failure;
  return {
    branch: null,
    pipeline: place?.pipeline ?? null,
    job: place?.job ?? null,
    axes: proposal?.axes ?? null,
    failureIds: failure?.group ? [failure.group.id] : null,
  };
}

/** A pipeline, a CI job of it, or a CI job of every pipeline, as the value of an option. */
export const placeValue = (pipeline: string | null, job: string | null): string =>
  JSON.stringify(job === null ? [pipeline] : [pipeline, job]);
