/**
 * One operation of the interface: what it takes, who may, what it answers, and its documentation, in one description.
 *
 * Elysia routes; the checks are made here, in the order that design §4 settles: 403 no acceptable credential, 422 path,
 * 403/404 access, 422 query and body (all problems), then the handler's 404 and 409. (Elysia's own validation knows no step
 * between path and query, splits query values at commas, and answers a wrong *response* with 422; here that is a 500.)
 */
import type { AnyElysia } from 'elysia';
import type { z } from 'zod';
import type { Clock } from '../clock.ts';
import { StoreUnavailable } from '../errors.ts';
import { andThen, type MaybePromise, orElse } from '../maybe-promise.ts';
import type { Logger } from '../observability/log.ts';
import { storeUnavailable } from '../observability/metrics.ts';
import { observeRequest } from '../observability/requests.ts';
import { inSpan, isTracing } from '../observability/tracing.ts';
import { AddressReader } from './address.ts';
import { authenticate, type Credential, type CredentialSource, type Permission, requireAccess } from './auth.ts';
import { readJsonBody } from './body.ts';
import { requestIdOf } from './edge.ts';
import type { QueryOf, QueryShape, Read } from './parameters.ts';
import { forbidden, internalError, problemOf, problemResponse, unprocessable } from './problems.ts';
import {
  type EncodedReply,
  type Prepared,
  prepare,
  type Reply,
  type ResponseDescription,
  respond,
  withoutBody,
} from './reply.ts';
import { SingleFlight } from './single-flight.ts';

/** What every operation is given by the app. */
export interface Http {
  clock: Clock;
  log: Logger;
  /** Without a trailing slash; undefined: as the request says. */
  publicUrl: string | undefined;
  credentials: readonly CredentialSource[];
  /** Every operation that was mounted, for the OpenAPI document. */
  operations: MountedOperation[];
}

/** Mounts further operations. */
export type Feature = (app: AnyElysia, http: Http) => void;

/** `public`: no credential at all; `credential`: any that is accepted; otherwise a permission on the path's repository. */
export type AccessRule = 'public' | 'credential' | Permission;

/** A request body for the document that the handler reads by itself (uploads). */
export interface RawBodyDescription {
  description: string;
  content: Record<string, { schema?: Record<string, unknown>; example?: unknown }>;
}

export interface OperationInput<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  /** Undefined only where access is `public`. */
  credential: Credential | undefined;
  request: Request;
  url: URL;
  requestId: string;
  /** Of a coalesced read: aborted when nobody waits for it any more. */
  signal?: AbortSignal;
}

export interface Operation<P = unknown, Q extends QueryShape = QueryShape, B = unknown> {
  operationId: string;
  tag: string;
  summary: string;
  description: string;
  access: AccessRule;
  /** An object with the path's parameters; `owner` and `repository` or `repository_name` name the repository. */
  params?: z.ZodType<P>;
  query?: Q;
  /** Schema of a JSON body. */
  body?: z.ZodType<B>;
  /** An example of the JSON body. */
  bodyExample?: unknown;
  rawBody?: RawBodyDescription;
  responses: Readonly<Record<number, ResponseDescription>>;
  /** Reads only: identical concurrent requests share one run of the handler, which then must not look at `credential`. */
  isCoalesced?: boolean;
  /** Asked by machines every few seconds, so it is left out of traces. */
  isProbe?: boolean;
  handle(input: OperationInput<P, QueryOf<Q>, B>): MaybePromise<Reply | EncodedReply | Response>;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface MountedOperation {
  method: Method;
  /** With `:name` for parameters. */
  path: string;
  operation: Operation;
}

/**
 * Mounts an operation on an app. A GET answers HEAD as well.
 *
 * @example
 * mount(app, http, 'GET', '/v1/application', { operationId: 'getApplication', access: 'credential', …, handle });
 */
export function mount<P, const Q extends QueryShape, B>(
  app: AnyElysia,
  http: Http,
  method: Method,
  path: string,
  operation: Operation<P, Q, B>,
): void {
  http.operations.push({ method, path, operation: operation as unknown as Operation });
  const serve = handlerOf(http, method, path, operation);
  // Routers want one name per place; the document has the spec's names.
  const routed = path.replaceAll(':repository_name', ':repository');
  const detail = { hide: true };
  const handler = (context: { request?: unknown }) => serve(context.request as Request);
  if (method !== 'GET') return void app.route(method, routed, handler, { parse: 'none', detail });
  // Bound, because Elysia reads a handler's text, and waits for a promise wherever it sees a call returned.
  app.route('GET', routed, handler.bind(undefined), { detail });
  app.route('HEAD', routed, (context) => andThen(handler(context), withoutBody), { detail });
}

function handlerOf<P, Q extends QueryShape, B>(
  http: Http,
  method: Method,
  path: string,
  operation: Operation<P, Q, B>,
): (request: Request) => MaybePromise<Response> {
  const addresses = new AddressReader(path, operation.params, operation.query);
  const flights = new SingleFlight<Prepared>();
  const isRead = method === 'GET' && operation.access !== 'public';

  const answer = (request: Request, requestId: string): MaybePromise<Response> => {
    const credential = operation.access === 'public' ? undefined : authenticate(request, http.credentials);
    return andThen(credential, (accepted) => answerTo(accepted, request, requestId));
  };

  const answerTo = (
    credential: Credential | undefined,
    request: Request,
    requestId: string,
  ): MaybePromise<Response> => {
    const { url, params, query } = addresses.of(request);
    if (params.errors.length > 0) throw unprocessable(params.errors);
    const access = credential && checkAccess(operation.access, credential, params.value);
    const body = andThen(access, () => (operation.body ? readJsonBody(request, operation.body) : NO_BODY));
    return andThen(body, ({ value, errors }) => {
      if (query.errors.length > 0 || errors.length > 0) throw unprocessable([...query.errors, ...errors]);
      const about = { params: params.value as P, query: query.value as QueryOf<Q>, body: value as B };
      const input = { ...about, credential, request, url, requestId };
      const prepared = operation.isCoalesced
        ? flights.run(
            url.href,
            async (signal) => prepare(operation, await operation.handle({ ...input, signal })),
            request.signal,
          )
        : andThen(operation.handle(input), (reply) => prepare(operation, reply));
      return andThen(prepared, (one) => respond(one, request, isRead, requestId));
    });
  };

  const serve = (request: Request, requestId: string): MaybePromise<Response> =>
    observeRequest(http.log, { route: path, operation: operation.operationId, request, requestId }, () =>
      orElse(
        () => answer(request, requestId),
        (error) => (request.signal.aborted ? clientGone() : problemFor(error, http.log, requestId)),
      ),
    );

  return (request) => {
    const requestId = requestIdOf(request);
    if (operation.isProbe || !isTracing()) return serve(request, requestId);
    const attributes = { 'http.request.method': method, 'http.route': path, 'ci_insights.request_id': requestId };
    const parent = request.headers.get('traceparent');
    return inSpan(`${method} ${path}`, { kind: 'server', parent, attributes }, async (span) => {
      const response = await serve(request, requestId);
      span.set({ 'http.response.status_code': response.status });
      if (response.status >= 500) span.fail(`status ${response.status}`);
      return response;
    });
  };
}

/** The response of anything thrown; a fault of ours is logged whole and shown without details. */
export function problemFor(error: unknown, log: Logger, requestId: string): Response {
  const problem = problemOf(error);
  if (problem) {
    if (error instanceof StoreUnavailable) storeUnavailable.inc({ store: error.store, needed_by: 'request' });
    if (problem.status >= 500) log.warn({ err: error, request_id: requestId }, 'a request could not be served');
    return problemResponse(problem, requestId);
  }
  log.error({ err: error, request_id: requestId }, 'a request failed');
  return problemResponse(internalError(requestId), requestId);
}

/** Nobody reads it; the log and the metrics show the status that nginx has made usual for it. */
const clientGone = (): Response => new Response(null, { status: 499 });

/** Nothing to wait for where the credential decides by itself, as keys do. */
function checkAccess(access: AccessRule, credential: Credential, params: unknown): MaybePromise<void> {
  if (access === 'public' || access === 'credential') return undefined;
  const { owner, repository, repository_name } = params as Record<string, string | undefined>;
  const name = repository ?? repository_name;
  if (owner === undefined || name === undefined) throw forbidden('The address names no repository.');
  return requireAccess(credential, { owner, name }, access);
}

const NO_BODY: Read<undefined> = { value: undefined, errors: [] };
