/** Addresses that no route answers: 405 where another method would, else 404. */
import { type HttpProblem, methodNotAllowed, notFound } from './problems.ts';

interface Route {
  method: string;
  path: string;
}

/** The problem of a request that met no route. */
export function createFallback(routes: readonly Route[]): (path: string) => HttpProblem {
  const patterns = routes.map(({ method, path }) => ({
    method,
    pattern: new RegExp(
      `^${path
        .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
        .replace(/:\w+/g, '[^/]+')
        .replace(/\\\*/g, '.*')}/?$`,
    ),
  }));
  return (path) => {
    const methods = new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method));
    return methods.size > 0
      ? methodNotAllowed([...methods].sort())
      : notFound('There is nothing at this address. The operations are listed at /docs.');
  };
}
