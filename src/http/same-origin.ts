/** Whether a request that a browser sends with its cookie comes from a page of this service. */

/**
 * A browser says it in `Sec-Fetch-Site`, but only to addresses with TLS and to this machine. To others it says in
 * `Origin` which page asks. A request with neither comes from no browser that this service supports.
 */
export function isFromOwnPage(request: Request): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  const origin = request.headers.get('origin');
  return origin !== null && URL.parse(origin)?.host === request.headers.get('host');
}

/** A request that changes nothing. */
export const isRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD';
