/**
 * What the check of a commit says at its host: whether the gate lets the commit pass, and the text of the comment on its
 * pull request. It follows from the whole commit, so every CI job of it says the same. Pure.
 */
import type { CommitVerdict } from './commit-verdict.ts';
import { inLog } from './foreign-text.ts';
import { type CommentedCommit, commentText } from './pull-comment.ts';
import { cutMiddle } from './told-text.ts';

export interface CommitCheck {
  conclusion: 'success' | 'failure';
  /** One line of plain text. */
  title: string;
  /** Markdown. */
  summary: string;
  /** The page of the commit. */
  url: string;
}

/** GitHub and GitLab take 255 characters. */
export const CHECK_TITLE_MAX = 250;

/**
 * What is not known to be excused is not: of a commit with more failures than were asked for, it fails.
 *
 * @param isExcused by the gate
 */
export function checkOf(commit: CommentedCommit, isExcused: (verdict: CommitVerdict) => boolean): CommitCheck {
  const { failures, total, url } = commit;
  const isPassed = failures.length >= total && failures.every(({ verdict }) => isExcused(verdict));
  const title =
    total === 0
      ? 'All clear: nothing has failed so far'
      : // The sentence goes by what is quarantined alone.
        commit.summary.replace(
          /; the gate (?:passes|fails)[^;]*$/,
          isPassed ? '; the gate passes.' : '; the gate fails.',
        );
  return {
    conclusion: isPassed ? 'success' : 'failure',
    title: cutMiddle(inLog(title).trim(), CHECK_TITLE_MAX),
    summary: commentText(commit),
    url,
  };
}
