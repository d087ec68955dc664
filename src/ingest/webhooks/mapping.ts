/** From a delivery's payload to what it tells: which events of a host are read, and by what (design §6 "Host webhooks"). */
import { newEvent } from '../../domain/events.ts';
import {
  checkRunSchema,
  deleteSchema,
  type Envelope,
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
import { queueCommandOf } from './queue-command.ts';
import { retriedCheck, retriedWorkflowJob } from './retried-jobs.ts';
import { fitMessage, fitName } from './texts.ts';
import { type About, nothing, otherAction, type Told, told, triggerOf } from './told.ts';

/** Who did it, and where: what all payloads have in common. */
export interface Context {
  repository: NonNullable<Envelope['repository']>;
  sender: Envelope['sender'];
}

const aboutPull = (pull: PullRequest, { sender }: Context): About => ({
  trigger: triggerOf(sender),
  pullRequest: pull.number,
  baseRef: fitName(pull.base.ref),
});

/** By `X-GitHub-Event`. Each throws a ZodError for a payload that lacks what it reads. */
const BY_EVENT: Readonly<Record<string, (payload: unknown, context: Context) => Told>> = {
  pull_request: (payload, context) => {
    const read = pullRequestSchema.parse(payload);
    const version = versionOf(read.pull_request, context.repository.id);
    const events = pullRequestEvents(read, aboutPull(read.pull_request, context));
    return events ? told(events, version) : otherAction(read.action, version);
  },

  pull_request_review: (payload, context) => {
    const { action, pull_request: pull, review } = reviewSchema.parse(payload);
    const about = aboutPull(pull, context);
    const version = versionOf(pull, context.repository.id);
    const reviewer = review.user ? fitName(review.user.login) : null;
    if (action === 'submitted') {
      const message = review.body ? fitMessage(review.body) : null;
      const type = fitName(review.state.toLowerCase());
      return told([newEvent('action.review', { type, reviewer, message }, about)], version);
    }
    if (action === 'dismissed')
      return told([newEvent('action.dismiss_reviews', { users: reviewer ? [reviewer] : [] }, about)], version);
    return otherAction(action, version);
  },

  pull_request_review_comment: (payload, context) =>
    nothing(
      'is of a comment on the code',
      versionOf(reviewCommentSchema.parse(payload).pull_request, context.repository.id),
    ),

  pull_request_review_thread: (payload, context) =>
    nothing(
      'is of a conversation on the code',
      versionOf(reviewThreadSchema.parse(payload).pull_request, context.repository.id),
    ),

  issue_comment: (payload, { sender }) => {
    const { action, issue, comment } = issueCommentSchema.parse(payload);
    if (!issue.pull_request) return nothing('is of a comment on an issue');
    if (action !== 'created') return otherAction(action);
    const command = queueCommandOf(comment.body);
    if (!command) return nothing('is of a comment without a queue command');
    const { type, line, queueName } = command;
    const metadata = {
      command: fitMessage(line),
      queue_name: queueName === null ? null : fitName(queueName),
      comment_id: comment.id,
    };
    return told([newEvent(type, metadata, { trigger: triggerOf(sender), pullRequest: issue.number })]);
  },

  delete: (payload) => {
    const { ref, ref_type } = deleteSchema.parse(payload);
    if (ref_type !== 'branch' || ref === '') return nothing(`is of a ${ref_type}`);
    return {
      ...nothing('is of a branch, which matters where a merged pull request came from it'),
      deletedBranch: fitName(ref),
    };
  },

  repository: (payload, { repository }) => {
    const { action, changes } = repositorySchema.parse(payload);
    const { user, organization } = changes?.owner?.from ?? {};
    const owner = user?.login ?? organization?.login ?? repository.owner.login;
    const name = changes?.repository?.name?.from ?? repository.name;
    if (action !== 'renamed' && action !== 'transferred') return otherAction(action);
    return {
      ...nothing(`is of a repository that was ${action}: it keeps what is stored`),
      renamedFrom: { owner, name },
    };
  },

  workflow_job: (payload, { sender }) => retriedWorkflowJob(workflowJobSchema.parse(payload), triggerOf(sender)),

  check_run: (payload, { sender, repository }) =>
    retriedCheck(checkRunSchema.parse(payload), triggerOf(sender), repository.id),
};

/** Whether deliveries of this event are read at all. */
export const isRead = (event: string): boolean => Object.hasOwn(BY_EVENT, event);

/**
 * What a delivery tells. Throws a ZodError when its payload is not what the host sends.
 *
 * @param event one for which {@link isRead} holds
 */
export const tell = (event: string, payload: unknown, context: Context): Told =>
  BY_EVENT[event]?.(payload, context) ?? nothing('is of no event that is read');
