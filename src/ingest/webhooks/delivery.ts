/** A delivery of the repository host: its headers, and its payload as JSON or in a form. */
import { type InputError, unprocessable, unprocessableBody } from '../../http/problems.ts';

export interface Delivery {
  /** The host's id of the delivery, which it keeps when it is resent. */
  id: string;
  /** Such as `pull_request`. */
  event: string;
  payload: unknown;
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
  return { id, event, payload: payloadOf(headers.get('content-type'), new TextDecoder().decode(body)) };
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
