/**
 * Problems of requests, as `application/problem+json` (RFC 9457): `type`, `title`, `status`, `detail` (always a
 * sentence that says what to do) and, for 422, `errors`.
 */
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import { ReadRefused, STORE_TITLES, type StoreName, StoreUnavailable } from '../errors.ts';
import { DATA_HEADERS } from './security-headers.ts';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** One problem with the input: where it is, what it is in words, and its kind. */
export interface InputError {
  /** Such as `['query', 'per_page']`, `['query', 'test_name', 3]` or `['body', 'reason']`. */
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** A refusal with its own status. Thrown anywhere below a route, it becomes the response. */
export class HttpProblem extends Error {
  override name = 'HttpProblem';
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly errors?: readonly InputError[],
  ) {
    super(detail);
  }
}

/** A request that cannot be understood as HTTP, whatever it asks for. */
export const badRequest = (detail: string): HttpProblem => new HttpProblem(400, 'Bad request', detail);

/** No sufficient access. A missing credential is 403 too: clients of the interface know no 401. */
export const forbidden = (detail: string): HttpProblem => new HttpProblem(403, 'Forbidden', detail);

/** For clients that sign in when they see it. */
export const unauthorized = (detail: string, challenge: string): HttpProblem =>
  new HttpProblem(401, 'Unauthorized', detail, { 'www-authenticate': challenge });

/** For clients that ask for another scope when they see it. */
export const insufficientScope = (detail: string, challenge: string): HttpProblem =>
  new HttpProblem(403, 'Forbidden', detail, { 'www-authenticate': challenge });

export const notFound = (detail: string): HttpProblem => new HttpProblem(404, 'Not found', detail);

/** For an address that is nothing, whatever the method. */
export const nothingHere = (): HttpProblem =>
  notFound('There is nothing at this address. The operations are listed at /docs.');

export const conflict = (detail: string): HttpProblem => new HttpProblem(409, 'Conflict', detail);

export const methodNotAllowed = (allowed: readonly string[]): HttpProblem => {
  const allow = allowed.join(', ');
  return new HttpProblem(405, 'Method not allowed', `This address supports ${allow} only.`, { allow });
};

export const payloadTooLarge = (detail: string): HttpProblem => new HttpProblem(413, 'Payload too large', detail);

export const addressTooLong = (): HttpProblem =>
  new HttpProblem(414, 'Address too long', REQUEST_LIMITS.ADDRESS_LENGTH_MAX.sentence());

/** An answer names so many problems, and says how many more there are. */
const ERRORS_MAX = 100;
/** Names in a request are quoted, as far as this. */
const QUOTED_LENGTH_MAX = 200;

/** Invalid input: lists the problems, not only the first, and quotes nothing long. */
export function unprocessable(errors: readonly InputError[]): HttpProblem {
  const listed = errors.slice(0, ERRORS_MAX).map(({ loc, msg, type }) => ({
    loc: loc.map((part) => (typeof part === 'string' ? shortened(part) : part)),
    msg: shortened(msg, 2 * QUOTED_LENGTH_MAX),
    type,
  }));
  const more = errors.length - listed.length;
  const sentences = listed.map(({ loc, msg }) => `${loc.join('.')}: ${msg}.`);
  if (more > 0) sentences.push(`And ${more} more.`);
  return new HttpProblem(422, 'Unprocessable entity', sentences.join(' '), {}, listed);
}

/** A text of a request as a problem quotes it. */
const shortened = (text: string, lengthMax = QUOTED_LENGTH_MAX): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax).toWellFormed()}…` : text;

/** A problem with the request body as a whole, such as truncated XML. */
export const unprocessableBody = (msg: string, type = 'invalid_body'): HttpProblem =>
  unprocessable([{ loc: ['body'], msg, type }]);

/** How long a client waits before it tries again: stores come back within seconds, or not soon. */
const RETRY_AFTER_S = 5;

/** A store that the operation needs is unavailable: the same request may succeed later. */
const unavailable = (store: StoreName): HttpProblem =>
  serviceUnavailable(`${STORE_TITLES[store]} is unavailable right now. Try again later.`);

/** So much is being done for others that this request was not begun. */
export const serviceBusy = (): HttpProblem =>
  new HttpProblem(503, 'Service unavailable', 'Too many such requests are being answered. Try again in a second.', {
    'retry-after': '1',
  });

/** Nothing is known to be wrong with an upload, but what read it was ended. */
export const uploadInterrupted = (): HttpProblem =>
  serviceUnavailable(
    'Reading the upload was interrupted: the machine of the service had too little memory or processor time. Send it again.',
  );

const serviceUnavailable = (detail: string): HttpProblem =>
  new HttpProblem(503, 'Service unavailable', detail, { 'retry-after': String(RETRY_AFTER_S) });

export const internalError = (requestId: string): HttpProblem =>
  new HttpProblem(
    500,
    'Internal server error',
    `The service failed to answer. Report the request id ${requestId} to its operators.`,
  );

/** The problem that an error represents; undefined for a fault in the service. */
export function problemOf(error: unknown): HttpProblem | undefined {
  if (error instanceof HttpProblem) return error;
  if (error instanceof StoreUnavailable) return unavailable(error.store);
  if (error instanceof ReadRefused) return serviceUnavailable(error.message);
  return undefined;
}

/** The response of a problem. */
export function problemResponse(problem: HttpProblem, requestId: string): Response {
  const { status, title, detail, errors } = problem;
  return new Response(JSON.stringify({ type: 'about:blank', title, status, detail, ...(errors ? { errors } : {}) }), {
    status,
    headers: { ...DATA_HEADERS, ...problem.headers, 'content-type': PROBLEM_MEDIA_TYPE, 'x-request-id': requestId },
  });
}
