/** Builds an HTTP app from its features, which it does not know, and opens its port. It reads no environment. */
import { type AnyElysia, Elysia } from 'elysia';
import type { Clock } from './clock.ts';
import { UserError } from './errors.ts';
import type { CredentialSource } from './http/auth.ts';
import { withAbsoluteUrl } from './http/authority.ts';
import { allowLongAddresses, createFallback, requestIdOf, shadowedMethods, withSingleSlash } from './http/edge.ts';
import { type Feature, type Http, problemFor } from './http/operation.ts';
import { HttpProblem, methodNotAllowed, problemResponse, unprocessableBody } from './http/problems.ts';
import type { RateLimit } from './http/rate-limit.ts';
import type { Logger } from './observability/log.ts';
import { requestsUnmatched } from './observability/metrics.ts';

export interface AppDeps {
  clock: Clock;
  log: Logger;
  /** Address under which clients reach the service, without a trailing slash; undefined: taken from the request. */
  publicUrl: string | undefined;
  /** Asked in this order; each recognises its credentials by a prefix. */
  credentials: readonly CredentialSource[];
  /** The sessions of browsers; absent: no one can sign in. */
  sessions?: CredentialSource | undefined;
  /** Absent: credentials may send any number of requests. */
  rateLimit?: RateLimit | undefined;
  /** Features in the order of the document. */
  features: readonly Feature[];
}

/**
 * @example
 * const app = buildApp({ ...deps, publicUrl: config.publicUrl, credentials, features: [...coreFeatures(deps), docs] });
 * listenAt(app, { hostname: config.host, port: config.port }, 'PORT');
 */
export function buildApp({ clock, log, publicUrl, credentials, sessions, rateLimit, features }: AppDeps) {
  allowLongAddresses();
  const http: Http = { clock, log, publicUrl, credentials, sessions, rateLimit, operations: [] };
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
  const app = new Elysia({
    name: 'ci-insights',
    handler: { standardHostname: false },
    // Without these, Bun shows its own page for a fault: in development with parts of the source.
    serve: { development: false, error: (error) => problemFor(error, log, crypto.randomUUID()) },
  }).onError({ as: 'global' }, ({ request, code, error }) => refuse(request, code, error));
  // Around every route and the fallback, whichever of Bun's and Elysia's routers finds it.
  app.wrap((serve) => (request: Request) => {
    const admitted = withAbsoluteUrl(request, app.server?.url.origin ?? 'http://localhost');
    if (!(admitted instanceof HttpProblem)) return serve(admitted);
    requestsUnmatched.inc();
    return problemResponse(admitted, requestIdOf(request));
  });
  for (const mount of features) mount(app, http);
  for (const { method, path, allowed } of shadowedMethods(app.routes))
    app.route(method, path, ({ request }) => problemResponse(methodNotAllowed(allowed), requestIdOf(request)), {
      parse: 'none',
      detail: { hide: true },
    });
  const fallback = createFallback(app.routes);
  return app;
}

interface ListenOptions {
  hostname: string;
  port: number;
  reusePort: boolean;
  maxRequestBodySize?: number;
}

/** Opens the port. Throws a {@link UserError} that names the variable to change. */
export function listenAt(app: AnyElysia, options: ListenOptions, variable: 'PORT' | 'METRICS_PORT'): void {
  try {
    app.listen(options);
  } catch (cause) {
    const { hostname, port } = options;
    throw new UserError(`Cannot listen on ${hostname}:${port}: ${reasonOf(cause, variable)}`, { cause });
  }
}

function reasonOf(error: unknown, variable: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `another program uses this port. Stop it, or set another ${variable}.`;
  if (code === 'EACCES') return `the system reserves this port. Set another ${variable}.`;
  return `${error instanceof Error ? error.message : String(error)}. Set another HOST or ${variable}.`;
}
