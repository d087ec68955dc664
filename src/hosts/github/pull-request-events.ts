/** From `pull_request` deliveries to events: what was done to a pull request. */
import { type NewEvent, newEvent } from '../../domain/events.ts';
import type { EventBase } from '../webhooks/outcome.ts';
import { fitLabel, fitMessage, fitName } from '../webhooks/texts.ts';
import type { PullRequestPayload } from './payloads.ts';
import { mergeCommitOf } from './pull-request-version.ts';

type Mapping = (payload: PullRequestPayload, base: EventBase) => NewEvent[];

/** No real edit changes more fields at once; lists in metadata are bounded. */
const CHANGED_MAX = 100;

const assigneeOf = ({ assignee }: PullRequestPayload): string[] => (assignee ? [fitName(assignee.login)] : []);
const labelOf = ({ label }: PullRequestPayload): string[] => (label ? [fitLabel(label.name)] : []);
const some = (value: string | undefined): string[] => (value ? [fitLabel(value)] : []);

/** Events by the action of the delivery. The event log does not cover other actions. */
const BY_ACTION: Readonly<Record<string, Mapping>> = {
  assigned: (payload, base) => [newEvent('action.assign', { added: assigneeOf(payload) }, base)],
  unassigned: (payload, base) => [newEvent('action.assign', { removed: assigneeOf(payload) }, base)],
  labeled: (payload, base) => [newEvent('action.label', { added: labelOf(payload) }, base)],
  unlabeled: (payload, base) => [newEvent('action.label', { removed: labelOf(payload) }, base)],
  closed: ({ pull_request: pull }, base) => [
    pull.merged_at
      ? newEvent('action.merge', { branch: base.baseRef, commit: mergeCommitOf(pull) }, base)
      : newEvent('action.close', {}, base),
  ],
  review_requested: ({ requested_reviewer: reviewer, requested_team: team }, base) => [
    newEvent('action.request_reviews', { reviewers: some(reviewer?.login), team_reviewers: some(team?.slug) }, base),
  ],
  edited: ({ changes }, base) => [
    newEvent(
      'action.edit',
      {
        changed: Object.keys(changes ?? {})
          .slice(0, CHANGED_MAX)
          .map(fitLabel),
      },
      base,
    ),
  ],
  converted_to_draft: (_, base) => [newEvent('action.edit', { draft: true, changed: ['draft'] }, base)],
  ready_for_review: (_, base) => [newEvent('action.edit', { draft: false, changed: ['draft'] }, base)],
  synchronize: ({ before, after }, base) => [
    newEvent('action.update', { before: before ? fitName(before) : null, after: after ? fitName(after) : null }, base),
  ],
  enqueued: (_, base) => [newEvent('action.queue.enter', { branch: base.baseRef }, base)],
  dequeued: ({ reason, pull_request: pull }, base) => {
    const why = reason?.toUpperCase() ?? null;
    const left = newEvent(
      'action.queue.leave',
      {
        branch: base.baseRef,
        reason: reason ? fitMessage(reason) : null,
        merged: why === null ? null : MERGED_REASONS.has(why),
      },
      base,
    );
    const commit = mergeCommitOf(pull);
    const merged = newEvent('action.queue.merged', { branch: base.baseRef, commit, merge_commit_sha: commit }, base);
    return why === MERGED_BY_QUEUE ? [left, merged] : [left];
  },
};

/** The host's reason if its merge queue merged the pull request. */
const MERGED_BY_QUEUE = 'MERGE';
/** Merged, by the queue or without it. */
const MERGED_REASONS: ReadonlySet<string> = new Set([MERGED_BY_QUEUE, 'ALREADY_MERGED']);

/** The events of a `pull_request` delivery; null if there is none for its action. */
export function pullRequestEvents(payload: PullRequestPayload, base: EventBase): NewEvent[] | null {
  return Object.hasOwn(BY_ACTION, payload.action) ? (BY_ACTION[payload.action]?.(payload, base) ?? null) : null;
}
