/** From a delivery to the job to queue, or to the reason why there is none. */
import { NAME_LENGTH_MAX } from '../../domain/limits.ts';
import { OWNER_LENGTH_MAX, REPOSITORY_NAME_LENGTH_MAX } from '../../domain/repository-path.ts';
import { type PrEventsJob, prEventsSchema } from '../../queue/pr-events.ts';
import type { Delivery } from './delivery.ts';
import { isRead, outcomeOf } from './mapping.ts';
import { type Outcome, triggerOf } from './outcome.ts';
import { envelopeSchema } from './payloads.ts';
import { fit, fitName } from './texts.ts';

export interface DeliveryJob {
  /** Null if there is nothing to queue. */
  job: PrEventsJob | null;
  /** Why it contains no event; null if it contains one. */
  reason: string | null;
}

const REASON_LENGTH_MAX = 300;
const ignored = (reason: string): DeliveryJob => ({ job: null, reason: fit(reason, REASON_LENGTH_MAX) });

/** The id of a delivery's job: if the delivery is resent while the job is queued, it is the same job. */
export const jobIdOf = ({ bodyHash }: Pick<Delivery, 'bodyHash'>): string => `github-${bodyHash}`;

/** The delivery is signed, but not with the secret of the owner whose repository it speaks of. */
export class SignedByAnother extends Error {
  override name = 'SignedByAnother';
}

/** @param owner as the delivery names it */
export type IsSignedFor = (owner: string) => boolean;

/**
 * Throws a ZodError if the payload is not what the host sends, and {@link SignedByAnother}.
 *
 * @param isSignedFor whether the secret that signed the delivery may speak for an owner
 */
export function jobOf(delivery: Delivery, isSignedFor: IsSignedFor = () => true): DeliveryJob {
  const { event } = delivery;
  if (event === 'ping') return ignored('The webhook works: the signature is correct.');
  if (!isRead(event)) return ignored(`There is no event for ${event} deliveries.`);
  const { repository, sender } = envelopeSchema.parse(delivery.payload);
  if (!repository) return ignored('The delivery names no repository.');
  if (!isSignedFor(repository.owner.login)) throw new SignedByAnother();
  const path = prEventsSchema.shape.repository.safeParse({
    host: hostOf(repository.html_url),
    owner: repository.owner.login,
    name: repository.name,
  });
  if (!path.success)
    return ignored(
      `The repository ${repository.owner.login}/${repository.name} cannot be addressed here: an owner has 1 to ${OWNER_LENGTH_MAX} letters, digits and hyphens, a name 1 to ${REPOSITORY_NAME_LENGTH_MAX} letters, digits, dots, hyphens and underscores.`,
    );
  const outcome = outcomeOf(event, delivery.payload, { repository, sender });
  const { renamedFrom } = outcome;
  if (renamedFrom && !isSignedFor(renamedFrom.owner))
    return ignored(
      `The repository came from ${renamedFrom.owner}, whose webhooks have another secret. An operator moves it: ci-insights repos rename.`,
    );
  const reason = outcome.reason === null ? null : fit(outcome.reason, REASON_LENGTH_MAX);
  if (isEmpty(outcome)) return { job: null, reason };
  const job = prEventsSchema.parse({
    v: 1,
    repository: path.data,
    page_url: repository.html_url.length <= NAME_LENGTH_MAX ? repository.html_url : null,
    renamed_from: renamedFrom ?? null,
    default_branch: repository.default_branch ? fitName(repository.default_branch) : null,
    pull_requests: outcome.pullRequest ? [outcome.pullRequest] : [],
    events: outcome.events.map(({ key, type, trigger, pullRequest, baseRef, metadata }, index) => ({
      key: key ?? keyOf(delivery, index),
      type,
      trigger,
      pull_request: pullRequest,
      base_ref: baseRef,
      metadata,
    })),
    deleted_branches: outcome.deletedBranch
      ? [{ key: keyOf(delivery, 0), branch: outcome.deletedBranch, trigger: triggerOf(sender) }]
      : [],
  });
  return { job, reason };
}

const isEmpty = ({ events, pullRequest, deletedBranch, renamedFrom }: Outcome): boolean =>
  events.length === 0 && pullRequest === null && deletedBranch === null && renamedFrom === undefined;

const keyOf = ({ bodyHash }: Delivery, index: number): string => `github:${bodyHash}:${index}`;

/** The host of the repository's web address: `github.com`, or the name of an enterprise host. */
const hostOf = (htmlUrl: string): string | undefined => URL.parse(htmlUrl)?.host || undefined;
