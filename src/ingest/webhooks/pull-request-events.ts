/** `pull_request` deliveries: what was done to a pull request → events of the log (design §6). */
import { type NewEvent, newEvent } from '../../domain/events.ts';
import type { PullRequestPayload } from './payloads.ts';
import { mergeCommitOf } from './pull-request-version.ts';
import { fitLabel, fitMessage, fitName } from './texts.ts';
import type { About } from './told.ts';

type Mapping = (payload: PullRequestPayload, about: About) => NewEvent[];

/** More fields than this change at once in no real edit; the list of a metadata is bounded. */
const CHANGED_MAX = 100;

const assigneeOf = ({ assignee }: PullRequestPayload): string[] => (assignee ? [fitName(assignee.login)] : []);
const labelOf = ({ label }: PullRequestPayload): string[] => (label ? [fitLabel(label.name)] : []);
const some = (value: string | undefined): string[] => (value ? [fitLabel(value)] : []);

/** Events by the action of the delivery. Other actions change nothing that the log tells of. */
const BY_ACTION: Readonly<Record<string, Mapping>> = {
  assigned: (payload, about) => [newEvent('action.assign', { added: assigneeOf(payload) }, about)],
  unassigned: (payload, about) => [newEvent('action.assign', { removed: assigneeOf(payload) }, about)],
  labeled: (payload, about) => [newEvent('action.label', { added: labelOf(payload) }, about)],
  unlabeled: (payload, about) => [newEvent('action.label', { removed: labelOf(payload) }, about)],
  closed: ({ pull_request: pull }, about) => [
    pull.merged_at
      ? newEvent('action.merge', { branch: about.baseRef, commit: mergeCommitOf(pull) }, about)
      : newEvent('action.close', {}, about),
  ],
  review_requested: ({ requested_reviewer: reviewer, requested_team: team }, about) => [
    newEvent('action.request_reviews', { reviewers: some(reviewer?.login), team_reviewers: some(team?.slug) }, about),
  ],
  edited: ({ changes }, about) => [
    newEvent(
      'action.edit',
      {
        changed: Object.keys(changes ?? {})
          .slice(0, CHANGED_MAX)
          .map(fitLabel),
      },
      about,
    ),
  ],
  converted_to_draft: (_, about) => [newEvent('action.edit', { draft: true, changed: ['draft'] }, about)],
  ready_for_review: (_, about) => [newEvent('action.edit', { draft: false, changed: ['draft'] }, about)],
  synchronize: ({ before, after }, about) => [
    newEvent('action.update', { before: before ? fitName(before) : null, after: after ? fitName(after) : null }, about),
  ],
  enqueued: (_, about) => [newEvent('action.queue.enter', { branch: about.baseRef }, about)],
  dequeued: ({ reason, pull_request: pull }, about) => {
    const why = reason?.toUpperCase() ?? null;
    const left = newEvent(
      'action.queue.leave',
      {
        branch: about.baseRef,
        reason: reason ? fitMessage(reason) : null,
        merged: why === null ? null : MERGED_REASONS.has(why),
      },
      about,
    );
    const merged = newEvent('action.queue.merged', { branch: about.baseRef, commit: mergeCommitOf(pull) }, about);
    return why === MERGED_BY_QUEUE ? [left, merged] : [left];
  },
};

/** The host's reason when its merge queue has merged the pull request. */
const MERGED_BY_QUEUE = 'MERGE';
/** Merged, whether by the queue or past it. */
const MERGED_REASONS: ReadonlySet<string> = new Set([MERGED_BY_QUEUE, 'ALREADY_MERGED']);

/** The events of a `pull_request` delivery; null when the log has none for its action. */
export function pullRequestEvents(payload: PullRequestPayload, about: About): NewEvent[] | null {
  return Object.hasOwn(BY_ACTION, payload.action) ? (BY_ACTION[payload.action]?.(payload, about) ?? null) : null;
}
