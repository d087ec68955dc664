/** `POST /webhooks/<host>`: checks and reads deliveries of a repository host, and puts them into the queue. */
import type { AnyElysia } from 'elysia';
import { ZodError, z } from 'zod';
import { OWNER_LENGTH_MAX } from '../../domain/repository-path.ts';
import { StoreUnavailable } from '../../errors.ts';
import { UploadTooLarge } from '../../formats/errors.ts';
import { HOSTS } from '../../hosts/hosts.ts';
import type { HostSite } from '../../hosts/site.ts';
import { type Delivery, WrongDelivery } from '../../hosts/webhooks/delivery.ts';
import { type DeliveryJob, type IsSignedFor, jobIdOf, jobOf, SignedByAnother } from '../../hosts/webhooks/job.ts';
import { type Http, mount } from '../../http/operation.ts';
import { textParameter } from '../../http/parameters.ts';
import { forbidden, type HttpProblem, notFound, payloadTooLarge, unprocessable } from '../../http/problems.ts';
import type { Reply } from '../../http/reply.ts';
import type { Logger } from '../../observability/log.ts';
import { uploadsPossiblyLost, uploadsShed } from '../../observability/metrics.ts';
import { Admission, NoRoom } from '../admission.ts';
import { noRoomProblem, withAdmittedBody } from '../admitted-body.ts';
import { BODY_LIMITS, type BodyLimits } from '../body.ts';
import type { EventsPort } from '../ports.ts';
import {
  deliverySchema,
  noSecretDetail,
  notSignedDetail,
  OTHER_OWNER_DETAIL,
  WEBHOOK_BODY,
  WEBHOOK_PROBLEMS,
} from './schemas.ts';

/** A host as far as its deliveries are concerned. */
type WebhookHost = Pick<HostSite, 'name' | 'kind' | 'isDefault' | 'secrets' | 'ownerSecrets'>;

export interface WebhookDeps extends EventsPort {
  log: Logger;
  hosts: readonly WebhookHost[];
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

/** @example buildApp({ …, features: [(app, http) => mountWebhooks(app, http, webhookDeps)] }) */
export function mountWebhooks(app: AnyElysia, http: Http, deps: WebhookDeps): void {
  const admission = deps.admission ?? new Admission(undefined, { bytesMax: BYTES_MAX });
  const receivers = new Map(deps.hosts.map((site) => [site.name, receiverOf(site)]));
  mount(app, http, 'POST', '/webhooks/:host', {
    operationId: 'takeWebhookDelivery',
    tag: 'Webhooks',
    summary: 'Receive a delivery from a repository host',
    description:
      'Writes what happens on pull requests to the event log, and stores the pull requests. `host` is the name of a host in the configuration, such as `github`. A delivery needs the headers that the kind of host documents: for GitHub `X-GitHub-Event`, `X-GitHub-Delivery` and `X-Hub-Signature-256` (HMAC-SHA256 of the body). A delivery that is sent again counts once, under whatever id: the body identifies it. An owner with its own secret sends to `/webhooks/github?owner=acme`.',
    access: 'public',
    // Hosts send no delivery again automatically, and only what a secret signs is looked into.
    perSecondMax: Number.POSITIVE_INFINITY,
    params: z.object({ host: z.string().min(1).max(100).meta({ description: 'Name of the host', example: 'github' }) }),
    query: {
      owner: textParameter(1, OWNER_LENGTH_MAX, {
        description: 'The owner whose own secret signs the delivery.',
        example: 'acme',
      }),
    },
    rawBody: WEBHOOK_BODY,
    responses: {
      202: { description: 'Queued, or ignored with the reason.', schema: deliverySchema },
      ...WEBHOOK_PROBLEMS,
    },
    handle: async ({ request, params, query }) => {
      const receiver = receivers.get(params.host);
      if (!receiver) throw notFound(`This service has no host of the name ${params.host}: see HOSTS.`);
      const { site } = receiver;
      if (!receiver.hasSecret) throw forbidden(noSecretDetail(site));
      const owner = query.owner?.toLowerCase();
      const check = owner === undefined ? receiver.isSigned : receiver.isSignedBy.get(owner);
      const isSignedFor: IsSignedFor = (named) =>
        owner === undefined ? !site.ownerSecrets.has(named.toLowerCase()) : named.toLowerCase() === owner;
      const hasSignature = HOSTS[site.kind].webhooks.signatureHeaders.some((name) => request.headers.has(name));
      if (!check || !hasSignature) throw forbidden(notSignedDetail(site));
      const limits = deps.limits ?? BODY_LIMITS;
      const asked = { owner: OWNER, isGzip: false, limits };
      return withAdmittedBody(admission, request, asked, async (body) => {
        if (!(await check(request.headers, body))) throw forbidden(notSignedDetail(site));
        return taken(deps, site, deliveryOf(site, request.headers, body), isSignedFor);
      }).catch((error) => {
        if (error instanceof UploadTooLarge) throw payloadTooLarge(tooLargeDetail(limits));
        throw error instanceof NoRoom ? shed(error, site, deps.log) : error;
      });
    },
  });
}

/** A host, and what checks its deliveries. */
function receiverOf(site: WebhookHost) {
  const { webhooks } = HOSTS[site.kind];
  return {
    site,
    hasSecret: site.secrets.length > 0 || site.ownerSecrets.size > 0,
    isSigned: webhooks.checkOf(site.secrets),
    // One owner's at a time: each check reads the whole body, which anyone may send.
    isSignedBy: new Map([...site.ownerSecrets].map(([owner, secrets]) => [owner, webhooks.checkOf(secrets)])),
  };
}

function deliveryOf({ kind }: WebhookHost, headers: Headers, body: Uint8Array): Delivery {
  try {
    return HOSTS[kind].webhooks.deliveryOf(headers, body);
  } catch (error) {
    throw error instanceof WrongDelivery ? unprocessable(error.faults) : error;
  }
}

async function taken(
  deps: WebhookDeps,
  site: WebhookHost,
  delivery: Delivery,
  isSignedFor: IsSignedFor,
): Promise<Reply> {
  const { job, reason } = read(site, delivery, isSignedFor, deps.log);
  if (job) await enqueue(deps, jobIdOf(site.name, delivery), delivery, job);
  const status = job ? 'queued' : 'ignored';
  return { status: 202, body: { delivery: delivery.id, status, reason, events: job?.events.length ?? 0 } };
}

/** The host shows it as failed, and resends it only on request. */
function shed(noRoom: NoRoom, { name: host }: WebhookHost, log: Logger): HttpProblem {
  uploadsPossiblyLost.inc({ kind: 'webhook' });
  uploadsShed.inc({ kind: 'webhook' });
  log.warn({ host }, 'a webhook delivery found no room and may be lost');
  return noRoomProblem(noRoom, 'webhooks');
}

const tooLargeDetail = ({ sentBytesMax }: BodyLimits): string =>
  `The delivery is larger than ${sentBytesMax} bytes. Make the host send JSON instead of a form, or raise INGEST_COMPRESSED_BYTES_MAX.`;

/** An unexpected payload is a 422, so that the host's list of deliveries shows it as failed. */
function read(site: WebhookHost, delivery: Delivery, isSignedFor: IsSignedFor, log: Logger): DeliveryJob {
  try {
    return jobOf(site, delivery, isSignedFor);
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

async function enqueue(
  deps: WebhookDeps,
  jobId: string,
  delivery: Delivery,
  job: NonNullable<DeliveryJob['job']>,
): Promise<void> {
  try {
    await deps.enqueueEvents(jobId, job);
  } catch (error) {
    // The host shows it as failed, and resends it only on request.
    if (error instanceof StoreUnavailable) {
      uploadsPossiblyLost.inc({ kind: 'webhook' });
      deps.log.error({ err: error, delivery: delivery.id }, 'a webhook delivery was refused and may be lost');
    }
    throw error;
  }
}
