/** Whether a run counts for the default branch: insights read nothing else. */

/** Branches created by a merge queue: they test what may land, not what has landed. */
const MERGE_QUEUE = /^(gh-readonly-queue|mergify\/merge-queue)\//;
/** Names taken for the default branch while no one has said which it is. */
const CUSTOMARY = new Set(['main', 'master']);

/**
 * How the default branch of a repository became known, from weakest to strongest: a stronger source overrules a weaker
 * one.
 */
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

/** Runs for a pull request, from a merge queue or without a branch never count for the default branch. */
function isOnBranchItself(run: RunOrigin): boolean {
  return run.branch !== '' && run.baseRef === '' && run.pullRequest === 0 && !MERGE_QUEUE.test(run.branch);
}

export function isOnDefaultBranch(run: RunOrigin, defaultBranch: string | null): boolean {
  return defaultBranch !== null && run.branch === defaultBranch && isOnBranchItself(run);
}

/** The default branch that a run suggests, or null: `main` or `master`, whichever appears first. */
export function guessDefaultBranch(run: RunOrigin): string | null {
  return isOnBranchItself(run) && CUSTOMARY.has(run.branch) ? run.branch : null;
}

/** The name without `refs/heads/`. */
export const shortBranch = (branch: string): string => branch.replace(/^refs\/heads\//, '');
