/** Builds an HTTP app from its features. It knows none of them, reads no environment and does not listen. */
import { Elysia } from 'elysia';
import type { Clock } from './clock.ts';
import type { CredentialSource } from './http/auth.ts';
import { allowLongAddresses, createFallback, requestIdOf, withSingleSlash } from './http/edge.ts';
import { type Feature, type Http, problemFor } from './http/operation.ts';
import { problemResponse, unprocessableBody } from './http/problems.ts';
import type { Logger } from './observability/log.ts';
import { requestsUnmatched } from './observability/metrics.ts';

export interface AppDeps {
  clock: Clock;
  log: Logger;
  /** Address under which clients reach the service, without a trailing slash; undefined: taken from the request. */
  publicUrl: string | undefined;
  /** Asked in this order; each recognises its credentials by a prefix. */
  credentials: readonly CredentialSource[];
  /** What the app offers, in the order of its document. */
  features: readonly Feature[];
}

/**
 * @example
 * const app = buildApp({ ...deps, publicUrl: config.publicUrl, credentials, features: [...coreFeatures(deps), docs] });
 * app.listen({ hostname: config.host, port: config.port });
 */
export function buildApp({ clock, log, publicUrl, credentials, features }: AppDeps) {
  allowLongAddresses();
  const http: Http = { clock, log, publicUrl, credentials, operations: [] };
  // Requests that routing could not serve, and faults outside of operations, which handle their own.
  const refuse = async (request: Request, code: string | number, error: unknown): Promise<Response> => {
    const tolerated = code === 'NOT_FOUND' ? withSingleSlash(request) : undefined;
    if (tolerated) return app.handle(tolerated);
    const requestId = requestIdOf(request);
    if (code === 'PARSE') return problemResponse(unprocessableBody('cannot be read'), requestId);
    if (code !== 'NOT_FOUND') return problemFor(error, log, requestId);
    requestsUnmatched.inc();
    return problemResponse(fallback(new URL(request.url).pathname), requestId);
  };
  // With `standardHostname`, Elysia looks for the path only from the 12th character of the address on, too late for
  // `http://ci/v1`.
  const app = new Elysia({ name: 'ci-insights', handler: { standardHostname: false } }).onError(
    { as: 'global' },
    ({ request, code, error }) => refuse(request, code, error),
  );
  for (const mount of features) mount(app, http);
  const fallback = createFallback(app.routes);
  return app;
}
