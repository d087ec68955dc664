/** The `Host` header: which values are accepted, and the address of a request that has none; how long one may be. */
import { LRUCache } from 'lru-cache';
import { ADDRESS_LENGTH_MAX } from '../domain/limits.ts';
import { addressTooLong, badRequest, type HttpProblem } from './problems.ts';

/** A name or an IPv4 address, or an IPv6 address in brackets, and a port (RFC 9110, without the exotic characters). */
const AUTHORITY = /^(?:[\w.~%-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** A service has a few names. The values that clients invent must not fill the memory. */
const KNOWN_MAX = 100;
const known = new LRUCache<string, boolean>({ max: KNOWN_MAX });

function isAuthority(value: string): boolean {
  const cached = known.get(value);
  if (cached !== undefined) return cached;
  // The URL parser also knows which numbers are no address and no port.
  const accepted = AUTHORITY.test(value) && URL.canParse(`http://${value}/`);
  if (value.length <= 255) known.set(value, accepted);
  return accepted;
}

/**
 * The request with an absolute address. Bun gives one that has no usable `Host` a bare path, which no URL parser takes:
 * HTTP/1.0 needs no `Host`, and balancers that probe with it expect an answer.
 *
 * @param origin what a request without `Host` was sent to
 */
export function withAbsoluteUrl(request: Request, origin: string): Request | HttpProblem {
  const host = request.headers.get('host');
  if (host !== null && host !== '' && !isAuthority(host))
    return badRequest('The Host header is not valid: send one name or address, with a port if it has one.');
  const { url } = request;
  if (url.length > ADDRESS_LENGTH_MAX) return addressTooLong();
  if (url.startsWith('http://') || url.startsWith('https://')) return request;
  // CONNECT has no path.
  if (!url.startsWith('/')) return badRequest('The address of the request is not valid: it must begin with a slash.');
  return new Request(`${host ? `http://${host}` : origin}${url}`, request);
}
