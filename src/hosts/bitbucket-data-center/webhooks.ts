/** Deliveries of Bitbucket Data Center: which types are read, and how. */
import { newEvent } from '../../domain/events.ts';
import { PULL_REQUEST_TITLE_LENGTH_MAX } from '../../domain/limits.ts';
import type { PullRequestVersion } from '../../queue/pr-events.ts';
import type { HostWebhooks } from '../host.ts';
import { type Delivery, hashOf, headersOf, payloadOf, requireEvent } from '../webhooks/delivery.ts';
import { type EventBase, noEvent, type Outcome, triggerOf, withEvents } from '../webhooks/outcome.ts';
import { commandOutcome, reviewEvent } from '../webhooks/review.ts';
import { signatureCheck } from '../webhooks/signature.ts';
import { fit, fitName } from '../webhooks/texts.ts';
import {
  changedSchema,
  envelopeSchema,
  modifiedSchema,
  type PullRequestPayload,
  pullRequestSchema,
  type Repository,
} from './payloads.ts';

const EVENT_HEADER = 'X-Event-Key';
const SIGNATURE_HEADER = 'X-Hub-Signature';

type Mapping = (payload: PullRequestPayload, base: EventBase) => Outcome;

const OF_PULL_REQUESTS: Readonly<Record<string, Mapping>> = {
  'pr:opened': () => noEvent('There is no event for a pull request that is opened.'),
  'pr:from_ref_updated': ({ previousFromHash: before, pullRequest: pull }, base) =>
    withEvents([
      newEvent(
        'action.update',
        { before: before ? fitName(before) : null, after: fitName(pull.fromRef.latestCommit) },
        base,
      ),
    ]),
  'pr:modified': (payload, base) => {
    const { title, toRef, draft } = payload.pullRequest;
    const changed = [
      ...((payload.previousTitle ?? title) === title ? [] : ['title']),
      ...((payload.previousDescription ?? null) === null ? [] : ['description']),
      ...((payload.previousTarget ?? toRef).displayId === toRef.displayId ? [] : ['target']),
    ];
    return withEvents([newEvent('action.edit', { draft: draft ?? null, changed }, base)]);
  },
  'pr:reviewer:updated': ({ addedReviewers }, base) => {
    const reviewers = (addedReviewers ?? []).map(({ name }) => fitName(name));
    if (reviewers.length === 0) return noEvent('Withdrawing a request for a review makes no event.');
    return withEvents([newEvent('action.request_reviews', { reviewers }, base)]);
  },
  'pr:reviewer:approved': ({ actor }, base) => withEvents([reviewEvent('approved', actor.name, base)]),
  // The older name of the next.
  'pr:reviewer:needs_work': changesRequested,
  'pr:reviewer:changes_requested': changesRequested,
  'pr:reviewer:unapproved': ({ actor }, base) =>
    withEvents([newEvent('action.dismiss_reviews', { users: [fitName(actor.name)] }, base)]),
  'pr:merged': ({ pullRequest: pull }, base) =>
    withEvents([newEvent('action.merge', { branch: base.baseRef, commit: mergeCommitOf(pull) }, base)]),
  'pr:declined': (_, base) => withEvents([newEvent('action.close', {}, base)]),
  'pr:comment:added': ({ comment }, base) =>
    comment ? commandOutcome(comment, base) : noEvent('The delivery has no comment.'),
};

function changesRequested({ actor }: PullRequestPayload, base: EventBase): Outcome {
  return withEvents([reviewEvent('changes_requested', actor.name, base)]);
}

const OF_REPOSITORIES: Readonly<Record<string, (payload: unknown) => Outcome>> = {
  'repo:refs_changed': (payload) => {
    const { actor, changes } = changedSchema.parse(payload);
    const deleted = changes.filter(({ ref, type }) => type === 'DELETE' && ref.type === 'BRANCH');
    if (deleted.length === 0) return noEvent('Pushes make no event.');
    const trigger = triggerOf(actor.name);
    return {
      ...noEvent('The deletion of a branch makes an event only if a merged pull request came from it.'),
      deletedBranches: deleted.map(({ ref }) => ({ branch: fitName(ref.displayId), trigger })),
    };
  },
  'repo:modified': (payload) => {
    const { old, new: now } = modifiedSchema.parse(payload);
    const [before, after] = [nameOf(old), nameOf(now)];
    if (before.owner === after.owner && before.name === after.name)
      return noEvent('The settings of the repository make no event.');
    return { ...noEvent('The repository was moved. It keeps what is stored.'), renamedFrom: before };
  },
};

const nameOf = ({ slug, project }: Repository) => ({ owner: project.key, name: slug });

function pullRequestOutcome(payload: unknown, read: Mapping): Outcome {
  const parsed = pullRequestSchema.parse(payload);
  const { actor, pullRequest: pull } = parsed;
  const base = { trigger: triggerOf(actor.name), pullRequest: pull.id, baseRef: fitName(pull.toRef.displayId) };
  return { ...read(parsed, base), pullRequest: versionOf(pull) };
}

type PullRequest = PullRequestPayload['pullRequest'];

const mergeCommitOf = ({ state, properties }: PullRequest): string | null =>
  state === 'MERGED' && properties?.mergeCommit ? fitName(properties.mergeCommit.id) : null;

const versionOf = (pull: PullRequest): PullRequestVersion => ({
  number: pull.id,
  id: pull.id,
  title: fit(pull.title, PULL_REQUEST_TITLE_LENGTH_MAX),
  author: authorOf(pull),
  base_ref: fitName(pull.toRef.displayId),
  head_ref: headRefOf(pull),
  head_commit: fitName(pull.fromRef.latestCommit),
  merge_commit: mergeCommitOf(pull),
  updated_at: new Date(pull.updatedDate).toISOString(),
});

function authorOf({ author }: PullRequest) {
  const id = author?.user.id;
  return author && typeof id === 'number' ? { id, login: fitName(author.user.name) } : null;
}

/** `PROJECT:branch` for a branch of a fork: this repository may have a different branch with the same name. */
const headRefOf = ({ fromRef, toRef }: PullRequest): string =>
  fitName(
    fromRef.repository.id === toRef.repository.id
      ? fromRef.displayId
      : `${fromRef.repository.project.key}:${fromRef.displayId}`,
  );

function deliveryOf(headers: Headers, body: Uint8Array): Delivery {
  const { id, event } = headersOf(headers, { id: 'X-Request-Id', event: EVENT_HEADER });
  const payload = payloadOf(headers, body);
  const told = typeof payload === 'object' && payload !== null && 'eventKey' in payload ? payload.eventKey : undefined;
  if (typeof told === 'string') requireEvent(EVENT_HEADER, event, told);
  return { id, event, payload, bodyHash: hashOf(body) };
}

export const webhooks = {
  read: [...Object.keys(OF_PULL_REQUESTS), ...Object.keys(OF_REPOSITORIES)],
  notOffered: [
    'mirror:repo_synchronized',
    'pr:comment:deleted',
    'pr:comment:edited',
    'pr:deleted',
    'pr:to_ref_updated',
    'project:modified',
    'repo:comment:added',
    'repo:comment:deleted',
    'repo:comment:edited',
    'repo:forked',
    'repo:secret_detected',
  ],
  signatureHeaders: [SIGNATURE_HEADER],
  signatureRule: 'X-Hub-Signature must be `sha256=` and the HMAC-SHA256 of the body with the secret',
  checkOf: (secrets) => {
    const check = signatureCheck(secrets);
    return (headers, body) => check(body, headers.get(SIGNATURE_HEADER));
  },
  deliveryOf,
  isTest: ({ event }) => event === 'diagnostics:ping',
  repositoryOf({ payload }) {
    const { repository, pullRequest, new: moved } = envelopeSchema.parse(payload);
    const found = moved ?? repository ?? pullRequest?.toRef.repository;
    if (!found) return undefined;
    const url = found.links?.self?.[0]?.href.replace(/\/browse$/, '') ?? null;
    return { ...nameOf(found), url, defaultBranch: null };
  },
  outcomeOf({ event, payload }) {
    const ofPull = OF_PULL_REQUESTS[event];
    if (ofPull) return pullRequestOutcome(payload, ofPull);
    return OF_REPOSITORIES[event]?.(payload) ?? noEvent(`There is no event for ${event} deliveries.`);
  },
} satisfies HostWebhooks;
