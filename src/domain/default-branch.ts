/** Whether a run is of the default branch: insights look at nothing else (design §5). */

/** Branches that a merge queue makes: they test what may land, not what has. */
const MERGE_QUEUE = /^(gh-readonly-queue|mergify\/merge-queue)\//;
/** Names that are taken for the default branch when nobody says which it is. */
const CUSTOMARY = new Set(['main', 'master']);

/** How the default branch of a repository became known, from weakest to strongest: a stronger source overrules a weaker one. */
export const DEFAULT_BRANCH_SOURCES = ['guess', 'payload', 'host', 'setting'] as const;
export type DefaultBranchSource = (typeof DEFAULT_BRANCH_SOURCES)[number];

export interface RunOrigin {
  /** Empty when unknown. */
  branch: string;
  /** The branch that a pull request targets; empty outside one. */
  baseRef: string;
  /** 0 outside a pull request. */
  pullRequest: number;
}

/** Runs for a pull request, of a merge queue and without a branch are of no default branch, whatever it is. */
function isOfBranchItself(run: RunOrigin): boolean {
  return run.branch !== '' && run.baseRef === '' && run.pullRequest === 0 && !MERGE_QUEUE.test(run.branch);
}

export function isOnDefaultBranch(run: RunOrigin, defaultBranch: string | null): boolean {
  return defaultBranch !== null && run.branch === defaultBranch && isOfBranchItself(run);
}

/** The default branch as a run lets one guess it, or null: `main` or `master`, whichever appears first. */
export function guessDefaultBranch(run: RunOrigin): string | null {
  return isOfBranchItself(run) && CUSTOMARY.has(run.branch) ? run.branch : null;
}

/** `refs/heads/main` and `main` are the same branch. */
export const shortBranch = (branch: string): string => branch.replace(/^refs\/heads\//, '');
