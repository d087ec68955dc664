/**
 * Decides about a request before and beside routing: how long it may be, its id, and what becomes of unknown
 * addresses.
 */
import http from 'node:http';
import { type HttpProblem, methodNotAllowed, nothingHere } from './problems.ts';

/**
 * A test name of 10,000 characters takes up to 120,000 bytes when percent-encoded, and a search may name several.
 * By default Bun answers 431 if request line and headers exceed 16 KiB; it takes its limit from node:http.
 */
const HEADER_BYTES_MAX = 1024 * 1024;

/** Applies to every server of this process that begins to listen afterwards. */
export function allowLongAddresses(): void {
  // Writable in Bun, though Node's types say otherwise.
  (http as { maxHeaderSize: number }).maxHeaderSize = HEADER_BYTES_MAX;
}

/** Ids of clients that are safe in logs and headers. */
const SAFE_ID = /^[\w.-]{1,100}$/;

/**
 * The id that a request brings, so that the logs of both sides can be joined, or a new one. Call it once per request.
 */
export function requestIdOf(request: Request): string {
  const sent = request.headers.get('x-request-id');
  return sent && SAFE_ID.test(sent) ? sent : crypto.randomUUID();
}

/**
 * Clients whose base URL ends with a slash ask for `//v1/…`. Returns the same request with a single leading slash, for
 * when routing has found nothing; undefined if there was only one.
 */
export function withSingleSlash(request: Request): Request | undefined {
  const { url } = request;
  const pathStart = url.indexOf('/', url.indexOf('//') + 2);
  if (pathStart < 0 || url.charCodeAt(pathStart + 1) !== 47) return undefined;
  return new Request(url.slice(0, pathStart) + url.slice(pathStart).replace(/^\/+/, '/'), request);
}

interface Route {
  method: string;
  path: string;
}

/** The problem of a request that no route answers: 405 if another method would be answered, otherwise 404. */
export function createFallback(routes: readonly Route[]): (path: string) => HttpProblem {
  const patterns = routes.map(({ method, path }) => ({ method, pattern: patternOf(path) }));
  return (path) => {
    const methods = new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method));
    return methods.size > 0 ? methodNotAllowed([...methods].sort()) : nothingHere();
  };
}

function patternOf(path: string): RegExp {
  const escaped = path
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/:\w+/g, '[^/]+')
    .replace(/\\\*/g, '.*');
  return new RegExp(`^${escaped}/?$`);
}

/**
 * Paths with a literal in a place where another route has a parameter, such as `…/quarantines/check` (POST) beside
 * `…/quarantines/:id` (GET): with the methods that only the other route has, and those that are allowed. Unless such a
 * request has a route, it would be told that its id is malformed.
 */
export function shadowedMethods(routes: readonly Route[]): { method: string; path: string; allowed: string[] }[] {
  const methodsOf = new Map<string, Set<string>>();
  for (const { method, path } of routes) methodsOf.set(path, (methodsOf.get(path) ?? new Set()).add(method));
  return [...methodsOf].flatMap(([path, own]) => {
    const others = [...methodsOf].filter(
      ([other]) => other !== path && !other.includes('*') && patternOf(other).test(path),
    );
    const shadowed = new Set(others.flatMap(([, methods]) => [...methods].filter((method) => !own.has(method))));
    return [...shadowed].map((method) => ({ method, path, allowed: [...own].sort() }));
  });
}
