/** Reads from a git ref the branch of a run, or the pull request that it tests. */
import { shortBranch } from '../domain/default-branch.ts';

export interface Head {
  /** Without `refs/heads/`; null for a tag. */
  branch: string | null;
  /** The number in GitHub's `refs/pull/7/merge`, which it also writes as `7/merge`. */
  pullRequest: number | null;
}

export function headOf(ref: string | null): Head {
  if (ref === null || ref.startsWith('refs/tags/')) return { branch: null, pullRequest: null };
  const pull = /^(?:refs\/pull\/)?(\d{1,9})\/(?:merge|head)$/.exec(ref);
  return { branch: shortBranch(ref), pullRequest: pull ? Number(pull[1]) || null : null };
}
