/** Whether a run counts for the default branch: insights read nothing else. */

import type { Run } from './columns.ts';

/** Branches created by a merge queue: they test what may land, not what has landed. */
const MERGE_QUEUE = /^(gh-readonly-queue|mergify\/merge-queue)\//;
/** Names taken for the default branch while no one has said which it is. */
const CUSTOMARY = new Set(['main', 'master']);

/**
 * How the default branch of a repository became known, from weakest to strongest. An upload (`guess`, `payload`) says it
 * only while no one has: the executions of the branch that is known must stay in sight. The host and the setting overrule
 * what is weaker.
 */
export const DEFAULT_BRANCH_SOURCES = ['guess', 'payload', 'host', 'setting'] as const;
export type DefaultBranchSource = (typeof DEFAULT_BRANCH_SOURCES)[number];

/** The sources that a source does not overrule. */
export function unmovedSources(source: DefaultBranchSource): readonly DefaultBranchSource[] {
  if (source === 'guess' || source === 'payload') return DEFAULT_BRANCH_SOURCES;
  // The host may name another branch later: it reports what is set there now.
  return DEFAULT_BRANCH_SOURCES.slice(DEFAULT_BRANCH_SOURCES.indexOf(source) + (source === 'host' ? 1 : 0));
}

/** The warning for an upload that names another default branch than uploads have before; undefined for any other. */
export function defaultBranchWarning(
  stated: string | null,
  known: string | null,
  source: DefaultBranchSource | null,
): string | undefined {
  if (stated === null || known === null || stated === known || source === 'host' || source === 'setting')
    return undefined;
  return `The upload names ${stated} as the default branch, but ${known} is known and stays. If ${stated} is right, set it with \`ci-insights repos set\`.`;
}

export interface RunOrigin {
  /** Empty when unknown. */
  branch: string;
  /** The branch that a pull request targets; empty outside one. */
  baseRef: string;
  /** 0 outside a pull request. */
  pullRequest: number;
}

/** Where a reported run belongs, as it is stored. */
export const originOf = (run: Pick<Run, 'branch' | 'base_ref' | 'pull_request'>): RunOrigin => ({
  branch: shortBranch(run.branch ?? ''),
  baseRef: shortBranch(run.base_ref ?? ''),
  pullRequest: run.pull_request ?? 0,
});

/** Runs for a pull request, from a merge queue or without a branch never count for the default branch. */
export function isOnBranchItself(run: RunOrigin): boolean {
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
