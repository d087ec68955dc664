/**
 * The scope of a quarantine: a test on some branches, and possibly only in one pipeline, in one CI job, in some legs, or
 * while the test fails in certain ways. Pure.
 *
 * A client that does not know of a narrowing would excuse every failure of the test. So it is not shown a quarantine
 * whose narrowing it has not settled: by naming its pipeline, CI job and axes, or by saying that it reads narrowings itself.
 */
import { NIL, v5 as uuid5 } from 'uuid';
import { type Axes, axesOf } from './axes.ts';
import { type AxisScope, axisScopeText, axisValue, coversAxes } from './axis-scope.ts';
import { branchMatcher, matchesBranch } from './branch-pattern.ts';
import { ALL_LEGS } from './test-identity.ts';

export interface QuarantineScope {
  /** Branch or pattern; null: every branch. */
  branch: string | null;
  /** Null: every pipeline. */
  pipelineName: string | null;
  /** Null: every CI job. */
  jobName: string | null;
  /** Null: every leg. */
  axes: AxisScope | null;
  /** Failure groups, in order and without duplicates; null: every failure. */
  failureIds: readonly string[] | null;
}

type Narrowing = Omit<QuarantineScope, 'branch'>;

/** The groups of a cause change, and its quarantine stays the same one. */
type StoredNarrowing = Narrowing & { causeId: string | null };

/** {@link narrowingOf} a quarantine for every failure in every pipeline and CI job. */
export const NOT_NARROWED: string = NIL;

/** The namespace of narrowings: drawn at random once. Stored rows depend on it. */
const NARROWING_NAMESPACE = '0c9e3f0a-52a7-4f0e-9a5e-8f1f6a3e9d24';

/** Whether it covers less than every failure in every pipeline and CI job. */
export const isNarrowed = ({ pipelineName, jobName, axes, failureIds }: Narrowing): boolean =>
  pipelineName !== null || jobName !== null || axes !== null || failureIds !== null;

/** One value for a narrowing, equal for equal ones. */
export const narrowingOf = (narrowing: StoredNarrowing): string => {
  if (!isNarrowed(narrowing)) return NOT_NARROWED;
  const { pipelineName, jobName, axes, failureIds, causeId } = narrowing;
  const parts = [pipelineName, jobName, causeId ?? failureIds, axes && axisScopeText(axes)];
  return uuid5(JSON.stringify(parts), NARROWING_NAMESPACE);
};

/** Failure groups in the form in which they are stored and compared. */
export const orderedFailureIds = (ids: readonly string[]): string[] =>
  [...new Set(ids.map((id) => id.toLowerCase()))].sort();

/** Where a failure happened, and which one it was. */
export interface FailurePlace {
  branch: string;
  pipelineName: string;
  jobName: string;
  /** `axesText` of its leg. */
  axes: string;
  /** Null: it has none, as the report gave no details. */
  failureId: string | null;
}

/** Whether a quarantine of the test excuses a failure. */
export const covers = (scope: QuarantineScope, failure: FailurePlace): boolean =>
  appliesToBranch(scope, failure.branch) &&
  appliesInPlace(scope, failure) &&
  (scope.failureIds === null || (failure.failureId !== null && scope.failureIds.includes(failure.failureId)));

/** Whether it is for every branch, for this one, or its pattern matches. */
const appliesToBranch = ({ branch }: Pick<QuarantineScope, 'branch'>, wanted: string): boolean =>
  branch === null || matchesBranch(branch, wanted);

/** The same question about one branch, for many quarantines: equal patterns are matched once. */
export function branchTest(wanted: string): (scope: Pick<QuarantineScope, 'branch'>) => boolean {
  const matches = branchMatcher(wanted);
  return ({ branch }) => branch === null || matches(branch);
}

/**
 * Whether it covers some failures of this pipeline and CI job, and of this leg if the place is one (`axes`, its `axesText`).
 * In the place of all legs together ({@link ALL_LEGS}), or without axes, it covers some.
 */
export const appliesInPlace = (
  { pipelineName, jobName, axes }: Pick<QuarantineScope, 'pipelineName' | 'jobName' | 'axes'>,
  place: { pipelineName: string; jobName: string; axes?: string | undefined },
): boolean =>
  (pipelineName === null || pipelineName === place.pipelineName) &&
  (jobName === null || jobName === place.jobName) &&
  (axes === null || place.axes === undefined || place.axes === ALL_LEGS || coversAxes(axes, axesOf(place.axes)));

/** A client's account of itself when it asks for quarantines; undefined: it gives none. */
export interface ScopeQuestion {
  branch: string | undefined;
  pipelineName: string | undefined;
  jobName: string | undefined;
  /** The axes that it names. */
  axes: Axes;
  /** Whether the client itself compares what a quarantine is narrowed to. */
  readsNarrowings: boolean;
}

/** The quarantines that are part of the answer. */
export function shownTo<Q extends QuarantineScope>(quarantines: readonly Q[], asked: ScopeQuestion): Q[] {
  const applies = asked.branch === undefined ? undefined : branchTest(asked.branch);
  return quarantines.filter((scope) => (applies?.(scope) ?? true) && isSettledFor(scope, asked));
}

function isSettledFor(scope: QuarantineScope, asked: ScopeQuestion): boolean {
  return (
    isSettled(scope.pipelineName, asked.pipelineName, asked) &&
    isSettled(scope.jobName, asked.jobName, asked) &&
    Object.entries(scope.axes ?? {}).every(([name, values]) => isSettled(values, axisValue(asked.axes, name), asked)) &&
    (scope.failureIds === null || asked.readsNarrowings)
  );
}

const isSettled = (
  narrowedTo: string | readonly string[] | null,
  asked: string | undefined,
  { readsNarrowings }: ScopeQuestion,
): boolean => {
  if (narrowedTo === null) return true;
  if (asked === undefined) return readsNarrowings;
  return typeof narrowedTo === 'string' ? narrowedTo === asked : narrowedTo.includes(asked);
};
