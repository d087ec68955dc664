/** Deliveries of Bitbucket Cloud: which types are read, and how. */
import { newEvent } from '../../domain/events.ts';
import { accountIdOf } from '../../domain/identity.ts';
import { PULL_REQUEST_TITLE_LENGTH_MAX } from '../../domain/limits.ts';
import type { RepositoryName } from '../../domain/repository-path.ts';
import type { PullRequestVersion } from '../../queue/pr-events.ts';
import type { HostWebhooks } from '../host.ts';
import { type Delivery, hashOf, headersOf, payloadOf, requireEvent } from '../webhooks/delivery.ts';
import { type EventBase, noEvent, type Outcome, triggerOf, withEvents } from '../webhooks/outcome.ts';
import { commandOutcome, reviewEvent } from '../webhooks/review.ts';
import { signatureCheck } from '../webhooks/signature.ts';
import { fit, fitName } from '../webhooks/texts.ts';
import {
  type Account,
  envelopeSchema,
  type PullRequestPayload,
  pullRequestSchema,
  pushSchema,
  transferSchema,
  updatedSchema,
} from './payloads.ts';

const EVENT_HEADER = 'X-Event-Key';
const SIGNATURE_HEADER = 'X-Hub-Signature';

type Mapping = (payload: PullRequestPayload, base: EventBase) => Outcome;

const loginOf = (account: Account): string | null => account?.nickname ?? null;

/** The types about pull requests. A delivery of a change does not say what changed. */
const OF_PULL_REQUESTS: Readonly<Record<string, Mapping>> = {
  'pullrequest:created': () => noEvent('There is no event for a pull request that is opened.'),
  'pullrequest:updated': (_, base) => withEvents([newEvent('action.edit', { draft: null, changed: [] }, base)]),
  'pullrequest:approved': ({ actor }, base) => withEvents([reviewEvent('approved', loginOf(actor), base)]),
  'pullrequest:changes_request_created': ({ actor }, base) =>
    withEvents([reviewEvent('changes_requested', loginOf(actor), base)]),
  'pullrequest:unapproved': withdrawn,
  'pullrequest:changes_request_removed': withdrawn,
  'pullrequest:fulfilled': ({ pullrequest: pull }, base) =>
    withEvents([newEvent('action.merge', { branch: base.baseRef, commit: mergeCommitOf(pull) }, base)]),
  'pullrequest:rejected': (_, base) => withEvents([newEvent('action.close', {}, base)]),
  'pullrequest:comment_created': ({ comment }, base) =>
    comment
      ? commandOutcome({ id: comment.id, text: comment.content.raw }, base)
      : noEvent('The delivery has no comment.'),
};

function withdrawn({ actor }: PullRequestPayload, base: EventBase): Outcome {
  const login = loginOf(actor);
  return withEvents([newEvent('action.dismiss_reviews', { users: login === null ? [] : [fitName(login)] }, base)]);
}

const OF_REPOSITORIES: Readonly<Record<string, (payload: unknown) => Outcome>> = {
  'repo:push': (payload) => {
    const { actor, push } = pushSchema.parse(payload);
    const deleted = push.changes.flatMap(({ new: now, old }) => (now === null && old?.type === 'branch' ? [old] : []));
    if (deleted.length === 0) return noEvent('Pushes make no event.');
    const trigger = triggerOf(loginOf(actor));
    return {
      ...noEvent('The deletion of a branch makes an event only if a merged pull request came from it.'),
      deletedBranches: deleted.map(({ name }) => ({ branch: fitName(name), trigger })),
    };
  },
  'repo:updated': (payload) => {
    const moved = updatedSchema.parse(payload).changes?.full_name;
    return moved ? movedFrom(nameOf(moved.old)) : noEvent('The settings of the repository make no event.');
  },
  'repo:transfer': (payload) => {
    const { repository, previousworkspace: before } = transferSchema.parse(payload);
    if (!before) return noEvent('The delivery does not say where the repository was.');
    return movedFrom({ owner: before.slug, name: nameOf(repository.full_name).name });
  },
};

const movedFrom = (renamedFrom: RepositoryName): Outcome => ({
  ...noEvent('The repository was moved. It keeps what is stored.'),
  renamedFrom,
});

function nameOf(fullName: string): RepositoryName {
  const [owner = '', name = ''] = fullName.split('/');
  return { owner, name };
}

function pullRequestOutcome(payload: unknown, read: Mapping): Outcome {
  const parsed = pullRequestSchema.parse(payload);
  const { actor, pullrequest: pull } = parsed;
  const base = {
    trigger: triggerOf(loginOf(actor)),
    pullRequest: pull.id,
    baseRef: fitName(pull.destination.branch.name),
  };
  return { ...read(parsed, base), pullRequest: versionOf(pull) };
}

type PullRequest = PullRequestPayload['pullrequest'];

const mergeCommitOf = (pull: PullRequest): string | null =>
  pull.state === 'MERGED' && pull.merge_commit ? fitName(pull.merge_commit.hash) : null;

/** Accounts are named by a UUID, of which a number is made. */
const versionOf = (pull: PullRequest): PullRequestVersion => ({
  number: pull.id,
  id: pull.id,
  title: fit(pull.title, PULL_REQUEST_TITLE_LENGTH_MAX),
  author:
    pull.author?.uuid && pull.author.nickname
      ? { id: accountIdOf(pull.author.uuid), login: fitName(pull.author.nickname) }
      : null,
  base_ref: fitName(pull.destination.branch.name),
  head_ref: headRefOf(pull),
  head_commit: pull.source.commit ? fitName(pull.source.commit.hash) : null,
  merge_commit: mergeCommitOf(pull),
  updated_at: pull.updated_on,
});

/** `workspace:branch` for a branch of a fork: this repository may have a different branch with the same name. */
function headRefOf({ source, destination }: PullRequest): string | null {
  if (!source.repository) return null;
  const { full_name: from } = source.repository;
  const name = source.branch.name;
  return fitName(from === destination.repository?.full_name ? name : `${nameOf(from).owner}:${name}`);
}

function deliveryOf(headers: Headers, body: Uint8Array): Delivery {
  const { id, event } = headersOf(headers, { id: 'X-Request-UUID', event: EVENT_HEADER });
  const payload = payloadOf(headers, body);
  // The body does not name its type: only a pull request can be told from a repository.
  const isOfPull = typeof payload === 'object' && payload !== null && 'pullrequest' in payload;
  if (isOfPull !== event.startsWith('pullrequest:') && isRead(event))
    requireEvent(EVENT_HEADER, event, isOfPull ? 'a pull request' : 'a repository');
  return { id, event, payload, bodyHash: hashOf(body) };
}

const isRead = (event: string): boolean =>
  Object.hasOwn(OF_PULL_REQUESTS, event) || Object.hasOwn(OF_REPOSITORIES, event);

export const webhooks = {
  read: [...Object.keys(OF_PULL_REQUESTS), ...Object.keys(OF_REPOSITORIES)],
  notOffered: [
    'issue:comment_created',
    'issue:created',
    'issue:updated',
    'project:updated',
    'pullrequest:comment_deleted',
    'pullrequest:comment_reopened',
    'pullrequest:comment_resolved',
    'pullrequest:comment_updated',
    'repo:commit_comment_created',
    'repo:commit_status_created',
    'repo:commit_status_updated',
    'repo:created',
    'repo:deleted',
    'repo:fork',
    'repo:imported',
  ],
  signatureHeaders: [SIGNATURE_HEADER],
  signatureRule: 'X-Hub-Signature must be `sha256=` and the HMAC-SHA256 of the body with the secret',
  checkOf: (secrets) => {
    const check = signatureCheck(secrets);
    return (headers, body) => check(body, headers.get(SIGNATURE_HEADER));
  },
  deliveryOf,
  isTest: () => false,
  repositoryOf({ payload }) {
    const { repository } = envelopeSchema.parse(payload);
    if (!repository) return undefined;
    const { full_name, links, mainbranch } = repository;
    return { ...nameOf(full_name), url: links.html.href, defaultBranch: mainbranch?.name ?? null };
  },
  outcomeOf({ event, payload }) {
    const ofPull = OF_PULL_REQUESTS[event];
    if (ofPull) return pullRequestOutcome(payload, ofPull);
    return OF_REPOSITORIES[event]?.(payload) ?? noEvent(`There is no event for ${event} deliveries.`);
  },
} satisfies HostWebhooks;
