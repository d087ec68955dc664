/** A delivery of the repository host: its headers, and its payload as JSON or in a form. */
import { createHash } from 'node:crypto';
import { type InputError, unprocessable, unprocessableBody } from '../../http/problems.ts';
import { isRead } from './mapping.ts';

/** Only the body is signed. The headers are whatever the sender says, who may have seen one delivery and send it again. */
export interface Delivery {
  /** The host's id of the delivery, which it keeps when it is resent. For people: it identifies nothing. */
  id: string;
  /** Such as `pull_request`. It fits the body. */
  event: string;
  payload: unknown;
  /** Identifies what happened: the same body is the same delivery, under whatever id. */
  bodyHash: string;
}

const DELIVERY_ID = /^[\w.-]{1,100}$/;
const EVENT = /^\w{1,100}$/;

/** Reads a request whose signature is correct. Throws 422 with every wrong header. */
export function readDelivery(headers: Headers, body: Uint8Array): Delivery {
  const id = headers.get('x-github-delivery') ?? '';
  const event = headers.get('x-github-event') ?? '';
  const errors: InputError[] = [];
  if (!DELIVERY_ID.test(id)) errors.push(headerError('X-GitHub-Delivery', 'must be the id of the delivery'));
  if (!EVENT.test(event)) errors.push(headerError('X-GitHub-Event', 'must be the name of the event'));
  if (errors.length > 0) throw unprocessable(errors);
  const payload = payloadOf(headers.get('content-type'), new TextDecoder().decode(body));
  const told = eventOfBody(payload);
  if (told !== undefined && told !== event && isRead(event))
    throw unprocessable([headerError('X-GitHub-Event', `is ${event}, but the body is of ${told}`)]);
  return { id, event, payload, bodyHash: createHash('sha256').update(body).digest('hex') };
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

const headerError = (name: string, msg: string): InputError => ({ loc: ['header', name], msg, type: 'invalid_header' });

function payloadOf(contentType: string | null, body: string): unknown {
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType === 'application/json') return parsed(body);
  if (mediaType === 'application/x-www-form-urlencoded') {
    const payload = new URLSearchParams(body).get('payload');
    if (payload === null) throw unprocessableBody('is a form without the field `payload`');
    return parsed(payload);
  }
  throw unprocessableBody('must have the Content-Type application/json or application/x-www-form-urlencoded');
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw unprocessableBody('is not JSON', 'invalid_json');
  }
}
