/** A delivery of a repository host: what its headers and its signed body say. */
import { createHash } from 'node:crypto';

/** Only the body is signed. The headers are whatever the sender says, who may have seen one delivery and send it again. */
export interface Delivery {
  /** The host's id of the delivery. For people: it identifies nothing. */
  id: string;
  /** The host's name of its type, such as `pull_request`. It fits the body. */
  event: string;
  payload: unknown;
  /** Identifies what happened: the same body is the same delivery, under whatever id. */
  bodyHash: string;
}

/** A fault of a delivery: where it is, what it is in words, and its kind. */
export interface DeliveryFault {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** A signed request that is not a delivery. */
export class WrongDelivery extends Error {
  override name = 'WrongDelivery';
  constructor(readonly faults: readonly DeliveryFault[]) {
    super(faults.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '));
  }
}

/** The names of the headers that say what a delivery is. */
export interface DeliveryHeaders {
  id: string;
  event: string;
}

const DELIVERY_ID = /^[\w.{}-]{1,100}$/;
const EVENT = /^[\w: -]{1,100}$/;

/** Throws a {@link WrongDelivery} with every wrong header. */
export function headersOf(headers: Headers, names: DeliveryHeaders): { id: string; event: string } {
  const id = headers.get(names.id) ?? '';
  const event = headers.get(names.event) ?? '';
  const faults: DeliveryFault[] = [];
  if (!DELIVERY_ID.test(id)) faults.push(headerFault(names.id, 'must be the id of the delivery'));
  if (!EVENT.test(event)) faults.push(headerFault(names.event, 'must be the name of the event'));
  if (faults.length > 0) throw new WrongDelivery(faults);
  return { id, event };
}

/** Throws a {@link WrongDelivery} if the body is of another event than the header says. */
export function requireEvent(header: string, said: string, told: string | undefined): void {
  if (told !== undefined && told !== said)
    throw new WrongDelivery([headerFault(header, `is ${said}, but the body is of ${told}`)]);
}

export const hashOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');

/** The payload of a body: JSON, or a form with the JSON in the field `payload`. Throws a {@link WrongDelivery}. */
export function payloadOf(headers: Headers, body: Uint8Array): unknown {
  const text = new TextDecoder().decode(body);
  const mediaType = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType === 'application/json') return parsed(text);
  if (mediaType === 'application/x-www-form-urlencoded') {
    const payload = new URLSearchParams(text).get('payload');
    if (payload === null) throw wrongBody('is a form without the field `payload`');
    return parsed(payload);
  }
  throw wrongBody('must have the Content-Type application/json or application/x-www-form-urlencoded');
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw wrongBody('is not JSON', 'invalid_json');
  }
}

const headerFault = (name: string, msg: string): DeliveryFault => ({
  loc: ['header', name],
  msg,
  type: 'invalid_header',
});

const wrongBody = (msg: string, type = 'invalid_body'): WrongDelivery =>
  new WrongDelivery([{ loc: ['body'], msg, type }]);
