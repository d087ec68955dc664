/** From a delivery to the job that goes into the queue, or to the reason why there is none. */
import { type PrEventsJob, prEventsSchema } from '../../queue/pr-events.ts';
import type { Delivery } from './delivery.ts';
import { isRead, tell } from './mapping.ts';
import { envelopeSchema } from './payloads.ts';
import { fit, fitName } from './texts.ts';
import { type Told, triggerOf } from './told.ts';

export interface DeliveryJob {
  /** Null when there is nothing to queue. */
  job: PrEventsJob | null;
  /** Why it holds no event; null when it does. */
  reason: string | null;
}

const REASON_LENGTH_MAX = 300;
const ignored = (reason: string): DeliveryJob => ({ job: null, reason: fit(reason, REASON_LENGTH_MAX) });

/** Names the job of a delivery: sent again while it is queued, it is the same job. */
export const jobIdOf = (delivery: Delivery): string => `github-${delivery.id}`;

/** Throws a ZodError when the payload is not what the host sends. */
export function jobOf(delivery: Delivery): DeliveryJob {
  const { event } = delivery;
  if (event === 'ping') return ignored('The hook works: the signature is right, and deliveries are taken.');
  if (!isRead(event)) return ignored(`The event log has nothing of ${event} deliveries.`);
  const { repository, sender } = envelopeSchema.parse(delivery.payload);
  if (!repository) return ignored('The delivery names no repository.');
  const path = prEventsSchema.shape.repository.safeParse({
    host: hostOf(repository.html_url),
    owner: repository.owner.login,
    name: repository.name,
  });
  if (!path.success)
    return ignored(
      `The repository ${repository.owner.login}/${repository.name} cannot be addressed here: owners are 1 to 40 letters, digits and -, names letters, digits, _, - and . only.`,
    );
  const told = tell(event, delivery.payload, { repository, sender });
  const reason = told.reason === null ? null : fit(`The delivery ${told.reason}.`, REASON_LENGTH_MAX);
  if (isEmpty(told)) return { job: null, reason };
  const job = prEventsSchema.parse({
    v: 1,
    repository: path.data,
    renamed_from: told.renamedFrom ?? null,
    default_branch: repository.default_branch ? fitName(repository.default_branch) : null,
    pull_requests: told.pullRequest ? [told.pullRequest] : [],
    events: told.events.map(({ key, type, trigger, pullRequest, baseRef, metadata }, index) => ({
      key: key ?? keyOf(delivery, index),
      type,
      trigger,
      pull_request: pullRequest,
      base_ref: baseRef,
      metadata,
    })),
    deleted_branches: told.deletedBranch
      ? [{ key: keyOf(delivery, 0), branch: told.deletedBranch, trigger: triggerOf(sender) }]
      : [],
  });
  return { job, reason };
}

const isEmpty = ({ events, pullRequest, deletedBranch, renamedFrom }: Told): boolean =>
  events.length === 0 && pullRequest === null && deletedBranch === null && renamedFrom === undefined;

const keyOf = (delivery: Delivery, index: number): string => `github:${delivery.id}:${index}`;

/** Where people open the repository: `github.com`, or the enterprise host's name. */
const hostOf = (htmlUrl: string): string | undefined => URL.parse(htmlUrl)?.host || undefined;
