/** Deliveries of Gitea and Forgejo: https://docs.gitea.com/usage/webhooks, https://forgejo.org/docs/latest/user/webhooks/. */
import { newEvent } from '../../domain/events.ts';
import type { HostWebhooks } from '../host.ts';
import { type Delivery, hashOf, headersOf, payloadOf, requireEvent } from '../webhooks/delivery.ts';
import { noEvent, type Outcome, otherAction, triggerOf, withEvents } from '../webhooks/outcome.ts';
import { commandOutcome } from '../webhooks/review.ts';
import { signatureCheck } from '../webhooks/signature.ts';
import { fitLabel, fitName } from '../webhooks/texts.ts';
import { commentSchema, deleteSchema, envelopeSchema, jobSchema } from './payloads.ts';
import { pullRequestOutcome, REVIEW_EVENTS } from './pull-request.ts';

/** Forgejo sends its own headers and those of Gitea; either has the hex digits of the HMAC-SHA256 alone. */
const SIGNATURE_HEADERS = ['X-Gitea-Signature', 'X-Forgejo-Signature'];
const EVENT_HEADER = 'X-Gitea-Event';

const BY_EVENT: Readonly<Record<string, (payload: unknown, event: string) => Outcome>> = {
  pull_request: pullRequestOutcome,
  ...Object.fromEntries(REVIEW_EVENTS.map((event) => [event, pullRequestOutcome])),
  issue_comment: commentOutcome,
  delete: deleteOutcome,
  workflow_job: jobOutcome,
};

function commentOutcome(payload: unknown): Outcome {
  const { action, is_pull, issue, comment, sender } = commentSchema.parse(payload);
  if (!is_pull) return noEvent('Comments on issues make no event.');
  if (action !== 'created') return otherAction(action);
  const base = { trigger: triggerOf(sender?.login), pullRequest: issue.number, baseRef: null };
  return commandOutcome({ id: comment.id, text: comment.body }, base);
}

function deleteOutcome(payload: unknown): Outcome {
  const { ref, ref_type, sender } = deleteSchema.parse(payload);
  if (ref_type !== 'branch' || ref === '') return noEvent(`The deletion of a ${ref_type} makes no event.`);
  return {
    ...noEvent('The deletion of a branch makes an event only if a merged pull request came from it.'),
    deletedBranches: [{ branch: fitName(ref), trigger: triggerOf(sender?.login) }],
  };
}

function jobOutcome(payload: unknown): Outcome {
  const { action, workflow_job: job, sender } = jobSchema.parse(payload);
  const attempt = job.run_attempt ?? 1;
  if (action !== 'queued' && action !== 'waiting' && action !== 'in_progress') return otherAction(action);
  if (attempt < 2) return noEvent('The first attempt of a job is not a retry.');
  const metadata = {
    pipeline_name: null,
    job_name: fitLabel(job.name),
    run_id: String(job.run_id),
    run_attempt: attempt,
    commit: fitName(job.head_sha),
    branch: job.head_branch ? fitName(job.head_branch) : null,
  };
  const event = newEvent('ci_insights.job_retried', metadata, { trigger: triggerOf(sender?.login) });
  return withEvents([{ ...event, key: `gitea:job:${job.id}:${attempt}` }]);
}

/** The types of which such a body may be; undefined if that cannot be told. */
function eventsOfBody(payload: unknown): readonly string[] | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined;
  if ('pull_request' in payload && 'review' in payload && payload.review !== null) return REVIEW_EVENTS;
  if ('pull_request' in payload) return ['pull_request'];
  if ('comment' in payload) return ['issue_comment'];
  if ('workflow_job' in payload) return ['workflow_job'];
  return 'pusher_type' in payload ? ['delete'] : undefined;
}

function deliveryOf(headers: Headers, body: Uint8Array): Delivery {
  const { id, event } = headersOf(headers, { id: 'X-Gitea-Delivery', event: EVENT_HEADER });
  const payload = payloadOf(headers, body);
  const told = eventsOfBody(payload);
  if (Object.hasOwn(BY_EVENT, event) && told && !told.includes(event)) requireEvent(EVENT_HEADER, event, told[0]);
  return { id, event, payload, bodyHash: hashOf(body) };
}

export const webhooks = {
  read: Object.keys(BY_EVENT),
  notOffered: [
    'action_run_failure',
    'action_run_recover',
    'action_run_success',
    'create',
    'fork',
    'issues',
    'package',
    'push',
    'release',
    'repository',
    'status',
    'wiki',
    'workflow_run',
  ],
  signatureHeaders: SIGNATURE_HEADERS,
  signatureRule: 'X-Gitea-Signature must be the HMAC-SHA256 of the body with the secret, in hex digits',
  checkOf: (secrets) => {
    const check = signatureCheck(secrets);
    return (headers, body) => {
      const name = SIGNATURE_HEADERS.find((one) => headers.has(one));
      return check(body, name === undefined ? null : `sha256=${headers.get(name)}`);
    };
  },
  deliveryOf,
  // Gitea tests a webhook with a push.
  isTest: () => false,
  repositoryOf({ payload }) {
    const { repository } = envelopeSchema.parse(payload);
    if (!repository) return undefined;
    const { name, owner, html_url: url, default_branch: branch } = repository;
    return { owner: owner.login, name, url, defaultBranch: branch ? branch : null };
  },
  outcomeOf: ({ event, payload }) =>
    BY_EVENT[event]?.(payload, event) ?? noEvent(`There is no event for ${event} deliveries.`),
} satisfies HostWebhooks;
