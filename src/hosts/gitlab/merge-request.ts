/** Merge requests: what was done to one, and how it is kept. */
import { type NewEvent, newEvent } from '../../domain/events.ts';
import { PULL_REQUEST_TITLE_LENGTH_MAX } from '../../domain/limits.ts';
import type { PullRequestVersion } from '../../queue/pr-events.ts';
import { type EventBase, type Outcome, otherAction, triggerOf, withEvents } from '../webhooks/outcome.ts';
import { reviewEvent } from '../webhooks/review.ts';
import { fit, fitLabel, fitName } from '../webhooks/texts.ts';
import { nameOf } from './path.ts';
import type { MergeRequestPayload } from './payloads.ts';

type Mapping = (payload: MergeRequestPayload, base: EventBase) => NewEvent[];
type Changes = NonNullable<MergeRequestPayload['changes']>;

/** No real edit changes more fields at once; lists in metadata are bounded. */
const CHANGED_MAX = 100;

/** What a change takes away and adds, by name. */
function difference(previous: readonly string[] = [], current: readonly string[] = []) {
  return {
    added: current.filter((name) => !previous.includes(name)).map(fitLabel),
    removed: previous.filter((name) => !current.includes(name)).map(fitLabel),
  };
}

const titles = (labels: readonly { title: string }[] | null | undefined) => labels?.map(({ title }) => title);
const logins = (users: readonly { username: string }[] | null | undefined) => users?.map(({ username }) => username);

/** Fields that change with every delivery, or that have separate events. */
const UNTOLD: ReadonlySet<string> = new Set(['updated_at', 'updated_by_id', 'last_edited_at', 'last_edited_by_id']);
const TOLD_APART: ReadonlySet<string> = new Set(['labels', 'assignees', 'reviewers']);

const approved: Mapping = ({ user }, base) => [reviewEvent('approved', user.username, base)];
const withdrawn: Mapping = ({ user }, base) => [
  newEvent('action.dismiss_reviews', { users: [fitName(user.username)] }, base),
];

/** `approval` is one of several that are needed, `approved` the last of them. */
const BY_ACTION: Readonly<Record<string, Mapping>> = {
  close: (_, base) => [newEvent('action.close', {}, base)],
  merge: ({ object_attributes: request }, base) => [
    newEvent('action.merge', { branch: base.baseRef, commit: mergeCommitOf(request) }, base),
  ],
  approval: approved,
  approved,
  unapproval: withdrawn,
  unapproved: withdrawn,
  update: ({ object_attributes: { oldrev, last_commit: head }, changes }, base) => [
    ...(oldrev
      ? [newEvent('action.update', { before: fitName(oldrev), after: head ? fitName(head.id) : null }, base)]
      : []),
    ...changesOf(changes ?? {}, base),
  ],
};

function changesOf(changes: Partial<Changes>, base: EventBase): NewEvent[] {
  const { labels, assignees, reviewers, draft } = changes;
  const events: NewEvent[] = [];
  if (labels) events.push(newEvent('action.label', difference(titles(labels.previous), titles(labels.current)), base));
  if (assignees)
    events.push(newEvent('action.assign', difference(logins(assignees.previous), logins(assignees.current)), base));
  const asked = reviewers ? difference(logins(reviewers.previous), logins(reviewers.current)).added : [];
  if (asked.length > 0) events.push(newEvent('action.request_reviews', { reviewers: asked }, base));
  const changed = Object.keys(changes).filter((field) => !UNTOLD.has(field) && !TOLD_APART.has(field));
  if (changed.length > 0) {
    const fields = changed.slice(0, CHANGED_MAX).map(fitLabel);
    events.push(newEvent('action.edit', { draft: draft?.current ?? null, changed: fields }, base));
  }
  return events;
}

/** A merge without a merge commit leaves the squashed commit or the head on the target branch. */
const mergeCommitOf = (request: MergeRequestPayload['object_attributes']): string | null => {
  if (request.state !== 'merged') return null;
  const commit = request.merge_commit_sha ?? request.squash_commit_sha ?? request.last_commit?.id;
  return commit ? fitName(commit) : null;
};

export function mergeRequestOutcome(payload: MergeRequestPayload): Outcome {
  const { user, object_attributes: request } = payload;
  const { action } = request;
  const version = versionOf(payload);
  const base = {
    trigger: triggerOf(user.username),
    pullRequest: request.iid,
    baseRef: fitName(request.target_branch),
  };
  const events = action && Object.hasOwn(BY_ACTION, action) ? (BY_ACTION[action]?.(payload, base) ?? []) : [];
  return events.length > 0 ? withEvents(events, version) : otherAction(action ?? undefined, version);
}

const versionOf = (payload: MergeRequestPayload): PullRequestVersion => {
  const { object_attributes: request } = payload;
  return {
    number: request.iid,
    id: request.id,
    title: fit(request.title, PULL_REQUEST_TITLE_LENGTH_MAX),
    author: authorOf(payload),
    base_ref: fitName(request.target_branch),
    head_ref: headRefOf(request),
    head_commit: request.last_commit ? fitName(request.last_commit.id) : null,
    merge_commit: mergeCommitOf(request),
    updated_at: request.updated_at,
  };
};

/** A delivery has the author's number, but only the names of who acts, is assigned or reviews. */
function authorOf({ user, assignees, reviewers, object_attributes: { author_id: id } }: MergeRequestPayload) {
  if (id === null || id === undefined) return null;
  const found = [user, ...(assignees ?? []), ...(reviewers ?? [])].find((one) => one.id === id);
  return found ? { id, login: fitName(found.username) } : null;
}

/** `group:branch` for a branch of a fork: this project may have a different branch with the same name. */
function headRefOf(request: MergeRequestPayload['object_attributes']): string | null {
  if (request.source_project_id === request.target_project_id) return fitName(request.source_branch);
  return request.source
    ? fitName(`${nameOf(request.source.path_with_namespace).owner}:${request.source_branch}`)
    : null;
}
