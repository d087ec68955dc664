/** `POST /webhooks/github`: checks and reads deliveries of the repository host, and puts them into the queue. */
import type { AnyElysia } from 'elysia';
import { ZodError } from 'zod';
import { OWNER_LENGTH_MAX } from '../../domain/repository-path.ts';
import { StoreUnavailable } from '../../errors.ts';
import { UploadTooLarge } from '../../formats/errors.ts';
import { HOSTS } from '../../hosts/hosts.ts';
import { type Delivery, WrongDelivery } from '../../hosts/webhooks/delivery.ts';
import { type DeliveryJob, type IsSignedFor, jobIdOf, jobOf, SignedByAnother } from '../../hosts/webhooks/job.ts';
import { type Http, mount } from '../../http/operation.ts';
import { textParameter } from '../../http/parameters.ts';
import { forbidden, type HttpProblem, payloadTooLarge, unprocessable } from '../../http/problems.ts';
import type { Reply } from '../../http/reply.ts';
import type { Logger } from '../../observability/log.ts';
import { uploadsPossiblyLost, uploadsShed } from '../../observability/metrics.ts';
import { Admission, NoRoom } from '../admission.ts';
import { noRoomProblem, withAdmittedBody } from '../admitted-body.ts';
import { BODY_LIMITS, type BodyLimits } from '../body.ts';
import type { EventsPort } from '../ports.ts';
import {
  deliverySchema,
  NO_SECRET_DETAIL,
  NOT_SIGNED_DETAIL,
  OTHER_OWNER_DETAIL,
  WEBHOOK_BODY,
  WEBHOOK_PROBLEMS,
} from './schemas.ts';

export interface WebhookDeps extends EventsPort {
  log: Logger;
  /** A delivery may be signed with any of them; without any, every delivery is refused. */
  secrets: readonly string[];
  /** By owner, in lower case: for the repositories of an owner who is in here, only these count. */
  ownerSecrets?: ReadonlyMap<string, readonly string[]>;
  /** Defaults to BODY_LIMITS. */
  limits?: BodyLimits;
  /** With {@link BYTES_MAX} unless given. */
  admission?: Admission;
}

/**
 * Deliveries have separate room: anyone may send one, and whether it is signed is known when all of it has arrived.
 * A stranger must not take the room of uploads.
 */
const BYTES_MAX = 64 * 1024 * 1024;
/** So all of them count as those of one owner. */
const OWNER = 'host';

const HOST = HOSTS.github;
const { webhooks } = HOST;

/** @example buildApp({ …, features: [(app, http) => mountWebhooks(app, http, webhookDeps)] }) */
export function mountWebhooks(app: AnyElysia, http: Http, deps: WebhookDeps): void {
  const admission = deps.admission ?? new Admission(undefined, { bytesMax: BYTES_MAX });
  const ownerSecrets = deps.ownerSecrets ?? new Map<string, readonly string[]>();
  const hasSecret = deps.secrets.length > 0 || ownerSecrets.size > 0;
  const isSigned = webhooks.checkOf(deps.secrets);
  // One owner's at a time: each check reads the whole body, which anyone may send.
  const isSignedBy = new Map([...ownerSecrets].map(([owner, secrets]) => [owner, webhooks.checkOf(secrets)]));
  mount(app, http, 'POST', '/webhooks/github', {
    operationId: 'takeWebhookDelivery',
    tag: 'Webhooks',
    summary: 'Receive a delivery from the repository host',
    description:
      'Writes what happens on pull requests to the event log, and stores the pull requests. A delivery needs the headers `X-GitHub-Event`, `X-GitHub-Delivery` and `X-Hub-Signature-256` (HMAC-SHA256 of the body). A delivery that is sent again counts once, under whatever id: the body identifies it. An owner with its own secret sends to `/webhooks/github?owner=acme`.',
    access: 'public',
    // The host sends no delivery again automatically, and only what a secret signs is looked into.
    perSecondMax: Number.POSITIVE_INFINITY,
    query: {
      owner: textParameter(1, OWNER_LENGTH_MAX, {
        description: 'The owner whose own secret signs the delivery (GITHUB_WEBHOOK_OWNER_SECRETS).',
        example: 'acme',
      }),
    },
    rawBody: WEBHOOK_BODY,
    responses: {
      202: { description: 'Queued, or ignored with the reason.', schema: deliverySchema },
      ...WEBHOOK_PROBLEMS,
    },
    handle: async ({ request, query }) => {
      if (!hasSecret) throw forbidden(NO_SECRET_DETAIL);
      const owner = query.owner?.toLowerCase();
      const check = owner === undefined ? isSigned : isSignedBy.get(owner);
      if (!check) throw forbidden(NOT_SIGNED_DETAIL);
      const isSignedFor: IsSignedFor = (named) =>
        owner === undefined ? !ownerSecrets.has(named.toLowerCase()) : named.toLowerCase() === owner;
      if (!request.headers.has(webhooks.signatureHeader)) throw forbidden(NOT_SIGNED_DETAIL);
      const limits = deps.limits ?? BODY_LIMITS;
      const asked = { owner: OWNER, isGzip: false, limits };
      return withAdmittedBody(admission, request, asked, async (body) => {
        if (!(await check(request.headers, body))) throw forbidden(NOT_SIGNED_DETAIL);
        return taken(deps, deliveryOf(request.headers, body), isSignedFor);
      }).catch((error) => {
        if (error instanceof UploadTooLarge) throw payloadTooLarge(tooLargeDetail(limits));
        throw error instanceof NoRoom ? shed(error, request, deps.log) : error;
      });
    },
  });
}

function deliveryOf(headers: Headers, body: Uint8Array): Delivery {
  try {
    return webhooks.deliveryOf(headers, body);
  } catch (error) {
    throw error instanceof WrongDelivery ? unprocessable(error.faults) : error;
  }
}

async function taken(deps: WebhookDeps, delivery: Delivery, isSignedFor: IsSignedFor): Promise<Reply> {
  const { job, reason } = read(delivery, isSignedFor, deps.log);
  if (job) await enqueue(deps, delivery, job);
  const status = job ? 'queued' : 'ignored';
  return { status: 202, body: { delivery: delivery.id, status, reason, events: job?.events.length ?? 0 } };
}

/** The host shows it as failed, and resends it only on request. */
function shed(noRoom: NoRoom, { headers }: Request, log: Logger): HttpProblem {
  uploadsPossiblyLost.inc({ kind: 'webhook' });
  uploadsShed.inc({ kind: 'webhook' });
  // Not signed, as far as is known.
  const delivery = headers.get('x-github-delivery')?.slice(0, 100);
  log.warn({ delivery }, 'a webhook delivery found no room and may be lost');
  return noRoomProblem(noRoom, 'webhooks');
}

const tooLargeDetail = ({ sentBytesMax }: BodyLimits): string =>
  `The delivery is larger than ${sentBytesMax} bytes. Make the host send JSON instead of a form, or raise INGEST_COMPRESSED_BYTES_MAX.`;

/** An unexpected payload is a 422, so that the host's list of deliveries shows it as failed. */
function read(delivery: Delivery, isSignedFor: IsSignedFor, log: Logger): DeliveryJob {
  try {
    return jobOf(HOST, delivery, isSignedFor);
  } catch (error) {
    if (error instanceof SignedByAnother) throw forbidden(OTHER_OWNER_DETAIL);
    if (!(error instanceof ZodError)) throw error;
    log.warn({ event: delivery.event, delivery: delivery.id }, 'a signed delivery has an unexpected payload');
    throw unprocessable(
      error.issues.map(({ path, message, code }) => ({
        loc: ['body', ...path.map((part) => (typeof part === 'symbol' ? String(part) : part))],
        msg: message,
        type: code ?? 'invalid_value',
      })),
    );
  }
}

async function enqueue(deps: WebhookDeps, delivery: Delivery, job: NonNullable<DeliveryJob['job']>): Promise<void> {
  try {
    await deps.enqueueEvents(jobIdOf('github', delivery), job);
  } catch (error) {
    // The host shows it as failed, and resends it only on request.
    if (error instanceof StoreUnavailable) {
      uploadsPossiblyLost.inc({ kind: 'webhook' });
      deps.log.error({ err: error, delivery: delivery.id }, 'a webhook delivery was refused and may be lost');
    }
    throw error;
  }
}
