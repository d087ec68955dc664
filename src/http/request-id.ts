/** An id for every request: the caller's own when it sends a harmless one, so that logs of both sides can be joined. */
const HARMLESS = /^[\w.-]{1,100}$/;

/** The id that a request brings, or a new one: whoever serves the request asks once. */
export function requestIdOf(request: Request): string {
  const sent = request.headers.get('x-request-id');
  return sent && HARMLESS.test(sent) ? sent : crypto.randomUUID();
}
