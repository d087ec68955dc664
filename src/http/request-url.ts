/**
 * The address of a request as the client sent it, while routing may see another.
 *
 * Clients whose base URL ends with a slash ask for `//v1/…`, which is tolerated. And Elysia looks for the path from the 12th
 * character of the URL on, so that behind a host name of up to three letters (`http://ci/v1/…`) it finds no route.
 */
const HOST_END_MIN = 11;
const sentAddresses = new WeakMap<Request, string>();

/** The request's URL with the client's host and a single leading slash. */
export const requestUrl = (request: Request): URL => new URL(sentAddresses.get(request) ?? request.url);

/** The same request as the router must see it; undefined when it can stay as it is. */
export function reroute(request: Request): Request | undefined {
  const { url } = request;
  const pathStart = url.indexOf('/', url.indexOf('//') + 2);
  if (pathStart < 0) return undefined;
  const isDoubled = url.charCodeAt(pathStart + 1) === 47;
  if (!isDoubled && pathStart >= HOST_END_MIN) return undefined;
  const path = url.slice(pathStart).replace(/^\/+/, '/');
  const rerouted = new Request(`http://localhost${path}`, request);
  sentAddresses.set(rerouted, url.slice(0, pathStart) + path);
  return rerouted;
}
