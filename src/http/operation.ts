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
import type { Logger } from '../observability/log.ts';
import { authenticate, type Credential, type CredentialSource, type Permission, requireAccess } from './auth.ts';
import { readJsonBody } from './body.ts';
import { etagOf, isNotModified } from './conditional.ts';
import { type QueryOf, type QueryShape, type Read, readPath, readQuery } from './parameters.ts';
import { forbidden, internalError, problemOf, problemResponse, unprocessable } from './problems.ts';
import { requestIdOf } from './request-id.ts';
import { requestUrl } from './request-url.ts';
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

/** `public`: no credential at all; `credential`: any that is accepted; otherwise a permission on the path's repository. */
export type AccessRule = 'public' | 'credential' | Permission;

export interface ResponseDescription {
  description: string;
  /** Checked before the answer leaves, and shown in the document. Absent: no body, or not JSON. */
  schema?: z.ZodType;
  example?: unknown;
  headers?: Record<string, { description: string; schema: Record<string, unknown> }>;
  /** Media type other than JSON. */
  mediaType?: string;
}

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
}

/** What a handler answers; `body` is JSON. A handler may answer with a Response of its own instead. */
export interface Reply {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** A body of a 200 that was checked and encoded before, for reads that are answered from memory. */
export interface EncodedReply {
  encoded: EncodedBody;
  headers?: Record<string, string>;
}

export interface EncodedBody {
  bytes: Uint8Array;
  etag: string;
}

/** Checks a body against its schema and encodes it, once for all the times that it is sent. */
export function encodeBody(schema: z.ZodType, body: unknown): EncodedBody {
  const text = JSON.stringify(schema.parse(body));
  return { bytes: new TextEncoder().encode(text), etag: etagOf(text) };
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
  handle(
    input: OperationInput<P, QueryOf<Q>, B>,
  ): Promise<Reply | EncodedReply | Response> | Reply | EncodedReply | Response;
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
  const options = { parse: 'none' as const, detail: { hide: true } };
  app.route(method, routed, (context) => serve(context.request as Request), options);
  if (method === 'GET')
    app.route('HEAD', routed, (context) => serve(context.request as Request).then(withoutBody), options);
}

function handlerOf<P, Q extends QueryShape, B>(
  http: Http,
  method: Method,
  path: string,
  operation: Operation<P, Q, B>,
): (request: Request) => Promise<Response> {
  const names = path.split('/').map((part) => (part.startsWith(':') ? part.slice(1) : undefined));
  const flights = new SingleFlight<Prepared>();
  const isRead = method === 'GET' && operation.access !== 'public';

  const answer = async (request: Request, requestId: string): Promise<Response> => {
    const credential = operation.access === 'public' ? undefined : await authenticate(request, http.credentials);
    const url = requestUrl(request);
    const params = operation.params ? checked(readPath(operation.params, rawParams(names, url.pathname))) : undefined;
    if (credential) await checkAccess(operation.access, credential, params);
    const { query, body } = await readInput(operation, request, url);
    const run = async (): Promise<Prepared> => {
      const reply = await operation.handle({ params: params as P, query, body, credential, request, url, requestId });
      if (reply instanceof Response) return { response: reply };
      return 'encoded' in reply ? ofEncoded(reply) : prepare(operation, reply);
    };
    const prepared = await (operation.isCoalesced ? flights.run(url.href, run) : run());
    return respond(prepared, isRead ? request.headers.get('if-none-match') : null, isRead, requestId);
  };

  return async (request) => {
    const requestId = requestIdOf(request);
    const startedAt = performance.now();
    const response = await answer(request, requestId).catch((error) => problemFor(error, http.log, requestId));
    if (http.log.isLevelEnabled('debug'))
      http.log.debug(
        {
          request_id: requestId,
          operation: operation.operationId,
          method: request.method,
          status: response.status,
          duration_ms: performance.now() - startedAt,
        },
        'request',
      );
    return response;
  };
}

/** The response of anything thrown; a fault of ours is logged whole and shown without details. */
export function problemFor(error: unknown, log: Logger, requestId: string): Response {
  const problem = problemOf(error);
  if (problem) {
    if (problem.status >= 500) log.warn({ err: error, request_id: requestId }, 'a request could not be served');
    return problemResponse(problem, requestId);
  }
  log.error({ err: error, request_id: requestId }, 'a request failed');
  return problemResponse(internalError(requestId), requestId);
}

function checked<T>(read: Read<T>): T {
  if (read.value === undefined) throw unprocessable(read.errors);
  return read.value;
}

function rawParams(names: readonly (string | undefined)[], pathname: string): Record<string, string> {
  const parts = pathname.split('/');
  const raw: Record<string, string> = {};
  names.forEach((name, i) => {
    if (name !== undefined) raw[name] = parts[i] ?? '';
  });
  return raw;
}

async function checkAccess(access: AccessRule, credential: Credential, params: unknown): Promise<void> {
  if (access === 'public' || access === 'credential') return;
  const { owner, repository, repository_name } = params as Record<string, string | undefined>;
  const name = repository ?? repository_name;
  if (owner === undefined || name === undefined) throw forbidden('The address names no repository.');
  await requireAccess(credential, { owner, name }, access);
}

async function readInput<P, Q extends QueryShape, B>(
  operation: Operation<P, Q, B>,
  request: Request,
  url: URL,
): Promise<{ query: QueryOf<Q>; body: B }> {
  const query = readQuery(operation.query ?? ({} as Q), url.search.slice(1));
  const body: Read<B> = operation.body
    ? await readJsonBody(request, operation.body)
    : { value: undefined as B, errors: [] };
  const errors = [...query.errors, ...body.errors];
  if (errors.length > 0 || query.value === undefined) throw unprocessable(errors);
  return { query: query.value, body: body.value as B };
}

/** An answer made once and sent to every request that shares it. */
type Prepared =
  | { response: Response }
  | {
      status: number;
      body: string | Uint8Array | undefined;
      etag: string | undefined;
      headers: Record<string, string>;
    };

const ofEncoded = ({ encoded, headers = {} }: EncodedReply): Prepared => ({
  status: 200,
  body: encoded.bytes,
  etag: encoded.etag,
  headers,
});

function prepare<P, Q extends QueryShape, B>(operation: Operation<P, Q, B>, reply: Reply): Prepared {
  const status = reply.status ?? 200;
  const description = operation.responses[status];
  if (!description) throw new Error(`${operation.operationId} answered ${status}, which it does not describe`);
  const text = description.schema ? JSON.stringify(description.schema.parse(reply.body)) : undefined;
  const etag = status === 200 && text !== undefined ? etagOf(text) : undefined;
  return { status, body: text, etag, headers: reply.headers ?? {} };
}

function respond(prepared: Prepared, ifNoneMatch: string | null, isRead: boolean, requestId: string): Response {
  if ('response' in prepared) {
    prepared.response.headers.set('x-request-id', requestId);
    return prepared.response;
  }
  const { status, body, etag } = prepared;
  const headers: Record<string, string> = { ...prepared.headers, 'x-request-id': requestId };
  if (isRead && etag !== undefined) {
    headers.etag = etag;
    // Anyone may keep the answer, but must ask whether it still holds.
    headers['cache-control'] = 'private, no-cache';
    if (isNotModified(ifNoneMatch, etag)) return new Response(null, { status: 304, headers });
  }
  if (body !== undefined) headers['content-type'] = 'application/json';
  return new Response(body ?? null, { status, headers });
}

/** The answer to HEAD: as to GET, without its body. */
async function withoutBody(response: Response): Promise<Response> {
  const headers = new Headers(response.headers);
  if (response.body !== null) headers.set('content-length', String((await response.arrayBuffer()).byteLength));
  return new Response(null, { status: response.status, headers });
}
