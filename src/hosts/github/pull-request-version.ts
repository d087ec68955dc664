/** The pull request of a payload, as the service keeps it. */
import { PULL_REQUEST_TITLE_LENGTH_MAX } from '../../domain/limits.ts';
import type { PullRequestVersion } from '../../queue/pr-events.ts';
import { fit, fitName } from '../webhooks/texts.ts';
import type { PullRequest } from './payloads.ts';

/** For an open pull request, `merge_commit_sha` is the host's test merge, which is not a commit on the branch. */
export const mergeCommitOf = (pull: PullRequest): string | null =>
  pull.merged_at && pull.merge_commit_sha ? fitName(pull.merge_commit_sha) : null;

/** @param repositoryId the host's id of the repository, to tell its branches from those of forks */
export const versionOf = (pull: PullRequest, repositoryId: number): PullRequestVersion => ({
  number: pull.number,
  id: pull.id,
  title: fit(pull.title, PULL_REQUEST_TITLE_LENGTH_MAX),
  author: pull.user ? { id: pull.user.id, login: fitName(pull.user.login) } : null,
  base_ref: fitName(pull.base.ref),
  head_ref: headRefOf(pull, repositoryId),
  head_commit: fitName(pull.head.sha),
  merge_commit: mergeCommitOf(pull),
  updated_at: pull.updated_at,
});

/** `owner:branch` for a branch of a fork: this repository may have a different branch with the same name. */
function headRefOf({ head }: PullRequest, repositoryId: number): string | null {
  if (head.repo?.id === repositoryId) return fitName(head.ref);
  return head.label ? fitName(head.label) : null;
}
