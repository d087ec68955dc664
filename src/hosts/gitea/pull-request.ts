/** Pull requests of Gitea and Forgejo: what was done to one, and how it is kept. */
import { type NewEvent, newEvent } from '../../domain/events.ts';
import { PULL_REQUEST_TITLE_LENGTH_MAX } from '../../domain/limits.ts';
import type { PullRequestVersion } from '../../queue/pr-events.ts';
import { type EventBase, noEvent, type Outcome, otherAction, triggerOf, withEvents } from '../webhooks/outcome.ts';
import { type REVIEWS, reviewEvent } from '../webhooks/review.ts';
import { fit, fitLabel, fitName } from '../webhooks/texts.ts';
import { type PullRequestPayload, pullRequestSchema } from './payloads.ts';

type Mapping = (payload: PullRequestPayload, base: EventBase) => NewEvent[];

const CHANGED_MAX = 100;
const namesOf = (labels: readonly { name: string }[] | null | undefined): string[] =>
  (labels ?? []).map(({ name }) => fitLabel(name));

/** A delivery of labels names those that came and went since Gitea 1.24. */
const labels: Mapping = ({ changes }, base) => {
  const [added, removed] = [namesOf(changes?.added_labels), namesOf(changes?.removed_labels)];
  return added.length + removed.length === 0 ? [] : [newEvent('action.label', { added, removed }, base)];
};

const BY_ACTION: Readonly<Record<string, Mapping>> = {
  closed: ({ pull_request: pull }, base) => [
    pull.merged
      ? newEvent('action.merge', { branch: base.baseRef, commit: mergeCommitOf(pull) }, base)
      : newEvent('action.close', {}, base),
  ],
  edited: ({ changes }, base) => {
    const changed = Object.keys(changes ?? {})
      .slice(0, CHANGED_MAX)
      .map(fitLabel);
    return [newEvent('action.edit', { changed }, base)];
  },
  label_updated: labels,
  label_cleared: labels,
  synchronized: ({ pull_request: pull }, base) => [
    newEvent('action.update', { before: null, after: fitName(pull.head.sha) }, base),
  ],
  review_requested: ({ requested_reviewer: reviewer }, base) => [
    newEvent('action.request_reviews', { reviewers: reviewer ? [fitName(reviewer.login)] : [] }, base),
  ],
};

/** The type of a delivery about a review → in the words of the log. */
const REVIEW_OF: Readonly<Record<string, keyof typeof REVIEWS>> = {
  pull_request_approved: 'approved',
  pull_request_rejected: 'changes_requested',
  pull_request_comment: 'commented',
};
export const REVIEW_EVENTS = Object.keys(REVIEW_OF);

export function pullRequestOutcome(payload: unknown, event: string): Outcome {
  const read = pullRequestSchema.parse(payload);
  const { action, pull_request: pull, sender, review } = read;
  const version = versionOf(pull);
  const base = { trigger: triggerOf(sender?.login), pullRequest: pull.number, baseRef: fitName(pull.base.ref) };
  const kind = REVIEW_OF[event];
  if (kind) return withEvents([reviewEvent(kind, sender?.login ?? null, base, review?.content ?? null)], version);
  if (!Object.hasOwn(BY_ACTION, action)) return otherAction(action, version);
  const events = BY_ACTION[action]?.(read, base) ?? [];
  return events.length > 0
    ? withEvents(events, version)
    : noEvent('The delivery does not say which labels came or went.', version);
}

type PullRequest = PullRequestPayload['pull_request'];

const mergeCommitOf = (pull: PullRequest): string | null =>
  pull.merged && pull.merge_commit_sha ? fitName(pull.merge_commit_sha) : null;

const versionOf = (pull: PullRequest): PullRequestVersion => ({
  number: pull.number,
  id: pull.id,
  title: fit(pull.title, PULL_REQUEST_TITLE_LENGTH_MAX),
  // Accounts of the host itself, such as that of a deleted user, have numbers below zero.
  author: pull.user && pull.user.id >= 0 ? { id: pull.user.id, login: fitName(pull.user.login) } : null,
  base_ref: fitName(pull.base.ref),
  head_ref: headRefOf(pull),
  head_commit: fitName(pull.head.sha),
  merge_commit: mergeCommitOf(pull),
  updated_at: pull.updated_at,
});

/** `owner:branch` for a branch of a fork: this repository may have a different branch with the same name. */
function headRefOf({ head, base }: PullRequest): string | null {
  if (head.repo_id === base.repo_id) return fitName(head.ref);
  return head.repo ? fitName(`${head.repo.owner.login}:${head.ref}`) : null;
}
