/**
 * Limits what a credential may say about the run of a report: docs/decisions.md, "Who may speak for main". Everything that is
 * uploaded with a bound credential passes through {@link boundRun}.
 */
import { z } from 'zod';
import { matchesBranch } from './branch-pattern.ts';
import type { Run } from './columns.ts';
import { guessDefaultBranch, isOnBranchItself, isOnDefaultBranch, originOf, shortBranch } from './default-branch.ts';
import type { KeyScope } from './key-scope.ts';

/** The parts of a run that say what ran. Null: there is none; absent: the job's word counts. */
const claimedRunSchema = z.object({
  branch: z.string().nullable().optional(),
  commit: z.string().nullable().optional(),
  pull_request: z.int().nullable().optional(),
  base_ref: z.string().nullable().optional(),
});
/** Facts about a run that a CI has signed. */
export type ClaimedRun = z.infer<typeof claimedRunSchema>;

export const reportBoundsSchema = z.object({
  /** Nothing is ever the default branch's, whatever it says. */
  pull_requests_only: z.boolean(),
  /** Patterns of the branches that reports may be of; null: of any. */
  branches: z.array(z.string()).nullable(),
  /** Off the default branch, its reports are no evidence about tests. */
  is_confined: z.boolean(),
  /** Replaces what the job says. */
  run: claimedRunSchema,
});
export type ReportBounds = z.infer<typeof reportBoundsSchema>;

/** For an application key; null: not bound. */
export function boundsOfKey(
  pullRequestsOnly: boolean,
  branches: readonly string[] | null | undefined,
): ReportBounds | null {
  if (pullRequestsOnly) return { pull_requests_only: true, branches: null, is_confined: true, run: {} };
  if (!branches || branches.length === 0) return null;
  return { pull_requests_only: false, branches: branches.map(shortBranch), is_confined: false, run: {} };
}

/** The fault of the bounds of a new key, if any. A quarantine holds on every branch, so no bound key makes one. */
export function unboundable(
  scope: KeyScope,
  pullRequestsOnly: boolean,
  branches: readonly string[] | null,
): { field: 'scope' | 'branches'; msg: string } | undefined {
  if (pullRequestsOnly && branches)
    return { field: 'branches', msg: 'cannot be given for a key that is for pull requests only' };
  if ((pullRequestsOnly || branches) && scope !== 'upload')
    return { field: 'scope', msg: 'must be upload for a key that is bound to pull requests or branches' };
  return undefined;
}

/** Each is matched with the branch of every report. */
export const KEY_BRANCHES_MAX = 20;

type Bound = { run: Run; warning?: string } | { refusal: string };

/**
 * The run as the credential lets it be. A bound credential never names the default branch of a repository: only a run on
 * `main` or `master` may imply it.
 */
export function boundRun(reported: Run, bounds: ReportBounds): Bound {
  const { branch: saidBranch, commit, pull_request, base_ref } = bounds.run;
  const run: Run = {
    ...reported,
    ...(saidBranch !== undefined && { branch: saidBranch }),
    ...(commit !== undefined && { commit }),
    ...(pull_request !== undefined && { pull_request }),
    ...(base_ref !== undefined && { base_ref }),
    default_branch: null,
    ...(bounds.is_confined && { is_confined: true }),
  };
  const origin = originOf(run);
  const { branch } = origin;
  if (bounds.branches && !bounds.branches.some((pattern) => matchesBranch(pattern, branch)))
    return { refusal: branchRefusal(bounds.branches, branch) };
  if (!bounds.pull_requests_only || !isOnBranchItself(origin)) return { run };
  return {
    run: { ...run, branch: null },
    warning: `This credential is for pull requests only, and the report names none: its branch ${branch} is left out, so it counts for no branch.`,
  };
}

/**
 * Whether a run may say what holds for the default branch, such as who owns tests: it is on that branch itself, and its
 * credential lets it be.
 *
 * @param defaultBranch null while it is not known: then only `main` and `master` count
 */
export function speaksForDefaultBranch(
  reported: Pick<Run, 'branch' | 'base_ref' | 'pull_request'>,
  bounds: ReportBounds | undefined,
  defaultBranch: string | null,
): boolean {
  const { branch, base_ref, pull_request } = bounds?.run ?? {};
  const origin = originOf({
    branch: branch === undefined ? reported.branch : branch,
    base_ref: base_ref === undefined ? reported.base_ref : base_ref,
    pull_request: pull_request === undefined ? reported.pull_request : pull_request,
  });
  if (bounds?.pull_requests_only) return false;
  if (bounds?.branches && !bounds.branches.some((pattern) => matchesBranch(pattern, origin.branch))) return false;
  return isOnDefaultBranch(origin, defaultBranch ?? guessDefaultBranch(origin));
}

/** Whether a run may say something about a commit, such as which files it changed: it is its own, as far as the credential tells. */
export function speaksForCommit(
  commit: string,
  reported: Pick<Run, 'branch' | 'base_ref' | 'pull_request'>,
  bounds: ReportBounds | undefined,
): boolean {
  if (!bounds) return true;
  const { branch = reported.branch, commit: own } = bounds.run;
  if (own !== undefined && own !== commit) return false;
  const origin = originOf({ ...reported, branch });
  return bounds.branches?.some((pattern) => matchesBranch(pattern, origin.branch)) ?? true;
}

/**
 * Keeps the units of resending of other branches, pull requests and kinds of credentials apart: what is sent with a bound
 * credential must not take the place of a result that it may not send.
 */
export function boundSource({ branch, pull_request }: Run, { pull_requests_only, run }: ReportBounds) {
  const isSigned = Object.keys(run).length > 0;
  const prefix = JSON.stringify([isSigned, pull_requests_only, branch, pull_request]);
  return (source: string): string => `${prefix} ${source}`;
}

const branchRefusal = (patterns: readonly string[], branch: string): string =>
  branch === ''
    ? `This credential is for the branches ${patterns.join(', ')}, and the report names no branch. Name the branch that was tested.`
    : `This credential is for the branches ${patterns.join(', ')}, and the report is of ${branch}. Use another key for it.`;
