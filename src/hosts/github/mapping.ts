/** From the payload of a delivery to its outcome: which events of the host are read, and how. */
import { newEvent } from '../../domain/events.ts';
import type { DeliveredRepository } from '../host.ts';
import type { Delivery } from '../webhooks/delivery.ts';
import { type EventBase, noEvent, type Outcome, otherAction, triggerOf, withEvents } from '../webhooks/outcome.ts';
import { commandOutcome } from '../webhooks/review.ts';
import { fitMessage, fitName } from '../webhooks/texts.ts';
import {
  checkRunSchema,
  deleteSchema,
  type Envelope,
  envelopeSchema,
  issueCommentSchema,
  type PullRequest,
  pullRequestSchema,
  repositorySchema,
  reviewCommentSchema,
  reviewSchema,
  reviewThreadSchema,
  workflowJobSchema,
} from './payloads.ts';
import { pullRequestEvents } from './pull-request-events.ts';
import { versionOf } from './pull-request-version.ts';
import { retriedCheck, retriedWorkflowJob } from './retried-jobs.ts';

/** Common to all payloads: who did something, and where. */
interface Context {
  repository: NonNullable<Envelope['repository']>;
  sender: Envelope['sender'];
}

const baseOf = (pull: PullRequest, { sender }: Context): EventBase => ({
  trigger: triggerOf(sender?.login),
  pullRequest: pull.number,
  baseRef: fitName(pull.base.ref),
});

/** The host's word for a review → that of the public interface. */
const REVIEW_TYPES: ReadonlyMap<string, string> = new Map([
  ['approved', 'APPROVE'],
  ['changes_requested', 'REQUEST_CHANGES'],
  ['commented', 'COMMENT'],
]);

/** By `X-GitHub-Event`. Each throws a ZodError for a payload that lacks what it reads. */
const BY_EVENT: Readonly<Record<string, (payload: unknown, context: Context) => Outcome>> = {
  pull_request: (payload, context) => {
    const read = pullRequestSchema.parse(payload);
    const version = versionOf(read.pull_request, context.repository.id);
    const events = pullRequestEvents(read, baseOf(read.pull_request, context));
    return events ? withEvents(events, version) : otherAction(read.action, version);
  },

  pull_request_review: (payload, context) => {
    const { action, pull_request: pull, review } = reviewSchema.parse(payload);
    const base = baseOf(pull, context);
    const version = versionOf(pull, context.repository.id);
    const reviewer = review.user ? fitName(review.user.login) : null;
    if (action === 'submitted') {
      const message = review.body ? fitMessage(review.body) : null;
      const type = fitName(review.state.toLowerCase());
      const review_type = REVIEW_TYPES.get(type) ?? null;
      return withEvents([newEvent('action.review', { type, review_type, reviewer, message }, base)], version);
    }
    if (action === 'dismissed')
      return withEvents([newEvent('action.dismiss_reviews', { users: reviewer ? [reviewer] : [] }, base)], version);
    return otherAction(action, version);
  },

  pull_request_review_comment: (payload, context) =>
    noEvent(
      'Comments on the code make no event.',
      versionOf(reviewCommentSchema.parse(payload).pull_request, context.repository.id),
    ),

  pull_request_review_thread: (payload, context) =>
    noEvent(
      'Conversations on the code make no event.',
      versionOf(reviewThreadSchema.parse(payload).pull_request, context.repository.id),
    ),

  issue_comment: (payload, { sender }) => {
    const { action, issue, comment } = issueCommentSchema.parse(payload);
    if (!issue.pull_request) return noEvent('Comments on issues make no event.');
    if (action !== 'created') return otherAction(action);
    const base = { trigger: triggerOf(sender?.login), pullRequest: issue.number, baseRef: null };
    return commandOutcome({ id: comment.id, text: comment.body }, base);
  },

  delete: (payload, { sender }) => {
    const { ref, ref_type } = deleteSchema.parse(payload);
    if (ref_type !== 'branch' || ref === '') return noEvent(`The deletion of a ${ref_type} makes no event.`);
    return {
      ...noEvent('The deletion of a branch makes an event only if a merged pull request came from it.'),
      deletedBranches: [{ branch: fitName(ref), trigger: triggerOf(sender?.login) }],
    };
  },

  repository: (payload, { repository }) => {
    const { action, changes } = repositorySchema.parse(payload);
    const { user, organization } = changes?.owner?.from ?? {};
    const owner = user?.login ?? organization?.login ?? repository.owner.login;
    const name = changes?.repository?.name?.from ?? repository.name;
    if (action !== 'renamed' && action !== 'transferred') return otherAction(action);
    return {
      ...noEvent(`The repository was ${action}. It keeps what is stored.`),
      renamedFrom: { owner, name },
    };
  },

  workflow_job: (payload, { sender }) => retriedWorkflowJob(workflowJobSchema.parse(payload), triggerOf(sender?.login)),

  check_run: (payload, { sender, repository }) =>
    retriedCheck(checkRunSchema.parse(payload), triggerOf(sender?.login), repository.id),
};

/** The types of deliveries that are read. */
export const READ = Object.keys(BY_EVENT);

/** Whether deliveries of this event are read. */
export const isRead = (event: string): boolean => Object.hasOwn(BY_EVENT, event);

/** The repository of a delivery; undefined if it names none. Throws a ZodError if the payload is not what the host sends. */
export function repositoryOf({ payload }: Delivery): DeliveredRepository | undefined {
  const { repository } = envelopeSchema.parse(payload);
  if (!repository) return undefined;
  const { name, owner, html_url: url, default_branch: branch } = repository;
  return { owner: owner.login, name, url, defaultBranch: branch ? branch : null };
}

/** The outcome of a delivery. Throws a ZodError if the payload is not what the host sends. */
export function outcomeOf({ event, payload }: Delivery): Outcome {
  const { repository, sender } = envelopeSchema.parse(payload);
  const none = noEvent(`There is no event for ${event} deliveries.`);
  return (repository && BY_EVENT[event]?.(payload, { repository, sender })) ?? none;
}
