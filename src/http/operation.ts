/**
 * One operation of the API: what it takes, who may call it, what it answers, and its documentation, in one description.
 *
 * Elysia only routes; the checks are made here, in this order: 403 no acceptable credential, 422 path, 403 or 404
 * access, 413 length of the body, 422 query and body (all problems at once), then the handler's 404 and 409. Nothing of a
 * body is read before the credential and the access are known. Elysia's own validation has no
 * step between path and query, splits query values at commas, and answers a wrong *response* with 422, which is a 500
 * here.
 */
import type { AnyElysia } from 'elysia';
import type { z } from 'zod';
import type { Clock } from '../clock.ts';
import { JSON_BODY_BYTES_MAX } from '../domain/limits.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { SECOND_MS } from '../domain/time.ts';
import { ReadRefused, StoreUnavailable } from '../errors.ts';
import type { Logger } from '../observability/log.ts';
import { rateLimited, readsRefused, storeUnavailable } from '../observability/metrics.ts';
import { noteActor, startRequest } from '../observability/requests.ts';
import { inSpan, isTracing } from '../observability/tracing.ts';
import { AddressReader } from './address.ts';
import {
  authenticate,
  type Credential,
  type CredentialSources,
  countedAs,
  NoCredential,
  type Permission,
  recallCredential,
  requireAccess,
  requireOperator,
  requireOwnPage,
} from './auth.ts';
import { readJsonBody } from './body.ts';
import { BodyRoom } from './body-room.ts';
import { Budget } from './budget.ts';
import { requestIdOf } from './edge.ts';
import { packedFor, recallPacked } from './packing.ts';
import type { QueryOf, QueryShape, Read } from './parameters.ts';
import {
  forbidden,
  internalError,
  problemOf,
  problemResponse,
  serviceBusy,
  unauthorized,
  unprocessable,
} from './problems.ts';
import { type RateLimit, rateLimitHeaders, tooManyRequests } from './rate-limit.ts';
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
import { turnsOf } from './turns.ts';

/** Dependencies that the app gives to every operation. */
export interface Http extends CredentialSources {
  clock: Clock;
  log: Logger;
  /** Without a trailing slash; undefined: taken from the request. */
  publicUrl: string | undefined;
  /** Undefined: credentials may send any number of requests. */
  rateLimit: RateLimit | undefined;
  /** Every mounted operation, for the OpenAPI document. */
  operations: MountedOperation[];
}

/** Mounts further operations. */
export type Feature = (app: AnyElysia, http: Http) => void;

/**
 * `public`: no credential; `credential`: any that is accepted; `operator`: an admin one of every owner; a permission: on
 * the repository of the path.
 */
type AccessRule = 'public' | 'credential' | 'operator' | Permission;

/** A request body that the handler reads (uploads), for the document. */
export interface RawBodyDescription {
  description: string;
  content: Record<string, { schema?: Record<string, unknown>; example?: unknown }>;
}

/** The parts of an operation that the OpenAPI document shows. */
export interface OperationDescription {
  operationId: string;
  tag: string;
  summary: string;
  description: string;
  access: AccessRule;
  /**
   * False: requests are neither counted nor refused by the rate limit, because CI jobs send them, with clients that give
   * up at 429. Public operations never are.
   */
  isRateLimited?: boolean;
  /** True for a public operation whose handler counts requests, once it knows whose they are. */
  countsRequests?: boolean;
  /** An object with the path's parameters; `owner` and `repository` or `repository_name` name the repository. */
  params?: z.ZodType;
  query?: QueryShape;
  /** Schema of a JSON body. */
  body?: z.ZodType;
  /** An example of the JSON body. */
  bodyExample?: unknown;
  /** The most bytes of a JSON body; defaults to JSON_BODY_BYTES_MAX. */
  bodyBytesMax?: number;
  /**
   * Public operations that ask a store or another service: how many are answered at a time. A body has arrived by then, so
   * slow ones keep no one out.
   */
  atOnceMax?: number;
  /**
   * Public operations: how many requests of everyone together a process answers in a second; defaults to
   * PUBLIC_PER_SECOND_MAX. Probes have no such limit: strangers could use it up, and what they cost is shared by all who
   * ask.
   */
  perSecondMax?: number;
  /**
   * The `WWW-Authenticate` of a 401 that takes the place of 403 where there is no acceptable credential, for protocols whose
   * clients sign in when they see it.
   */
  challenge?(request: Request): string;
  /** Asked by machines every few seconds, so it is left out of traces. */
  isProbe?: boolean;
  /** Public operations: refused unless a page of this service asks, before anything else is looked at. */
  isForOwnPages?: boolean;
  rawBody?: RawBodyDescription;
  responses: Readonly<Record<number, ResponseDescription>>;
}

interface OperationInput<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  /** Undefined only if access is `public`. */
  credential: Credential | undefined;
  request: Request;
  url: URL;
  requestId: string;
  /** For a coalesced read: aborted when the last client that waits for it has gone. */
  signal?: AbortSignal;
}

type AnyReply = Reply | EncodedReply | Response;

export interface Operation<P = unknown, Q extends QueryShape = QueryShape, B = unknown> extends OperationDescription {
  params?: z.ZodType<P>;
  query?: Q;
  body?: z.ZodType<B>;
  /**
   * Reads only: identical concurrent requests share one run of the handler, which then must not look at `credential`.
   */
  isCoalesced?: boolean;
  /** A GET that changes something: browsers follow links. */
  isWrite?: boolean;
  handle(input: OperationInput<P, QueryOf<Q>, B>): AnyReply | Promise<AnyReply>;
  /** Called before a request is refused whose sender has access, unless its operation has a rate limit. */
  onRefusal?(refused: Pick<OperationInput<P, Q, B>, 'params' | 'credential' | 'url'>, error: unknown): Promise<void>;
  /**
   * Reads only: the answer if it is in memory; undefined if something has to be loaded, then `handle` is called. It
   * must not wait. For the list that every CI job asks for: it would spend a quarter of its time waiting for promises
   * that are settled.
   */
  recall?(input: Pick<OperationInput<P, QueryOf<Q>, B>, 'params' | 'query'>): EncodedReply | undefined;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface MountedOperation {
  method: Method;
  /** With `:name` for parameters. */
  path: string;
  operation: OperationDescription;
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
  http.operations.push({ method, path, operation });
  const serve = serverOf(http, method, path, operation);
  // Routers want one name per place in a path; the document keeps the names of the API.
  const routed = path.replaceAll(':repository_name', ':repository');
  const detail = { hide: true };
  // The type of an arbitrary app says nothing about the context.
  const handler = (context: { request?: unknown }) => serve(context.request as Request);
  if (method !== 'GET') return void app.route(method, routed, handler, { parse: 'none', detail });
  // Bound, because Elysia reads a handler's source, and waits for a promise wherever it sees a call returned.
  app.route('GET', routed, handler.bind(undefined), { detail });
  app.route('HEAD', routed, async (context) => withoutBody(await handler(context)), { detail });
}

/** The function that serves the requests of an operation: measured, logged, traced. It neither throws nor rejects. */
function serverOf<P, Q extends QueryShape, B>(
  http: Http,
  method: Method,
  path: string,
  operation: Operation<P, Q, B>,
): (request: Request) => Response | Promise<Response> {
  const addresses = new AddressReader(path, operation.params, operation.query);
  const answer = answererOf(http, method, operation, addresses);
  // Answers from memory come before anything is counted.
  const recall = operation.recall && !limitOf(http, operation) ? recallerOf(http, operation, addresses) : undefined;

  const serve = (request: Request, requestId: string): Response | Promise<Response> => {
    const { operationId, isWrite } = operation;
    const finish = startRequest(http.log, { route: path, operation: operationId, request, requestId, isWrite });
    const recalled = recall?.(request, requestId);
    if (recalled) return finish(recalled);
    return answer(request, requestId)
      .catch(refusal(http, request, requestId))
      .then(finish);
  };

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

/** Checks a request and answers it. Rejects with what is wrong. */
function answererOf<P, Q extends QueryShape, B>(
  http: Http,
  method: Method,
  operation: Operation<P, Q, B>,
  addresses: AddressReader<P, Q>,
): (request: Request, requestId: string) => Promise<Response> {
  const flights = new SingleFlight<Prepared>();
  const isConditional = method === 'GET' && operation.access !== 'public';
  const limit = limitOf(http, operation);
  const { atOnceMax = Number.POSITIVE_INFINITY } = operation;
  const budget = budgetOf(operation);
  let atOnce = 0;
  const handled = async (input: Parameters<typeof operation.handle>[0]): Promise<AnyReply> => {
    if (atOnce >= atOnceMax) throw serviceBusy();
    atOnce++;
    try {
      return await operation.handle(input);
    } finally {
      atOnce--;
    }
  };

  const answer = async (
    request: Request,
    requestId: string,
    credential: Credential | undefined,
    refused: { params?: P } = {},
  ): Promise<Response> => {
    const { url, params, query } = addresses.of(request);
    if (params.errors) throw unprocessable(params.errors);
    if (credential) await requireRule(operation.access, credential, params.value);
    refused.params = params.value;
    const body = await readBody(request, operation, operation.access === 'public' ? STRANGERS_ROOM : CALLERS_ROOM);
    if (query.errors || body.errors) throw unprocessable([...(query.errors ?? []), ...(body.errors ?? [])]);
    const input = { params: params.value, query: query.value, body: body.value, credential, request, url, requestId };
    // An answer to a large body may take as long as reading it, and be as large.
    const turn = operation.body ? turnsOf(request) : () => undefined;
    const run = async (more: { signal?: AbortSignal } = {}): Promise<Prepared> => {
      await turn();
      const reply = await handled({ ...input, ...more });
      await turn();
      return prepare(operation, reply);
    };
    const prepared = operation.isCoalesced
      ? await flights.run(url.href, (signal) => run({ signal }), request.signal)
      : await run();
    const packed = isConditional ? await packedFor(request, prepared) : undefined;
    return respond(prepared, request, isConditional, requestId, packed);
  };

  const answerNoted: typeof answer = async (request, requestId, credential) => {
    const refused: { params?: P } = {};
    try {
      return await answer(request, requestId, credential, refused);
    } catch (error) {
      const { params } = refused;
      const { url } = addresses.of(request);
      if (params !== undefined) await operation.onRefusal?.({ params, credential, url }, error);
      throw error;
    }
  };

  return async (request, requestId) => {
    if (operation.access === 'public') {
      if (operation.isForOwnPages) requireOwnPage(request);
      if (budget?.take('', http.clock.now()) !== undefined) throw serviceBusy();
      return answer(request, requestId, undefined);
    }
    const credential = await authenticate(request, http).catch((error: unknown) => {
      if (!operation.challenge || !(error instanceof NoCredential)) throw error;
      throw unauthorized(error.detail, operation.challenge(request));
    });
    noteActor(request, actorInLog(credential));
    if (!limit)
      return operation.onRefusal ? answerNoted(request, requestId, credential) : answer(request, requestId, credential);
    const count = await limit.count(countedAs(credential, request));
    const isBeyond = count.requests > limit.requestsMax;
    if (isBeyond) rateLimited.inc({ operation: operation.operationId });
    const response = isBeyond
      ? problemResponse(tooManyRequests(limit, count), requestId)
      : await answer(request, requestId, credential).catch(refusal(http, request, requestId));
    for (const [name, value] of Object.entries(rateLimitHeaders(limit, count))) response.headers.set(name, value);
    return response;
  };
}

/** So many requests without a credential does a process answer in a second, for each operation. */
export const PUBLIC_PER_SECOND_MAX = 50;

const budgetOf = ({
  access,
  isProbe,
  perSecondMax = PUBLIC_PER_SECOND_MAX,
}: OperationDescription): Budget | undefined =>
  access === 'public' && !isProbe ? new Budget(perSecondMax, SECOND_MS) : undefined;

const actorInLog = ({ actor, application, session, subject }: Credential) => ({
  actor,
  key_id: application?.id,
  session_id: session?.id,
  subject: session?.subject ?? subject,
});

/** Throws unless the rule permits the credential. */
async function requireRule(rule: AccessRule, credential: Credential, params: unknown): Promise<void> {
  if (rule === 'public' || rule === 'credential') return;
  if (rule === 'operator') return requireOperator(credential);
  await requireAccess(credential, repositoryOf(params), rule);
}

/** The limit that holds for an operation. */
const limitOf = (http: Http, operation: OperationDescription): RateLimit | undefined =>
  isRateLimited(operation) ? http.rateLimit : undefined;

/** Whether there may be a limit. */
export const isRateLimited = ({ access, isRateLimited: isLimited = true }: OperationDescription): boolean =>
  isLimited && access !== 'public';

/**
 * Answers a request without waiting, if everything that decides the answer is in memory and nothing is wrong. Undefined
 * leaves the request to {@link answererOf}, which also says what is wrong.
 */
function recallerOf<P, Q extends QueryShape, B>(
  http: Http,
  operation: Operation<P, Q, B>,
  addresses: AddressReader<P, Q>,
): (request: Request, requestId: string) => Response | undefined {
  const { access } = operation;
  return (request, requestId) => {
    if (access === 'public' || access === 'credential' || access === 'operator') return undefined;
    try {
      const credential = recallCredential(request, http);
      if (!credential) return undefined;
      const { params, query } = addresses.of(request);
      if (params.errors || query.errors) return undefined;
      if (credential.decide(repositoryOf(params.value), access) !== 'granted') return undefined;
      const reply = operation.recall?.({ params: params.value, query: query.value });
      if (!reply) return undefined;
      const prepared = prepare(operation, reply);
      const packed = recallPacked(request, prepared);
      // It is packed once, by the request that finds it as it is.
      return packed === 'unknown' ? undefined : respond(prepared, request, true, requestId, packed);
    } catch (error) {
      return problemFor(error, http.log, requestId);
    }
  };
}

/** Bodies in memory of those who have shown a credential, and of those who need none, who cannot take the others' room. */
const CALLERS_ROOM = new BodyRoom(64 * 1024 * 1024);
export const STRANGERS_ROOM = new BodyRoom(8 * 1024 * 1024);

/** The most bytes that an operation reads of a JSON body. */
export const bodyBytesMaxOf = ({ bodyBytesMax = JSON_BODY_BYTES_MAX }: OperationDescription): number => bodyBytesMax;

const readBody = async <B>(
  request: Request,
  operation: OperationDescription & { body?: z.ZodType<B> },
  room: BodyRoom,
): Promise<Read<B>> =>
  operation.body
    ? readJsonBody(request, { schema: operation.body, bytesMax: bodyBytesMaxOf(operation), room })
    : { value: undefined as B };

/** The response to anything thrown; a fault of ours is logged in full and shown without details. */
export function problemFor(error: unknown, log: Logger, requestId: string): Response {
  const problem = problemOf(error);
  if (problem) {
    if (error instanceof StoreUnavailable) storeUnavailable.inc({ store: error.store, needed_by: 'request' });
    if (error instanceof ReadRefused) readsRefused.inc({ reason: error.reason });
    if (problem.status >= 500) log.warn({ err: error, request_id: requestId }, 'a request could not be served');
    return problemResponse(problem, requestId);
  }
  log.error({ err: error, request_id: requestId }, 'a request failed');
  return problemResponse(internalError(requestId), requestId);
}

/** The answer to a request whose handler threw. */
const refusal =
  ({ log }: Http, request: Request, requestId: string) =>
  (error: unknown): Response =>
    request.signal.aborted ? clientGone() : problemFor(error, log, requestId);

/** No client reads it; logs and metrics show the status that nginx made common for it. */
const clientGone = (): Response => new Response(null, { status: 499 });

function repositoryOf(params: unknown): RepositoryName {
  if (typeof params === 'object' && params !== null && 'owner' in params && typeof params.owner === 'string') {
    const { owner } = params;
    if ('repository' in params && typeof params.repository === 'string') return { owner, name: params.repository };
    if ('repository_name' in params && typeof params.repository_name === 'string')
      return { owner, name: params.repository_name };
  }
  throw forbidden('The address names no repository.');
}
