/**
 * Clients whose base URL ends with a slash ask for `//v1/…`, which is tolerated: the same request with a single leading slash, for
 * when routing has found nothing. Undefined when it had no more of them.
 */
export function withSingleSlash(request: Request): Request | undefined {
  const { url } = request;
  const pathStart = url.indexOf('/', url.indexOf('//') + 2);
  if (pathStart < 0 || url.charCodeAt(pathStart + 1) !== 47) return undefined;
  return new Request(url.slice(0, pathStart) + url.slice(pathStart).replace(/^\/+/, '/'), request);
}
