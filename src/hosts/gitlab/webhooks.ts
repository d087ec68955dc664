/** Deliveries of GitLab: which types are read, and how. */
import { newEvent } from '../../domain/events.ts';
import type { HostWebhooks } from '../host.ts';
import { type Delivery, hashOf, headersOf, payloadOf, requireEvent } from '../webhooks/delivery.ts';
import { noEvent, type Outcome, triggerOf, withEvents } from '../webhooks/outcome.ts';
import { commandOutcome } from '../webhooks/review.ts';
import { fitLabel, fitName } from '../webhooks/texts.ts';
import { mergeRequestOutcome } from './merge-request.ts';
import { nameOf } from './path.ts';
import { envelopeSchema, jobSchema, mergeRequestSchema, movedSchema, noteSchema, pushSchema } from './payloads.ts';
import { checkOf, SIGNATURE_HEADER, TOKEN_HEADER } from './signature.ts';

const EVENT_HEADER = 'X-Gitlab-Event';

/** By what the body says it is: `object_kind`, or `event_name` for what only system hooks tell. */
const BY_KIND: Readonly<Record<string, (payload: unknown) => Outcome>> = {
  merge_request: (payload) => mergeRequestOutcome(mergeRequestSchema.parse(payload)),
  note: noteOutcome,
  push: pushOutcome,
  build: jobOutcome,
  project_rename: movedOutcome,
  project_transfer: movedOutcome,
};

/** The header of each type that is read, and the kind of body it comes with. A system hook brings all kinds. */
const KINDS: Readonly<Record<string, string>> = {
  'Merge Request Hook': 'merge_request',
  'Note Hook': 'note',
  'Push Hook': 'push',
  'Job Hook': 'build',
};
const SYSTEM_HOOK = 'System Hook';

function noteOutcome(payload: unknown): Outcome {
  const { user, object_attributes: note, merge_request: request } = noteSchema.parse(payload);
  if (!request || note.noteable_type !== 'MergeRequest') return noEvent('Only comments on merge requests make events.');
  if (note.action === 'update' || note.system)
    return noEvent('A comment that is edited, or that the host writes, makes no event.');
  const base = {
    trigger: triggerOf(user.username),
    pullRequest: request.iid,
    baseRef: fitName(request.target_branch),
  };
  return commandOutcome({ id: note.id, text: note.note }, base);
}

const BRANCH = /^refs\/heads\/(.+)$/s;
const NO_COMMIT = /^0+$/;

function pushOutcome(payload: unknown): Outcome {
  const { ref, after, user_username: login } = pushSchema.parse(payload);
  const branch = BRANCH.exec(ref)?.[1];
  if (branch === undefined || !NO_COMMIT.test(after)) return noEvent('Pushes make no event.');
  return {
    ...noEvent('The deletion of a branch makes an event only if a merged pull request came from it.'),
    deletedBranches: [{ branch: fitName(branch), trigger: triggerOf(login) }],
  };
}

/** Each retry of a job has its own id, and is told several times on its way. */
function jobOutcome(payload: unknown): Outcome {
  const job = jobSchema.parse(payload);
  const retries = job.retries_count ?? 0;
  if (retries === 0) return noEvent('The first attempt of a job is not a retry.');
  const metadata = {
    pipeline_name: null,
    job_name: fitLabel(job.build_name),
    run_id: String(job.pipeline_id),
    run_attempt: retries + 1,
    commit: job.sha ? fitName(job.sha) : null,
    branch: job.ref && !job.tag ? fitName(job.ref) : null,
  };
  const event = newEvent('ci_insights.job_retried', metadata, { trigger: triggerOf(job.user?.username) });
  return withEvents([{ ...event, key: `gitlab:job:${job.build_id}` }]);
}

function movedOutcome(payload: unknown): Outcome {
  const renamedFrom = nameOf(movedSchema.parse(payload).old_path_with_namespace);
  return { ...noEvent('The repository was moved. It keeps what is stored.'), renamedFrom };
}

/** What the body says it is. */
function kindOf(payload: unknown): string | undefined {
  const told = envelopeSchema.safeParse(payload).data;
  return told?.object_kind ?? told?.event_name;
}

function deliveryOf(headers: Headers, body: Uint8Array): Delivery {
  const idHeader = ['Idempotency-Key', 'webhook-id'].find((name) => headers.has(name)) ?? 'X-Gitlab-Event-UUID';
  const { id, event } = headersOf(headers, { id: idHeader, event: EVENT_HEADER });
  const payload = payloadOf(headers, body);
  const kind = KINDS[event];
  if (kind !== undefined && kindOf(payload) !== kind)
    requireEvent(EVENT_HEADER, event, `another kind: its object_kind is not ${kind}`);
  return { id, event, payload, bodyHash: hashOf(body) };
}

const isMoved = ({ event, payload }: Delivery): boolean =>
  event === SYSTEM_HOOK && /^project_(?:rename|transfer)$/.test(kindOf(payload) ?? '');

export const webhooks = {
  read: [...Object.keys(KINDS), SYSTEM_HOOK],
  notOffered: [
    'Confidential Issue Hook',
    'Confidential Note Hook',
    'Deployment Hook',
    'Emoji Hook',
    'Feature Flag Hook',
    'Issue Hook',
    'Member Hook',
    'Milestone Hook',
    'Pipeline Hook',
    'Project Hook',
    'Release Hook',
    'Resource Access Token Hook',
    'Resource Deploy Token Hook',
    'Subgroup Hook',
    'Tag Push Hook',
    'Vulnerability Hook',
    'Wiki Page Hook',
  ],
  signatureHeaders: [TOKEN_HEADER, SIGNATURE_HEADER],
  signatureRule: 'X-Gitlab-Token must be the secret token, or webhook-signature that of the signing token (whsec_…)',
  checkOf,
  deliveryOf,
  // GitLab tests a webhook with a delivery of the type that is chosen.
  isTest: () => false,
  repositoryOf(delivery) {
    if (isMoved(delivery))
      return { ...nameOf(movedSchema.parse(delivery.payload).path_with_namespace), url: null, defaultBranch: null };
    const { project } = envelopeSchema.parse(delivery.payload);
    if (!project) return undefined;
    const { path_with_namespace: path, web_url: url, default_branch: branch } = project;
    return { ...nameOf(path), url, defaultBranch: branch ? branch : null };
  },
  outcomeOf({ event, payload }) {
    const kind = kindOf(payload) ?? '(none)';
    const read = Object.hasOwn(BY_KIND, kind) ? BY_KIND[kind] : undefined;
    return read?.(payload) ?? noEvent(`There is no event for ${event} deliveries of the kind ${kind}.`);
  },
} satisfies HostWebhooks;
