/** An id for every request: the caller's own when it sends a harmless one, so that logs of both sides can be joined. */
const HARMLESS = /^[\w.-]{1,100}$/;
const ids = new WeakMap<Request, string>();

/** The id of a request: the same at every call. */
export function requestIdOf(request: Request): string {
  const known = ids.get(request);
  if (known) return known;
  const sent = request.headers.get('x-request-id');
  const id = sent && HARMLESS.test(sent) ? sent : crypto.randomUUID();
  ids.set(request, id);
  return id;
}
