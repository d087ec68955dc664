/** Deliveries of GitHub: their headers, and the event that a body can be of. */
import { type Delivery, hashOf, headersOf, payloadOf, requireEvent } from '../webhooks/delivery.ts';
import { isRead } from './mapping.ts';

const HEADERS = { id: 'X-GitHub-Delivery', event: 'X-GitHub-Event' };

/** Reads a request whose signature is correct. Throws a `WrongDelivery`. */
export function deliveryOf(headers: Headers, body: Uint8Array): Delivery {
  const { id, event } = headersOf(headers, HEADERS);
  const payload = payloadOf(headers, body);
  if (isRead(event)) requireEvent(HEADERS.event, event, eventOfBody(payload));
  return { id, event, payload, bodyHash: hashOf(body) };
}

/** The event whose body this is, by what only such bodies have; undefined if they cannot be told apart. */
export function eventOfBody(payload: unknown): string | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined;
  const has = (name: string): boolean => Object.hasOwn(payload, name);
  if (has('issue')) return has('comment') ? 'issue_comment' : 'issues';
  if (has('review')) return 'pull_request_review';
  if (has('thread')) return 'pull_request_review_thread';
  if (has('pull_request')) return has('comment') ? 'pull_request_review_comment' : 'pull_request';
  if (has('workflow_job')) return 'workflow_job';
  if (has('check_run')) return has('deployment') ? 'deployment_status' : 'check_run';
  if (has('ref_type')) return has('master_branch') ? 'create' : 'delete';
  return undefined;
}
