/** From a delivery to the job to queue, or to the reason why there is none. */
import { ownerInAddress } from '../../domain/host-address.ts';
import { NAME_LENGTH_MAX } from '../../domain/limits.ts';
import { OWNER_LENGTH_MAX, REPOSITORY_NAME_LENGTH_MAX } from '../../domain/repository-path.ts';
import { type PrEventsJob, prEventsSchema } from '../../queue/pr-events.ts';
import { HOSTS } from '../hosts.ts';
import type { HostSite } from '../site.ts';
import type { Delivery } from './delivery.ts';
import type { Outcome } from './outcome.ts';
import { fit, fitName } from './texts.ts';

export interface DeliveryJob {
  /** Null if there is nothing to queue. */
  job: PrEventsJob | null;
  /** Why it contains no event; null if it contains one. */
  reason: string | null;
}

const REASON_LENGTH_MAX = 300;
const ignored = (reason: string): DeliveryJob => ({ job: null, reason: fit(reason, REASON_LENGTH_MAX) });

/**
 * The id of a delivery's job: if the delivery is resent while the job is queued, it is the same job.
 *
 * @param name of the host
 */
export const jobIdOf = (name: string, { bodyHash }: Pick<Delivery, 'bodyHash'>): string => `${name}-${bodyHash}`;

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
export function jobOf(
  site: Pick<HostSite, 'name' | 'kind' | 'isDefault'>,
  delivery: Delivery,
  isSignedFor: IsSignedFor = () => true,
): DeliveryJob {
  const { name: host, kind } = site;
  const { webhooks } = HOSTS[kind];
  if (webhooks.isTest(delivery)) return ignored('The webhook works: the signature is correct.');
  if (!webhooks.read.includes(delivery.event)) return ignored(`There is no event for ${delivery.event} deliveries.`);
  const repository = webhooks.repositoryOf(delivery);
  if (!repository) return ignored('The delivery names no repository.');
  const { owner, name, url } = repository;
  if (!isSignedFor(owner)) throw new SignedByAnother();
  const path = prEventsSchema.shape.repository.safeParse({
    host: kind === 'github' && site.isDefault ? hostOf(url) : undefined,
    owner: ownerInAddress(site, owner),
    name,
  });
  if (!path.success)
    return ignored(
      `The repository ${owner}/${name} cannot be addressed here: an owner has 1 to ${OWNER_LENGTH_MAX} letters, digits and hyphens, a name 1 to ${REPOSITORY_NAME_LENGTH_MAX} letters, digits, dots, hyphens and underscores.`,
    );
  const outcome = webhooks.outcomeOf(delivery);
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
    page_kind: kind,
    page_url: url !== null && url.length <= NAME_LENGTH_MAX ? url : null,
    renamed_from: renamedFrom ? { ...renamedFrom, owner: ownerInAddress(site, renamedFrom.owner) } : null,
    default_branch: repository.defaultBranch === null ? null : fitName(repository.defaultBranch),
    pull_requests: outcome.pullRequest ? [outcome.pullRequest] : [],
    events: outcome.events.map(({ key, type, trigger, pullRequest, baseRef, metadata }, index) => ({
      key: key ?? keyOf(host, delivery, index),
      type,
      trigger,
      pull_request: pullRequest,
      base_ref: baseRef,
      metadata,
    })),
    deleted_branches: outcome.deletedBranches.map((deleted, index) => ({
      key: keyOf(host, delivery, outcome.events.length + index),
      ...deleted,
    })),
  });
  return { job, reason };
}

const isEmpty = ({ events, pullRequest, deletedBranches, renamedFrom }: Outcome): boolean =>
  events.length === 0 && pullRequest === null && deletedBranches.length === 0 && renamedFrom === undefined;

const keyOf = (host: string, { bodyHash }: Delivery, index: number): string => `${host}:${bodyHash}:${index}`;

/**
 * The host of the repository's web address: `github.com`, or the name of an enterprise host. Ids of repositories are made of
 * it where GitHub is the default host; the address tells those of other hosts apart.
 */
const hostOf = (url: string | null): string | undefined =>
  url === null ? undefined : URL.parse(url)?.host || undefined;
