/** Whose change ran: runs that may share a fault are one witness. Pure. */
import { DEFAULT_BRANCH_CHANGE } from './trouble-elsewhere.ts';

export interface ChangeRun {
  isOnDefaultBranch: boolean;
  /** 0: none. */
  pullRequest: number;
  branch: string;
  baseRef: string;
}

/** So many pull requests built on one another are followed. A cycle of branches has no root. */
const DEPTH_MAX = 20;

/**
 * Names the change of each run: pull requests of one author, or built on one another, have the same one.
 *
 * @param runs all that are compared
 * @param authors of pull requests, as far as they are known
 */
export function changesAmong(
  runs: readonly ChangeRun[],
  authors: ReadonlyMap<number, number>,
  defaultBranch: string | null,
): (run: ChangeRun) => string {
  const byBranch = new Map(runs.flatMap((run) => (run.pullRequest > 0 ? [[run.branch, run] as const] : [])));
  const rootOf = (run: ChangeRun): ChangeRun => {
    let root = run;
    for (let depth = 0; depth < DEPTH_MAX; depth++) {
      // A fork may have a branch with the name of the default one.
      const base = root.baseRef === defaultBranch ? undefined : byBranch.get(root.baseRef);
      if (!base || base === root) return root;
      root = base;
    }
    return root;
  };
  return (run) => {
    if (run.isOnDefaultBranch) return DEFAULT_BRANCH_CHANGE;
    const root = rootOf(run);
    const author = authors.get(root.pullRequest) ?? authors.get(run.pullRequest);
    if (author !== undefined) return `author ${author}`;
    return root.pullRequest > 0 ? `pull request ${root.pullRequest}` : `branch ${root.branch}`;
  };
}
